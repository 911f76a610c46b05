"""Table of the distinct tokens of a message: fixed arrays, searched by hashing."""

from __future__ import annotations

from os import urandom

ENTRIES = 4096  # of one table; a power of two, as what follows
ENTRY_BITS, LAST_ENTRY = 12, ENTRIES - 1
_ENTRIES, _ENTRY_BITS, _LAST_ENTRY = ENTRIES, ENTRY_BITS, LAST_ENTRY  # with types of C, in this module
SLOTS, LAST_SLOT = 2 * ENTRIES, 2 * ENTRIES - 1
SLOT_SHIFT = 64 - 13
# Nobody can choose tokens that share a slot: where each belongs differs from process to process.
SECRET_FACTOR = int.from_bytes(urandom(8), "little") | 1
MASK = (1 << 64) - 1

COMPILED = not __file__.endswith(".py")  # then the arrays of a table are there, full of zeros


def _zeros(size: int) -> list[int]:
    return [0] * size  # which could be no C array if it stood below


class TokenTable:
    """Up to ENTRIES distinct fingerprints in the order they came, found by hashing."""

    def __init__(self) -> None:
        if not COMPILED:
            self.fingerprints = _zeros(ENTRIES)
            self.times = _zeros(ENTRIES)  # how often it occurs
            self.parts = _zeros(ENTRIES)  # HEAD or BODY, where it came first
            self.starts = _zeros(ENTRIES)  # where its text starts and ends; of a pair, its tokens
            self.ends = _zeros(ENTRIES)
            self.homes = _zeros(ENTRIES)  # its slot
            self.slots = _zeros(SLOTS)  # numbers of entries, from 1 on; 0: free
        self.used = 0

    def slot_of(self, fingerprint: int) -> int:
        """Find the slot of a fingerprint, or the free one where it belongs."""
        at = (fingerprint * SECRET_FACTOR & MASK) >> SLOT_SHIFT
        while self.slots[at] and self.fingerprints[self.slots[at] - 1 & _LAST_ENTRY] != fingerprint:
            at = at + 1 & LAST_SLOT
        return at

    def put(self, slot: int, fingerprint: int, part: int, start: int, end: int) -> int:
        """Make an entry in a free slot; return its number."""
        if self.used >= _ENTRIES:
            raise IndexError("the table of tokens is full")
        entry = self.used
        self.fingerprints[entry] = fingerprint
        self.times[entry] = 0
        self.parts[entry] = part
        self.starts[entry] = start
        self.ends[entry] = end
        self.homes[entry] = slot
        self.used += 1
        self.slots[slot & LAST_SLOT] = self.used
        return entry

    def clear(self) -> None:
        for entry in range(self.used):
            self.slots[self.homes[entry & _LAST_ENTRY] & LAST_SLOT] = 0
        self.used = 0


def number_in(tables: list[TokenTable], fingerprint: int) -> int:
    """Find a fingerprint in full tables: the number of its entry, counted through them all, or -1."""
    for which in range(len(tables)):
        table = tables[which]
        slot = table.slot_of(fingerprint)
        if table.slots[slot]:
            return (which << _ENTRY_BITS) + table.slots[slot] - 1
    return -1
