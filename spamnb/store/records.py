"""Columns of a model file, read where they lie: an entry, a record by its fingerprint, or the whole."""

from __future__ import annotations

import os
from binascii import crc32  # zlib's, without loading zlib

from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from spamnb.store.counts import Row

WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "f": 4}
EINVAL = 22  # a read of fewer bytes than none
KEY = 8  # bytes of a fingerprint
MOST_KNOWN = 100_000  # records that are remembered
ENTRY = 8  # bytes of a directory's entry: where a stretch starts, and its checksum
BLOCK = 1 << 16  # records read at once
LOW = 0xFFFFFFFF  # the bits of half an entry
LONG = 64  # records of a stretch that are searched one after the other; the usual one has 8 to 16


class File:
    """An open model file. What was opened stays whole when another takes its place.

    Read, not mapped: of a map each look-up makes 64 KB resident, 80 MB for one message; it needs a file
    system that can map; and a file cut short kills who looks. A read costs 0.6 µs.
    """

    __slots__ = ("handle", "inode", "path", "size")

    def __init__(self, path: str) -> None:
        self.path = path
        self.handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        status = os.fstat(self.handle)
        self.inode = status.st_ino
        self.size = status.st_size

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            os.close(self.handle)

    def read(self, at: int, size: int) -> bytes:
        try:
            data = os.pread(self.handle, size, at)
            while len(data) < size:  # at most 2 GB come at once
                more = os.pread(self.handle, size - len(data), at + len(data))
                if not more:
                    raise ModelError(self.path, f"cut short; {WHAT_TO_DO}")
                data += more
        except OSError as error:
            raise InputOutputError(f"{self.path}: {error.strerror}") from error
        return data


class Column:
    """Numbers, or records of them: `kind` names their types, a letter each."""

    __slots__ = ("at", "checksum", "file", "kind", "name", "size", "width")

    def __init__(self, file: File, name: str, kind: str, at: int, size: int, checksum: int) -> None:
        self.file = file
        self.name = name
        self.kind = kind
        self.at = at
        self.size = size
        self.checksum = checksum
        self.width = sum([WIDTHS[letter] for letter in kind])
        if not self.width or size % self.width:
            raise ValueError("not a whole number of entries")

    def __len__(self) -> int:
        return self.size // self.width

    def __getitem__(self, place: int) -> int:
        if place >= len(self):
            raise IndexError(place)
        return int.from_bytes(self.file.read(self.at + place * self.width, self.width), "little")

    def whole(self) -> bytes:
        """All of it, verified."""
        data = self.file.read(self.at, self.size)
        if crc32(data) != self.checksum:
            raise ModelError(self.file.path, f"its column {self.name} is damaged; {WHAT_TO_DO}")
        return data

    def numbers(self) -> Any:
        return memoryview(self.whole()).cast(self.kind)  # type: ignore[call-overload]


def checksum_of(stretch: bytes | memoryview, place: int) -> int:
    """Of the records that an entry of a directory leads to. No two empty stretches share it, and none has
    that of a block of zeros."""
    return crc32(stretch) ^ place + 1


class Records:
    """Counts in order of their fingerprints, and a directory: where each stretch of fingerprints starts, and
    its checksum."""

    __slots__ = ("column", "directory", "known", "shift", "sound")

    def __init__(self, column: Column, directory: Column) -> None:
        self.column = column
        self.directory = directory
        self.shift = 64 - (len(directory) - 1).bit_length() + 1
        if len(directory) - 1 != 1 << (64 - self.shift) or directory.width != ENTRY:
            raise ValueError("not a directory")
        self.known: dict[int, Row] = {}
        self.sound: set[tuple[int, int]] = set()  # long stretches that were verified, and by which entry

    def rows(self, numbers: Iterable[int]) -> dict[int, Row]:
        """The counts of those fingerprints that are there."""
        known = self.known
        if len(known) > MOST_KNOWN:
            known = self.known = {}  # not emptied: another thread may be reading it
        self._look_up([number for number in numbers if number not in known], known)
        return {number: row for number in numbers if (row := known[number])}

    def _look_up(self, numbers: list[int], known: dict[int, Row]) -> None:
        """Two reads for each: where its stretch lies, and the stretch, verified. One loop: calls would
        double it."""
        shift, width, handle = self.shift, self.column.width, self.column.file.handle
        directory, start = self.directory.at, self.column.at
        kind: Any = self.column.kind[-1:]
        pread, number_of = os.pread, int.from_bytes
        try:
            for number in numbers:
                place = number >> shift
                entry = number_of(pread(handle, 12, directory + place * ENTRY), "little")
                first, last = entry & LOW, entry >> 64  # the next one's start
                if last - first > LONG:
                    self._verify(place, entry)
                    first, last = self._narrowed(number, first, last)
                    stretch = pread(handle, (last - first) * width, start + first * width)
                else:
                    stretch = pread(handle, (last - first) * width, start + first * width)
                    if crc32(stretch) ^ place + 1 != entry >> 32 & LOW:  # as checksum_of
                        raise ValueError("another checksum")
                key = number.to_bytes(KEY, "little")
                at = stretch.find(key)
                while at > 0 and at % width:  # not where a record begins
                    at = stretch.find(key, at + 1)
                known[number] = (
                    tuple(memoryview(stretch)[at + KEY : at + width].cast(kind)) if at >= 0 else ()
                )
        except (OSError, OverflowError, TypeError, ValueError) as error:
            path, names = self.column.file.path, f"{self.column.name} or {self.directory.name}"
            if isinstance(error, OSError) and error.errno != EINVAL:
                raise InputOutputError(f"{path}: {error.strerror}") from error
            raise ModelError(path, f"its column {names} is damaged; {WHAT_TO_DO}") from error

    def _verify(self, place: int, entry: int) -> None:
        """A long stretch, once."""
        if (place, entry) in self.sound:
            return
        first, last, width = entry & LOW, entry >> 64, self.column.width
        if last > len(self.column):
            raise ValueError("no such records")
        found = 0
        for at in range(first, last, BLOCK):
            many = min(BLOCK, last - at)
            found = crc32(self.column.file.read(self.column.at + at * width, many * width), found)
        if found ^ place + 1 != entry >> 32 & LOW:
            raise ValueError("another checksum")
        self.sound.add((place, entry))

    def _narrowed(self, number: int, first: int, last: int) -> tuple[int, int]:
        """Part of a stretch that somebody filled with words made to lie there."""
        while last - first > LONG:
            middle = (first + last) // 2
            if self._key(middle) <= number:
                first = middle
            else:
                last = middle
        return first, last

    def _key(self, place: int) -> int:
        at = self.column.at + place * self.column.width
        return int.from_bytes(self.column.file.read(at, KEY), "little")
