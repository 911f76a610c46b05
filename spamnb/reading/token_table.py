"""Table of the distinct tokens of a message: fixed arrays, searched by hashing."""

from __future__ import annotations

from os import urandom

ENTRIES = 4096  # of one table; a power of two, as what follows
ENTRY_BITS, LAST_ENTRY = 12, ENTRIES - 1
_ENTRIES, _ENTRY_BITS = ENTRIES, ENTRY_BITS  # with types of C, in this module
SLOTS, LAST_SLOT = 2 * ENTRIES, 2 * ENTRIES - 1
SLOT_SHIFT = 64 - 13
MOST_BEFORE = 1 << 30
# Nobody can choose tokens that share a slot: where each belongs differs from process to process.
SECRET_FACTOR = int.from_bytes(urandom(8), "little") | 1


class TokenTable:
    """Up to ENTRIES distinct fingerprints in the order they came, found by hashing."""

    # Arrays of C, full of zeros.
    fingerprints: list[int]
    times: list[int]  # how often it occurs
    parts: list[int]  # HEAD or BODY, where it came first
    starts: list[int]  # where its text starts and ends; of a pair, its tokens
    ends: list[int]
    slots: list[int]  # numbers of entries, behind `before`; less than that: free

    def __init__(self) -> None:
        self.used = 0
        self.before = 1  # and all entries of messages before, so that their slots are free

    def entry_of(self, fingerprint: int, part: int, start: int, end: int) -> int:
        """Find the entry of a fingerprint, or make one; -1 if there is no room for it."""
        at = fingerprint * SECRET_FACTOR >> SLOT_SHIFT
        entry = self.slots[at] - self.before
        while entry >= 0:
            if self.fingerprints[entry] == fingerprint:
                return entry
            at = at + 1 & LAST_SLOT
            entry = self.slots[at] - self.before
        entry = self.used
        if entry >= _ENTRIES:
            return -1
        self.fingerprints[entry] = fingerprint
        self.times[entry] = 0
        self.parts[entry] = part
        self.starts[entry] = start
        self.ends[entry] = end
        self.used = entry + 1
        self.slots[at] = self.before + entry
        return entry

    def clear(self) -> None:
        self.before += self.used
        self.used = 0
        if self.before >= MOST_BEFORE:
            for at in range(SLOTS):
                self.slots[at] = 0
            self.before = 1


def number_in(tables: list[TokenTable], fingerprint: int) -> int:
    """Find a fingerprint in full tables: the number of its entry, counted through them all, or -1."""
    for which in range(len(tables)):
        table = tables[which]
        entry = table.entry_of(fingerprint, 0, 0, 0)
        if entry >= 0:
            return (which << _ENTRY_BITS) + entry
    return -1
