"""Columns of a model file: read in full, or record by record, found by its fingerprint."""

from __future__ import annotations

import os
from binascii import crc32
from stat import S_ISREG

from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError
from spamnb.grams import COUNTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spamnb.grams import GramSet
    from spamnb.store import direct  # C: direct.pxd
    from spamnb.store.counts import Row, Steps

WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "f": 4}  # letter of a type → bytes
KEY_BYTES = 8  # a record begins with its fingerprint
TOKENS, PAIRS, GRAMS = "fingerprints", "pairs", "grams"  # what a record of the journal has of each kind
ENTRY_BYTES = 8  # an entry of a directory: where a stretch starts, and its checksum
RECORDS_AT_ONCE = 1 << 16
MOST_VERIFIED = (
    1 << 28
)  # bytes of long stretches that are verified: 0.2 s. More, and the directory is made up
LONGEST_SCANNED = 64  # records; a longer stretch is bisected first. The usual one has 8 to 16
WORTH_A_READ = 2560  # bytes of a directory read at once for each record looked up: 0.4 µs, as a read takes
# Bytes read at once of a directory or a column of grams. Memory that a process has not used yet takes 1.5 µs
# for each 4 KB, so that to read 1 MB at once takes 0.5 ms; that of one block serves for the next: 0.1 ms.
BLOCK = 1 << 16
LAST_SLOT = 8191
LARGEST_COUNT = 1 << 53  # of a gram: higher ones are taken for it
MOST_BLOCKS = 64  # which a column of grams is read in: if it is larger, so are they


class File:
    """An open model file. What was opened stays complete when another file takes its place.

    It is read, not mapped: each look-up in a map makes 64 KB resident, 80 MB for one message; a map needs a
    file system that can map; and if the file is cut short, the process dies. A read costs 0.6 µs.
    """

    __slots__ = ("handle", "inode", "path", "size")

    def __init__(self, path: str) -> None:
        self.path = path
        self.handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # not to wait at a pipe
        status = os.fstat(self.handle)
        if not S_ISREG(status.st_mode):
            raise ModelError(path, "not a regular file; name another file with --model")
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

    def key(self, index: int) -> int:
        """Return the fingerprint that a record begins with."""
        return int.from_bytes(self.file.read(self.at + index * self.width, KEY_BYTES), "little")

    def read(self) -> bytes:
        """Read the column in full, and verify its checksum."""
        data = self.file.read(self.at, self.size)
        if crc32(data) != self.checksum:
            raise self.damaged()
        return data

    def verify(self) -> None:
        """Verify the checksum of the column, which is not kept."""
        checksum = 0
        for start in range(0, self.size, BLOCK):
            checksum = crc32(self.file.read(self.at + start, min(BLOCK, self.size - start)), checksum)
        if checksum != self.checksum:
            raise self.damaged()

    def damaged(self) -> ModelError:
        return ModelError(self.file.path, f"its column {self.name} is damaged; {WHAT_TO_DO}")

    def values(self) -> Any:
        """Read the column in full, as a sequence of integers or floats."""
        return memoryview(self.read()).cast(self.kind)  # type: ignore[call-overload]


