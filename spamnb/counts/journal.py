"""The journal beside a model: what was learned since the file was written, one record a message.

A record is the msgpack array [crc32, bin], the bin a msgpack map. Some name a generation: what follows, up to
the next of these, belongs to the model of that generation and to no other. So a journal that was folded in
and not yet removed is known as stale, and what is learned while a new model is made can be carried over to
it before it takes the old one's place. A torn last record is dropped; all acknowledged before it stays.
"""

from __future__ import annotations

import os
from binascii import crc32  # zlib's, without loading zlib

from spamnb.counts import packing
from spamnb.errors import InputOutputError, ModelError
from spamnb.files import sync_folder, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Answer = tuple[frozenset[int], dict[int, list[int]]]  # to what was asked last

# Beyond this the journal is folded into the model. A reader goes through all of it: some 25 messages.
LIMIT = 1 << 18


class Entry:
    """One message that was learned, forgotten, or moved from one label to another."""

    __slots__ = (
        "after",
        "before",
        "day",
        "digest",
        "hashes",
        "length",
        "new_pairs",
        "new_tokens",
        "numbers",
        "occurrences",
        "pairs",
        "score",
        "steps",
        "text",
    )

    def __init__(self, fields: Mapping[str, Any], labels: Sequence[str]) -> None:
        self.digest: int = fields["digest"]
        self.before: str | None = fields["before"]
        self.after: str | None = fields["after"]
        self.day: int = fields["day"]
        self.hashes: Sequence[int] = memoryview(fields["hashes"]).cast("Q")
        self.occurrences: Sequence[int] = memoryview(fields["occurrences"]).cast("H")
        self.text = memoryview(fields["text"])
        self.pairs: Sequence[int] = memoryview(fields["pairs"]).cast("Q")
        self.numbers: dict[str, int | float] = fields["numbers"]
        self.new_tokens: int = fields["new_tokens"]
        self.new_pairs: int = fields["new_pairs"]
        self.score: float = fields["score"]
        self.length = sum(self.occurrences)
        self.steps = [(labels.index(self.after), 1)] if self.after is not None else []
        if self.before is not None:
            self.steps.append((labels.index(self.before), -1))

    def add_to(self, rows: dict[int, list[int]], numbers: Iterable[int], many: int) -> None:
        """Add this message's counts of some tokens to their rows."""
        times = dict(zip(self.hashes, self.occurrences, strict=True))
        for number in numbers:
            row = rows.get(number)
            if row is None:
                row = rows[number] = [0] * (2 * many)
            for place, sign in self.steps:
                row[place] += sign
                row[many + place] += sign * times[number]

    def add_pairs_to(self, rows: dict[int, list[int]], numbers: Iterable[int], many: int) -> None:
        for number in numbers:
            row = rows.get(number)
            if row is None:
                row = rows[number] = [0] * many
            for place, sign in self.steps:
                row[place] += sign


class Journal:
    """The records of one generation."""

    __slots__ = ("_pair_rows", "_rows", "entries", "generation", "labels", "learned", "size")

    def __init__(self, generation: int, labels: Sequence[str], entries: list[Entry], size: int) -> None:
        self.generation = generation
        self.labels = labels
        self.entries = entries
        self.size = size  # up to the last record of this generation: what follows is torn, or of no use
        self.learned = {entry.digest: entry.after for entry in entries}
        self._rows: Answer = frozenset(), {}
        self._pair_rows: Answer = frozenset(), {}

    @classmethod
    def read(cls, path: str, generation: int, labels: Sequence[str]) -> Journal:
        """The sound records of a generation; an absent or stale journal is empty."""
        try:
            with open(path, "rb") as file:
                data = memoryview(file.read())
        except FileNotFoundError:
            return cls(generation, labels, [], 0)
        except OSError as error:
            raise InputOutputError(f"{path}: {error.strerror}") from error
        entries, size, ours = [], 0, False
        try:
            for fields, end in _sound(path, data):
                if "generation" in fields:
                    ours = fields["generation"] == generation
                elif ours:
                    entries.append(Entry(fields, labels))
                size = end if ours else size
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(path, "not a journal of this model; move it away") from error
        return cls(generation, labels, entries, size)

    def add(self, fields: Mapping[str, Any]) -> None:
        """One more entry, here only."""
        entry = Entry(fields, self.labels)
        self.entries.append(entry)
        self.learned[entry.digest] = entry.after
        self._rows = self._pair_rows = frozenset(), {}

    def rows(self, numbers: Iterable[int]) -> Mapping[int, list[int]]:
        """What the journal adds to the counts of some tokens.

        Who learns a message asks twice, to judge it and for what is new: the last answer is kept.
        """
        if not self.entries:
            return {}
        asked, rows = self._rows
        wanted = frozenset(numbers)
        if asked != wanted:
            rows = {}
            for entry in self.entries:
                entry.add_to(rows, wanted.intersection(entry.hashes), len(self.labels))
            self._rows = wanted, rows
        return rows

    def pair_rows(self, numbers: Iterable[int]) -> Mapping[int, list[int]]:
        """The same of some pairs."""
        if not self.entries:
            return {}
        asked, rows = self._pair_rows
        wanted = frozenset(numbers)
        if asked != wanted:
            rows = {}
            for entry in self.entries:
                entry.add_pairs_to(rows, wanted.intersection(entry.pairs), len(self.labels))
            self._pair_rows = wanted, rows
        return rows

    def everything(self) -> dict[int, list[int]]:
        rows: dict[int, list[int]] = {}
        for entry in self.entries:
            entry.add_to(rows, entry.hashes, len(self.labels))
        return rows

    def append(self, path: str, generation: int, changes: Iterable[Mapping[str, Any]]) -> int:
        """Write more records, synced; the caller holds the lock. Returns the journal's new size."""
        record = b"".join([sealed(fields) for fields in changes])
        if not self.size or generation != self.generation:
            record = sealed({"generation": generation}) + record
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(handle, self.size)  # off with a torn record, and with those of no model there is
            os.lseek(handle, self.size, os.SEEK_SET)
            write_all(handle, record)
            os.fsync(handle)
        finally:
            os.close(handle)
        if not self.size:
            sync_folder(path)
        return self.size + len(record)


def sealed(fields: Mapping[str, Any]) -> bytes:
    payload = packing.pack(fields)
    return packing.pack([crc32(payload), payload])


def _sound(path: str, data: memoryview) -> list[tuple[dict[str, Any], int]]:
    """The records up to a torn one, and where each ends. Only the last can be torn; else it is damage."""
    records = []
    at = 0
    while at < len(data):
        fields, behind = _record(data, at)
        if fields is None:
            if behind < len(data) and _record(data, behind)[0] is not None:
                raise ModelError(path, f"the journal is damaged at byte {at}; restore it, or move it away")
            break
        records.append((fields, behind))
        at = behind
    return records


def _record(data: memoryview, at: int) -> tuple[dict[str, Any] | None, int]:
    """The record at an offset, None if it is not whole; and the offset behind it."""
    behind = len(data)
    try:
        (checksum, payload), behind = packing.unpack(data, at)
        if crc32(payload) == checksum:
            return packing.unpack(payload)[0], behind
    except (packing.Damaged, ValueError, TypeError):
        pass
    return None, behind
