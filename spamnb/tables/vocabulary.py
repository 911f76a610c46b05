"""The tokens of a model, block by block: of however many there are, a few are in memory at a time.

A token is known by its place: first those of the file, in its order, then those that only the journal has.
"""

from __future__ import annotations

from binascii import crc32
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.store.records import KEY, CountRecords
from spamnb.tables.layout import record_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spamnb.arrays import Array
    from spamnb.store.stored_model import StoredModel

NUMBERED = "#"
BLOCK = 1 << 17  # tokens read at once: the arrays made of them take some 20 MB


class Block(NamedTuple):
    start: int  # the place of its first token
    keys: Array  # fingerprints
    message_counts: Array  # [label, token] messages, the journal's included
    occurrence_counts: Array  # [label, token]
    days: Array  # last seen, counted from 1970


class Later(NamedTuple):
    """What the journal says of a token: what to add to its counts, its text and days."""

    counts: list[int]
    text: bytes
    first: int
    last: int


class Vocabulary:
    def __init__(self, stored: StoredModel) -> None:
        self.stored = stored
        self.size = len(stored.column("tokens"))  # of the file
        self.later = of_journal(stored)
        known = CountRecords(stored.column("tokens"), stored.column("starts")).rows(list(self.later))
        self.new = {number: one for number, one in self.later.items() if number not in known}
        self._newest = list(self.new.values())
        self._new_keys = list(self.new)
        changed = sorted(known)
        self._changed = np.array(changed, np.uint64)
        self._changes = [self.later[number] for number in changed]

    def check(self, *without: str) -> None:
        """The checksums of all columns but those that are read anyway."""
        for name, *_ in self.stored.head["columns"]:
            if name not in without:
                for _ in self._read(name):
                    pass

    def blocks(self) -> Iterator[Block]:
        many = len(self.stored.labels)
        start = 0
        for records, days in zip(self._read("tokens"), self._read("days"), strict=True):
            counts, seen = records["counts"].T.astype(np.int32), days.copy()
            self._change(records["key"], counts, seen)
            yield Block(start, records["key"], counts[:many], counts[many:], seen)
            start += len(records)
        if self.new:
            keys = np.array(list(self.new), np.uint64)
            counts = np.maximum(np.array([one.counts for one in self.new.values()], np.int32).T, 0)
            seen = np.array([one.last for one in self.new.values()], np.uint16)
            yield Block(start, keys, counts[:many], counts[many:], seen)

    def _change(self, keys: Array, counts: Array, days: Array) -> None:
        """Add what the journal has of a block's tokens."""
        first = np.searchsorted(self._changed, keys[0], "left")
        last = np.searchsorted(self._changed, keys[-1], "right")
        for number, change in zip(self._changed[first:last], self._changes[first:last], strict=True):
            at = np.searchsorted(keys, number)
            counts[:, at] = np.maximum(counts[:, at] + change.counts, 0)  # twice forgotten: no harm
            days[at] = max(days[at], change.last)

    def texts(self) -> Iterator[tuple[int, Array, Array]]:
        """Of each block the place of its first token, where each token ends, and their text."""
        start = before = 0
        text = self.stored.column("text")
        for ends in self._read("ends"):
            size = int(ends[-1]) - before
            data = text.file.read(text.at + before, size)
            yield start, ends.astype(np.int64) - before, np.frombuffer(data, np.uint8)
            start, before = start + len(ends), before + size
        if self.new:
            words = [one.text for one in self._newest]
            yield start, np.cumsum(list(map(len, words))), np.frombuffer(b"".join(words), np.uint8)

    def tokens(self, places: Iterable[int]) -> list[str]:
        """The text of some tokens; in a model that keeps no words, the number that it has instead."""
        if self.stored.keyed:
            return [numbered(self._key(place)) for place in places]
        return [self._token(place).decode("utf-8", "replace") for place in places]

    def place(self, number: int) -> int:
        """Where a token is, by its fingerprint; it must be there."""
        if number in self.new:
            return self.size + self._new_keys.index(number)
        return bisect_left(range(self.size), number, key=self._key)

    def _token(self, place: int) -> bytes:
        if place >= self.size:
            return self._newest[place - self.size].text
        ends, text = self.stored.column("ends"), self.stored.column("text")
        start = ends[place - 1] if place else 0
        return text.file.read(text.at + start, ends[place] - start)

    def days(self, place: int) -> tuple[int, int]:
        """When a token was first and last seen."""
        if place >= self.size:
            return self._newest[place - self.size].first, self._newest[place - self.size].last
        later = self.later.get(self._key(place))
        first, day = self.stored.column("first_days")[place], self.stored.column("days")[place]
        return first, max(day, later.last) if later else day

    def _key(self, place: int) -> int:
        if place >= self.size:
            return self._new_keys[place - self.size]
        column = self.stored.column("tokens")
        return int.from_bytes(column.file.read(column.at + place * column.width, KEY), "little")

    def _read(self, name: str) -> Iterator[Array]:
        return column_blocks(self.stored, name)


def column_blocks(stored: StoredModel, name: str) -> Iterator[Array]:
    """A column in blocks; at its end, its checksum is verified."""
    column = stored.column(name)
    expected = next(checksum for own, _, _, checksum in stored.head["columns"] if own == name)
    found = 0
    for start in range(0, len(column), BLOCK):
        many = min(BLOCK, len(column) - start)
        data = column.file.read(column.at + start * column.width, many * column.width)
        found = crc32(data, found)
        yield np.frombuffer(data, record_type(column.kind))
    if found != expected:
        raise ModelError(stored.path, f"its column {name} is damaged; {WHAT_TO_DO}")


def numbered(number: int) -> str:
    """What is shown of a token in a model that keeps no words."""
    return f"{NUMBERED}{number:016x}"


def number_of(name: str) -> int | None:
    """The fingerprint that is shown so."""
    digits = name.removeprefix(NUMBERED)
    well_formed = len(name) == 17 and len(digits) == 16 and set(digits) <= set("0123456789abcdef")
    return int(digits, 16) if well_formed else None


def of_journal(stored: StoredModel) -> dict[int, Later]:
    """By fingerprint."""
    counts = stored.journal.all_rows()
    later: dict[int, Later] = {}
    for entry in stored.journal.records:
        words = bytes(entry.text).split(b"\n")
        for number, word in zip(entry.fingerprints, words, strict=False):
            first = min(entry.day, later[number].first) if number in later else entry.day
            last = max(entry.day, later[number].last) if number in later else entry.day
            later[number] = Later(counts[number], word, first, last)
    return later