class CountRecords:
    """Counts in order of their fingerprints, with a directory.

    Records whose fingerprints begin with the same bits are a stretch. The directory tells where each stretch
    starts, and its checksum.
    """

    def __init__(self, column: Column, directory: Column) -> None:
        self.column = column
        self.directory = directory
        self.width, self.entry_width = column.width, directory.width
        self.shift = 64 - (len(directory) - 1).bit_length() + 1
        if len(directory) - 1 != 1 << (64 - self.shift) or self.entry_width != ENTRY_BYTES:
            raise ValueError("not a directory")
        self.first_count, self.count_width = KEY_BYTES, WIDTHS[column.kind[-1]]
        self.handle, self.start, self.directory_start = column.file.handle, column.at, directory.at
        self.latest: dict[int, Row | None] = {}  # what was last looked up on disk
        self.verified: set[tuple[int, int]] = set()  # long stretches: index and entry in the directory
        self.bytes_to_verify = MOST_VERIFIED

    def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """Return the counts of those fingerprints that have a record.

        Learning a message asks twice, to judge it and for what is new: so the last answer is remembered.
        """
        rows: dict[int, Row] = {}
        try:
            looked_up: dict[int, Row | None] = {}
            latest, size, entries = self.latest, self.directory.size - self.entry_width, b""
            reads_all = size <= WORTH_A_READ * len(fingerprints)
            step = min(size, BLOCK) if reads_all else size
            for start in range(0, size, step):
                if reads_all:
                    entries = direct.pread(self.handle, step + 4, self.directory_start + start)
                for fingerprint in fingerprints:
                    at = self.entry_of(fingerprint) - start
                    if at < 0 or at >= step:
                        continue
                    if latest and fingerprint in latest:
                        row = latest[fingerprint]
                    else:
                        row = self.row_on_disk(fingerprint, entries, at)
                    looked_up[fingerprint] = row
                    if row is not None:
                        rows[fingerprint] = row
            self.latest = looked_up
        except OSError as error:
            raise InputOutputError(f"{self.column.file.path}: {error.strerror}") from error
        except (IndexError, OverflowError, TypeError, ValueError) as error:
            path, names = self.column.file.path, f"{self.column.name} or {self.directory.name}"
            raise ModelError(path, f"its column {names} is damaged; {WHAT_TO_DO}") from error
        return rows

    def entry_of(self, fingerprint: int) -> int:
        """Return the offset in the directory of the entry of a fingerprint's stretch."""
        return (fingerprint >> 1 >> self.shift - 1) * self.entry_width  # by 64 bits at once C would not shift

    def row_on_disk(self, fingerprint: int, entries: bytes, at: int) -> Row | None:
        """Read the counts of a fingerprint: where its stretch lies, and the stretch, verified.

        Its entry is in `entries` at an offset; if these are empty, at that of the directory in the file.
        """
        if not entries:
            entries = direct.pread(self.handle, self.entry_width + 4, self.directory_start + at)
            at = 0
        index = self.entry_of(fingerprint) // self.entry_width
        first, last = number_at(entries, at, 4), number_at(entries, at + self.entry_width, 4)
        checksum = number_at(entries, at + 4, 4)
        if last < first:
            raise ValueError("less than no records")
        is_long = last - first > LONGEST_SCANNED
        if is_long:
            self._verify(index, first, last, checksum)
            first, last = self._narrowed(fingerprint, first, last)
        size = (last - first) * self.width
        stretch = direct.pread(self.handle, size, self.start + first * self.width)
        if not is_long and checksum_of(stretch, index) != checksum:
            raise ValueError("another checksum")
        at = offset_of(stretch, fingerprint, 0, last - first, self.width)
        return None if at < 0 else self.row_at(stretch, at)

    def row_at(self, records: bytes, at: int) -> Row:
        """Return the counts of the record at an offset."""
        counts, place = [], at + self.first_count
        while place < at + self.width:
            counts.append(number_at(records, place, self.count_width))
            place += self.count_width
        return tuple(counts)

    def _verify(self, index: int, first: int, last: int, checksum: int) -> None:
        """Verify the checksum of a long stretch, once."""
        if (index, checksum) in self.verified:
            return
        if last > len(self.column):
            raise ValueError("no such records")
        self.bytes_to_verify -= (last - first) * self.width
        if self.bytes_to_verify < 0:
            raise ValueError("too much in few stretches")
        found = 0
        for at in range(first, last, RECORDS_AT_ONCE):
            size = min(RECORDS_AT_ONCE, last - at) * self.width
            found = crc32(self.column.file.read(self.column.at + at * self.width, size), found)
        if found ^ index + 1 != checksum:
            raise ValueError("another checksum")
        self.verified.add((index, checksum))

    def _narrowed(self, fingerprint: int, first: int, last: int) -> tuple[int, int]:
        """Bisect a long stretch, which somebody filled with words made to lie there, to a short one."""
        while last - first > LONGEST_SCANNED:
            middle = (first + last) // 2
            at = self.column.at + middle * self.width
            if number_at(self.column.file.read(at, KEY_BYTES), 0, KEY_BYTES) <= fingerprint:
                first = middle
            else:
                last = middle
        return first, last


def checksum_of(stretch: bytes, index: int) -> int:
    """Return the checksum of the records that a directory's entry leads to.

    The index makes it differ between empty stretches, and from the zeros of a lost block.
    """
    return crc32(stretch) ^ index + 1


def rows_at(data: bytes, label_count: int, places: Sequence[int]) -> dict[int, Row]:
    """Return the rows of counts at some places of a dense column, but for those of zeros alone."""
    rows: dict[int, Row] = {}
    if not data:
        return rows
    count_width = len(data) // (label_count * COUNTERS)
    for place in places:
        at, total, counts = place * label_count * count_width, 0, []
        for k in range(label_count):
            count = number_at(data, at + k * count_width, count_width)
            total |= count
            counts.append(count)
        if total:
            rows[place] = tuple(counts)
    return rows


