"""The journal beside a model: what was learned since the file was written, one record a message.

A record is the msgpack array [crc32, bin], the bin a msgpack map. The first names the generation of the
model it belongs to: a journal that was folded in and not yet removed is thereby known as stale. A torn
last record is dropped; everything acknowledged before it stays.
"""

from __future__ import annotations

import os
from zlib import crc32

from spamnb.counts import packing
from spamnb.errors import InputOutputError, ModelError
from spamnb.files import sync_folder, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# Beyond this the journal is folded into the model. A reader goes through all of it: 1.6 ms at this size.
LIMIT = 1 << 20


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
        self.hashes: Sequence[int] = fields["hashes"].cast("Q")
        self.occurrences: Sequence[int] = fields["occurrences"].cast("H")
        self.text: memoryview = fields["text"]
        self.pairs: Sequence[int] = fields["pairs"].cast("Q")
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
            row = rows.setdefault(number, [0] * (2 * many))
            for place, sign in self.steps:
                row[place] += sign
                row[many + place] += sign * times[number]

    def add_pairs_to(self, rows: dict[int, list[int]], numbers: Iterable[int], many: int) -> None:
        for number in numbers:
            row = rows.setdefault(number, [0] * many)
            for place, sign in self.steps:
                row[place] += sign


class Journal:
    __slots__ = ("entries", "labels", "learned", "size")

    def __init__(self, labels: Sequence[str], entries: list[Entry], size: int) -> None:
        self.labels = labels
        self.entries = entries
        self.size = size  # bytes that are sound
        self.learned = {entry.digest: entry.after for entry in entries}

    @classmethod
    def read(cls, path: str, generation: int, labels: Sequence[str]) -> Journal:
        """The sound records of the journal of a generation; an absent or stale journal is empty."""
        try:
            with open(path, "rb") as file:
                data = memoryview(file.read())
        except FileNotFoundError:
            return cls(labels, [], 0)
        except OSError as error:
            raise InputOutputError(f"{path}: {error.strerror}") from error
        records, size = _sound(path, data)
        if not records or records[0].get("generation") != generation:
            return cls(labels, [], 0)
        try:
            return cls(labels, [Entry(fields, labels) for fields in records[1:]], size)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(path, "not a journal of this model; move it away") from error

    def rows(self, numbers: Iterable[int]) -> dict[int, list[int]]:
        """What the journal adds to the counts of some tokens."""
        rows: dict[int, list[int]] = {}
        if self.entries:
            wanted = set(numbers)
            for entry in self.entries:
                entry.add_to(rows, wanted.intersection(entry.hashes), len(self.labels))
        return rows

    def pair_rows(self, numbers: Iterable[int]) -> dict[int, list[int]]:
        """The same of some pairs."""
        rows: dict[int, list[int]] = {}
        if self.entries:
            wanted = set(numbers)
            for entry in self.entries:
                entry.add_pairs_to(rows, wanted.intersection(entry.pairs), len(self.labels))
        return rows

    def everything(self) -> dict[int, list[int]]:
        rows: dict[int, list[int]] = {}
        for entry in self.entries:
            entry.add_to(rows, entry.hashes, len(self.labels))
        return rows

    def append(self, path: str, generation: int, fields: Mapping[str, Any]) -> int:
        """Write one more record, synced; the caller holds the lock. Returns the journal's new size."""
        record = sealed(fields)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if not self.size:
                record = sealed({"generation": generation}) + record
            os.ftruncate(handle, self.size)  # a torn record, or a stale journal
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


def _sound(path: str, data: memoryview) -> tuple[list[dict[str, Any]], int]:
    """The records up to a torn one, and where they end. Only the last can be torn; else it is damage."""
    records = []
    at = 0
    while at < len(data):
        fields, behind = _record(data, at)
        if fields is None:
            if behind < len(data) and _record(data, behind)[0] is not None:
                raise ModelError(path, f"the journal is damaged at byte {at}; restore it, or move it away")
            break
        records.append(fields)
        at = behind
    return records, at


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
