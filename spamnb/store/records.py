"""Columns of a model file: read in full, or record by record, found by its fingerprint."""

from __future__ import annotations

import os
from binascii import crc32  # zlib's, without loading zlib

from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from spamnb.store.counts import Row

WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "f": 4}  # letter of a type → bytes
EINVAL = 22  # the error of a read of less than no bytes, as a damaged directory may ask for
KEY_BYTES = 8  # a record begins with its fingerprint
MOST_REMEMBERED = 100_000  # records
ENTRY_BYTES = 8  # an entry of a directory: where a stretch starts, and its checksum
RECORDS_AT_ONCE = 1 << 16
LOW_32_BITS = 0xFFFFFFFF  # half an entry
LONGEST_SCANNED = 64  # records; a longer stretch is bisected first. The usual one has 8 to 16


class File:
    """An open model file. What was opened stays complete when another file takes its place.

    It is read, not mapped: each look-up in a map makes 64 KB resident, 80 MB for one message; a map needs a
    file system that can map; and if the file is cut short, the process dies. A read costs 0.6 µs.
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
    """A column of integers, floats, or records of integers: `kind` names their types, a letter each."""

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

    def __getitem__(self, index: int) -> int:
        if index >= len(self):
            raise IndexError(index)
        return int.from_bytes(self.file.read(self.at + index * self.width, self.width), "little")

    def read(self) -> bytes:
        """Read the column in full, and verify its checksum."""
        data = self.file.read(self.at, self.size)
        if crc32(data) != self.checksum:
            raise ModelError(self.file.path, f"its column {self.name} is damaged; {WHAT_TO_DO}")
        return data

    def values(self) -> Any:
        """Read the column in full, as a sequence of integers or floats."""
        return memoryview(self.read()).cast(self.kind)  # type: ignore[call-overload]


def checksum_of(stretch: bytes | memoryview, index: int) -> int:
    """Return the checksum of the records that a directory's entry leads to.

    The index makes it differ between empty stretches, and from the zeros of a lost block.
    """
    return crc32(stretch) ^ index + 1


class CountRecords:
    """Counts in order of their fingerprints, with a directory.

    Records whose fingerprints begin with the same bits are a stretch. The directory tells where each stretch
    starts, and its checksum.
    """

    __slots__ = ("column", "directory", "remembered", "shift", "verified")

    def __init__(self, column: Column, directory: Column) -> None:
        self.column = column
        self.directory = directory
        self.shift = 64 - (len(directory) - 1).bit_length() + 1
        if len(directory) - 1 != 1 << (64 - self.shift) or directory.width != ENTRY_BYTES:
            raise ValueError("not a directory")
        self.remembered: dict[int, Row] = {}  # by fingerprint; an empty row if there is no such record
        self.verified: set[tuple[int, int]] = set()  # long stretches: index and entry in the directory

    def rows(self, fingerprints: Iterable[int]) -> dict[int, Row]:
        """Return the counts of those fingerprints that have a record."""
        rows = self.remembered
        if len(rows) > MOST_REMEMBERED:
            rows = self.remembered = {}  # not cleared: another thread may be reading it
        self._look_up([fingerprint for fingerprint in fingerprints if fingerprint not in rows], rows)
        return {fingerprint: row for fingerprint in fingerprints if (row := rows[fingerprint])}

    def _look_up(self, fingerprints: list[int], rows: dict[int, Row]) -> None:
        """Read the record of each fingerprint into `rows`.

        Each takes two reads: where its stretch lies, and the stretch, verified. No function is called for
        that: calls would double the time.
        """
        shift, width, handle = self.shift, self.column.width, self.column.file.handle
        directory, start = self.directory.at, self.column.at
        kind: Any = self.column.kind[-1:]
        pread, integer_of = os.pread, int.from_bytes
        try:
            for fingerprint in fingerprints:
                index = fingerprint >> shift
                entry = integer_of(pread(handle, 12, directory + index * ENTRY_BYTES), "little")
                first, last = entry & LOW_32_BITS, entry >> 64  # bytes 8 to 11: where the next one starts
                if last - first > LONGEST_SCANNED:
                    self._verify(index, entry)
                    first, last = self._narrowed(fingerprint, first, last)
                    stretch = pread(handle, (last - first) * width, start + first * width)
                else:
                    stretch = pread(handle, (last - first) * width, start + first * width)
                    if crc32(stretch) ^ index + 1 != entry >> 32 & LOW_32_BITS:  # as checksum_of
                        raise ValueError("another checksum")
                key = fingerprint.to_bytes(KEY_BYTES, "little")
                at = stretch.find(key)
                while at > 0 and at % width:  # not where a record begins
                    at = stretch.find(key, at + 1)
                rows[fingerprint] = (
                    tuple(memoryview(stretch)[at + KEY_BYTES : at + width].cast(kind)) if at >= 0 else ()
                )
        except (OSError, OverflowError, TypeError, ValueError) as error:
            path, names = self.column.file.path, f"{self.column.name} or {self.directory.name}"
            if isinstance(error, OSError) and error.errno != EINVAL:
                raise InputOutputError(f"{path}: {error.strerror}") from error
            raise ModelError(path, f"its column {names} is damaged; {WHAT_TO_DO}") from error

    def _verify(self, index: int, entry: int) -> None:
        """Verify the checksum of a long stretch, once."""
        if (index, entry) in self.verified:
            return
        first, last, width = entry & LOW_32_BITS, entry >> 64, self.column.width
        if last > len(self.column):
            raise ValueError("no such records")
        checksum = 0
        for at in range(first, last, RECORDS_AT_ONCE):
            size = min(RECORDS_AT_ONCE, last - at) * width
            checksum = crc32(self.column.file.read(self.column.at + at * width, size), checksum)
        if checksum ^ index + 1 != entry >> 32 & LOW_32_BITS:
            raise ValueError("another checksum")
        self.verified.add((index, entry))

    def _narrowed(self, fingerprint: int, first: int, last: int) -> tuple[int, int]:
        """Bisect a long stretch, which somebody filled with words made to lie there, to a short one."""
        while last - first > LONGEST_SCANNED:
            middle = (first + last) // 2
            if self._fingerprint(middle) <= fingerprint:
                first = middle
            else:
                last = middle
        return first, last

    def _fingerprint(self, index: int) -> int:
        at = self.column.at + index * self.column.width
        return int.from_bytes(self.column.file.read(at, KEY_BYTES), "little")