def grams_on_disk(column: Column, counters: bytes, found: GramSet, label_count: int) -> bytearray:
    """Read the counts of a message's grams, label by label, and verify all.

    `counters`: those that have counts, in order; if it is empty, all have.
    """
    counts = bytearray(8 * label_count * found.used)
    width, row_width = column.width, label_count * column.width
    rows = column.size // row_width
    step = max(BLOCK // row_width, -(-rows // MOST_BLOCKS))  # rows read at once
    firsts = [-1] * 64  # by block, the first of the grams whose counts it has
    others = [-1] * 4096  # by gram, the next in the same block
    places = [0] * 4096
    for entry in range(found.used):
        place = found.counters[entry]
        if counters:
            place = offset_of(counters, place, 0, rows, 4) // 4
        if 0 <= place < rows:
            block = place // step
            places[entry], others[entry], firsts[block] = place, firsts[block], entry
    checksum = 0
    for start in range(0, rows, step):
        data = column.file.read(column.at + start * row_width, min(step, rows - start) * row_width)
        checksum = crc32(data, checksum)
        entry = firsts[start // step]
        while entry >= 0:
            for k in range(label_count):
                at = (places[entry] - start) * row_width + k * width
                direct.put_count(counts, entry * label_count + k, number_at(data, at, width))
            entry = others[entry]
    if checksum != column.checksum:
        raise column.damaged()
    return counts


def grams_in_memory(data: bytes, found: GramSet, label_count: int) -> bytearray:
    """Return the counts of a message's grams, label by label, by those of all."""
    counts = bytearray(8 * label_count * found.used)
    width = len(data) // (label_count * COUNTERS)
    for entry in range(found.used):
        for k in range(label_count):
            at = (found.counters[entry] * label_count + k) * width
            direct.put_count(counts, entry * label_count + k, number_at(data, at, width))
    return counts


def change_grams(
    counts: bytearray, found: GramSet, changes: Sequence[tuple[bytes, Steps]], label_count: int
) -> None:
    """Add what a journal changes in the counts of a message's grams: by the grams of each of its messages."""
    slots = [0] * 8192  # by the last bits of a counter, or behind: 1 + its place among those of the message
    for entry in range(found.used):
        at = found.counters[entry] & LAST_SLOT
        while slots[at]:
            at = at + 1 & LAST_SLOT
        slots[at] = entry + 1
    for place in range(found.used * label_count):
        direct.put_count(counts, place, min(direct.count_at(counts, place), LARGEST_COUNT) + LARGEST_COUNT)
    for grams, steps in changes:
        for number in range(len(grams) // 4):
            counter = direct.number(grams, 4 * number, 4)
            at = counter & LAST_SLOT
            while slots[at] and found.counters[slots[at] - 1] != counter:
                at = at + 1 & LAST_SLOT
            if slots[at]:
                for k, sign in steps:
                    place = (slots[at] - 1) * label_count + k
                    direct.put_count(counts, place, direct.count_at(counts, place) + sign)
    for place in range(found.used * label_count):  # below 0, if it was forgotten twice: no harm
        direct.put_count(counts, place, max(direct.count_at(counts, place), LARGEST_COUNT) - LARGEST_COUNT)


def spread(counters: bytes, counts: bytes, width: int) -> bytes:
    """Return the counts of all grams, by those of some counters; `width`: bytes that a counter has."""
    spread_out = bytearray(COUNTERS * width)
    for number in range(len(counters) // 4):
        to = number_at(counters, 4 * number, 4) % COUNTERS * width
        for at in range(width):
            spread_out[to + at] = counts[number * width + at]
    return bytes(spread_out)


def number_at(data: bytes, at: int, size: int) -> int:
    """Return the number of some bytes that stands at an offset, the lowest byte first."""
    if at < 0 or at + size > len(data):
        raise IndexError(at)
    return direct.number(data, at, size)


def offset_of(records: bytes, key: int, first: int, last: int, width: int) -> int:
    """Find a key among the sorted records from `first` to `last`: its offset, -1 if it is not there."""
    key_bytes = min(width, 8)
    while first < last:
        middle = (first + last) // 2
        found = number_at(records, middle * width, key_bytes)
        if found == key:
            return middle * width
        if found < key:
            first = middle + 1
        else:
            last = middle
    return -1
