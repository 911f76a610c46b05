"""A model on disk: its file, searched in place or read into memory, and its journal.

docs/model-file.md describes the format. Only what is read into memory takes time by the size of the model.
"""

from __future__ import annotations

import os
from binascii import crc32  # zlib's, without loading zlib

from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError, NoInput, NoModel
from spamnb.store import msgpack_codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from spamnb.store.counts import Row
    from spamnb.store.journal import Journal

FORMAT = "spamnb"
VERSION = 4
SIGNATURE = b"\xa6format\xa6spamnb"  # what a model file begins with, behind the first bytes of a map
USUAL_HEAD = 1 << 14  # bytes read first; a head with many stop words is longer
WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "f": 4}  # letter of a type → bytes
EINVAL = 22  # the error of a read of less than no bytes, as a damaged directory may ask for
KEY_BYTES = 8  # a record begins with its fingerprint
ENTRY_BYTES = 8  # an entry of a directory: where a stretch starts, and its checksum
RECORDS_AT_ONCE = 1 << 16
LONGEST_SCANNED = 64  # records; a longer stretch is bisected first. The usual one has 8 to 16
WORTH_A_READ = 4096  # bytes of a directory read at once for each record looked up: 0.3 µs, a read takes 0.7


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
        self.in_memory = False
        self.records = self.entries = b""  # both columns, once they are in memory
        self.latest: dict[int, Row | None] = {}  # what was last looked up on disk
        self.verified: set[tuple[int, int]] = set()  # long stretches: index and entry in the directory

    def load(self) -> None:
        """Read all records into memory, verified: look-ups read nothing from then on."""
        self.records, self.entries = self.column.read(), self.directory.read()
        self.in_memory = True

    def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """Return the counts of those fingerprints that have a record.

        Learning a message asks twice, to judge it and for what is new: so the last answer is remembered.
        """
        rows: dict[int, Row] = {}
        try:
            if self.in_memory:
                for fingerprint in fingerprints:
                    row = self.held_row(fingerprint)
                    if row is not None:
                        rows[fingerprint] = row
                return rows
            looked_up: dict[int, Row | None] = {}
            latest, entries = self.latest, b""
            if self.directory.size <= WORTH_A_READ * len(fingerprints):
                entries = os.pread(self.handle, self.directory.size, self.directory_start)
            for fingerprint in fingerprints:
                row = latest[fingerprint] if fingerprint in latest else self.read_row(fingerprint, entries)
                looked_up[fingerprint] = row
                if row is not None:
                    rows[fingerprint] = row
            self.latest = looked_up
        except (IndexError, OSError, OverflowError, TypeError, ValueError) as error:
            path, names = self.column.file.path, f"{self.column.name} or {self.directory.name}"
            if isinstance(error, OSError) and error.errno != EINVAL:
                raise InputOutputError(f"{path}: {error.strerror}") from error
            raise ModelError(path, f"its column {names} is damaged; {WHAT_TO_DO}") from error
        return rows

    def held_row(self, fingerprint: int) -> Row | None:
        """Find the counts of a fingerprint in memory."""
        at = (fingerprint >> 1 >> self.shift - 1) * self.entry_width
        first, last = number_at(self.entries, at, 4), number_at(self.entries, at + self.entry_width, 4)
        at = place_of(self.records, fingerprint, first, last, self.width)
        return None if at < 0 else self.row_at(self.records, at)

    def read_row(self, fingerprint: int, entries: bytes) -> Row | None:
        """Read the counts of a fingerprint: where its stretch lies, and the stretch, verified.

        `entries` is the whole directory; if it is empty, the entry is read from the file.
        """
        index = fingerprint >> 1 >> self.shift - 1  # by 64 bits at once C would not shift
        at = index * self.entry_width
        if not entries:
            entries = os.pread(self.handle, self.entry_width + 4, self.directory_start + at)
            at = 0
        first, last = number_at(entries, at, 4), number_at(entries, at + self.entry_width, 4)
        checksum = number_at(entries, at + 4, 4)
        is_long = last - first > LONGEST_SCANNED
        if is_long:
            self._verify(index, first, last, checksum)
            first, last = self._narrowed(fingerprint, first, last)
        size = (last - first) * self.width
        stretch = os.pread(self.handle, size, self.start + first * self.width)
        if not is_long and checksum_of(stretch, index) != checksum:
            raise ValueError("another checksum")
        at = place_of(stretch, fingerprint, 0, last - first, self.width)
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
            if key_at(self.column.file.read(at, KEY_BYTES), 0) <= fingerprint:
                first = middle
            else:
                last = middle
        return first, last


def checksum_of(stretch: bytes | memoryview, index: int) -> int:
    """Return the checksum of the records that a directory's entry leads to.

    The index makes it differ between empty stretches, and from the zeros of a lost block.
    """
    return crc32(stretch) ^ index + 1


def number_at(data: bytes, at: int, size: int) -> int:
    """Return the number of some bytes that stands at an offset, the lowest byte first."""
    number = 0
    for place in range(at + size - 1, at - 1, -1):
        number = number << 8 | data[place]
    return number


def key_at(records: bytes, at: int) -> int:
    """Return the key of the record at an offset: a number of eight bytes."""
    number = 0
    for place in range(at + 7, at - 1, -1):
        number = number << 8 | records[place]
    return number


def place_of(records: bytes, key: int, first: int, last: int, width: int) -> int:
    """Find a key among the sorted records from `first` to `last`: its offset, -1 if it is not there."""
    while first < last:
        middle = (first + last) // 2
        found = key_at(records, middle * width)
        if found == key:
            return middle * width
        if found < key:
            first = middle + 1
        else:
            last = middle
    return -1


class StoredModel:
    """The counts of a model file and its journal."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = _open_file(path)
        self.head, start = _read_head(self.file)
        self._columns = _locate_columns(self.file, self.head, start)
        try:
            self.labels: list[str] = list(self.head["labels"])
            self.generation: int = self.head["generation"]
            self.keyed: str = self.head.get("settings", {}).get("keyed", "")  # the id of its key, if any
            self.messages: list[int] = list(self.head["messages"])
            self.presences: list[int] = list(self.head["presences"])
            self.occurrences: list[int] = list(self.head["occurrences"])
            self.vocabulary: int = self.head["vocabulary"]
            self.pair_presences: list[int] = list(self.head["pair_presences"])
            self.pair_vocabulary: int = self.head["pair_vocabulary"]
            self.numbers: dict[str, list[list[int | float]]] = {
                name: [list(sums) for sums in by_label] for name, by_label in self.head["numbers"].items()
            }
            self.tokens = CountRecords(self.column("tokens"), self.column("starts"))
            self.pairs = CountRecords(self.column("pairs"), self.column("pair_starts"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}") from error
        self._learned: tuple[bytes, bytes] | None = None  # digests and their label indices
        self._journal: Journal | None = None
        if _has_journal(path):
            from spamnb.store.journal import Journal  # late: most often there is none

            self._journal = Journal.read(path + ".journal", self.generation, self.labels)
            if self._journal.damaged:
                self._mend_journal()
            self._add_journal_totals()

    @classmethod
    def open(cls, path: str) -> Self:
        """Open a model and its journal, in agreement even while another process folds one into the other."""
        while True:
            stored = cls(path)
            try:
                if os.stat(path).st_ino == stored.file.inode:
                    return stored
            except OSError:
                return stored  # removed meanwhile: what was opened stays complete

    @property
    def journal(self) -> Journal:
        if self._journal is None:
            from spamnb.store.journal import Journal

            self._journal = Journal(self.labels)
        return self._journal

    def column(self, name: str) -> Column:
        return self._columns[name]

    @property
    def has_journal(self) -> bool:
        return self._journal is not None and bool(self._journal.records)

    @property
    def count_bytes(self) -> int:
        return self.column("tokens").size + self.column("pairs").size

    def load(self, before: StoredModel | None = None) -> None:
        """Read all counts into memory, or share those of `before`, if only the journal has changed since."""
        if before is not None and before.generation == self.generation and before.tokens.in_memory:
            self.tokens, self.pairs = before.tokens, before.pairs
        else:
            self.tokens.load()
            self.pairs.load()

    def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """Return the counts of those tokens that are known, the journal's included."""
        rows = self.tokens.rows(fingerprints)
        return _added(rows, self._journal.rows(fingerprints)) if self._journal else rows

    def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """Return the counts of those pairs of neighbours that are known, the journal's included."""
        rows = self.pairs.rows(fingerprints)
        return _added(rows, self._journal.pair_rows(fingerprints)) if self._journal else rows

    def histogram(self) -> dict[tuple[int, ...], int]:
        """Return how many tokens share the same messages per label, the journal's changes made."""
        label_indices = range(len(self.labels))
        names = [*(f"histogram.{k}" for k in label_indices), "histogram.tokens"]
        *counts, tokens = [self.column(name).values() for name in names]
        tokens_by_counts: dict[tuple[int, ...], int] = dict(
            zip(zip(*counts, strict=True), tokens, strict=True)
        )
        later = self.journal.all_rows()
        known = self.tokens.rows(list(later))
        for fingerprint, more in later.items():
            row = known.get(fingerprint, (0,) * len(label_indices))
            before = tuple([row[k] for k in label_indices])
            after = tuple([row[k] + more[k] for k in label_indices])
            if any(before):
                if before not in tokens_by_counts:
                    raise ModelError(self.path, f"its histogram is damaged; {WHAT_TO_DO}")
                tokens_by_counts[before] -= 1
            if any(after):
                tokens_by_counts[after] = tokens_by_counts.get(after, 0) + 1
        return {counts: tokens for counts, tokens in tokens_by_counts.items() if tokens}

    def label_of(self, digest: int) -> str | None:
        """Return the label a message was learned under, if it was; to verify 250,000 digests takes 1.3 ms."""
        if self._journal and digest in self._journal.learned:
            return self._journal.learned[digest]
        if self._learned is None:
            self._learned = self.column("digests").read(), self.column("digest_labels").read()
        digests, label_indices = self._learned
        at = place_of(digests, digest, 0, len(digests) // KEY_BYTES, KEY_BYTES)
        if at < 0:
            return None
        label_index = label_indices[at // KEY_BYTES]
        if label_index >= len(self.labels):
            raise ModelError(self.path, f"its labels are damaged; {WHAT_TO_DO}")
        return self.labels[label_index]

    def _mend_journal(self) -> None:
        """Adapt sound records to the loss of damaged ones: subtract nothing these added, count anew."""
        from spamnb.store.journal import warn

        journal = self.journal
        warn(f"{self.path}.journal", journal.damaged)
        journal.learned = {}
        for record in journal.records:
            record.move_from(self.label_of(record.digest), self.labels)
            record.new_tokens = record.new_pairs = 0
            journal.learned[record.digest] = record.after
        tokens = list({token for record in journal.records for token in record.fingerprints})
        pairs = list({pair for record in journal.records for pair in record.pairs})
        self.vocabulary += len(self.rows(tokens)) - len(self.tokens.rows(tokens))
        self.pair_vocabulary += len(self.pair_rows(pairs)) - len(self.pairs.rows(pairs))

    def _add_journal_totals(self) -> None:
        for record in self.journal.records:
            self.vocabulary += record.new_tokens
            self.pair_vocabulary += record.new_pairs
            for label_index, sign in record.steps:
                self.messages[label_index] += sign
                self.presences[label_index] += sign * len(record.fingerprints)
                self.pair_presences[label_index] += sign * len(record.pairs)
                self.occurrences[label_index] += sign * record.length
                for name, value in record.numbers.items():
                    sums = self.numbers.setdefault(name, [[0, 0, 0] for _ in self.labels])[label_index]
                    sums[0] += sign
                    sums[1] += sign * value
                    sums[2] += sign * value * value


def labels_of(path: str) -> Sequence[str]:
    """Return the labels of a model; no more than the head of its file is read."""
    labels: Sequence[str] = _read_head(_open_file(path))[0].get("labels", ())
    return labels


def _added(rows: dict[int, Row], later: dict[int, list[int]]) -> dict[int, Row]:
    """Return the rows of the file with the journal's changes added."""
    for fingerprint, more in later.items():
        row = rows.pop(fingerprint, None)
        counts, is_known = [], False
        for k in range(len(more)):
            count = more[k] if row is None else row[k] + more[k]
            counts.append(count if count > 0 else 0)  # forgotten twice: no harm
            is_known = is_known or count > 0
        if is_known:
            rows[fingerprint] = tuple(counts)
    return rows


def _has_journal(path: str) -> bool:
    """Tell whether there is more than an empty journal."""
    try:
        return os.stat(path + ".journal").st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        return True  # who reads it will tell why that fails


def _open_file(path: str) -> File:
    try:
        file = File(path)
    except FileNotFoundError:
        raise NoModel(f"{path}: no model yet; make one with: spamnb train HAM SPAM") from None
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}") from error
    if not file.size:
        raise ModelError(path, f"the file is empty; {WHAT_TO_DO}")
    return file


def _read_head(file: File) -> tuple[dict[str, Any], int]:
    """Return the head of the file, with all but the columns, and the offset behind it."""
    size = min(file.size, USUAL_HEAD)
    while True:
        front = file.read(0, size)
        if SIGNATURE not in front[:24]:
            raise ModelError(file.path, "not a spamnb model; name another file with --model")
        try:
            return _parse_head(file.path, front)
        except (msgpack_codec.Damaged, TypeError) as error:
            if size == file.size:
                raise ModelError(file.path, f"not a spamnb model, or cut short; {WHAT_TO_DO}") from error
        size = min(file.size, 64 * size)


def _parse_head(path: str, data: bytes) -> tuple[dict[str, Any], int]:
    entries, at = _map_size(data)
    front: dict[Any, Any] = {}
    for _ in range(4):  # format, version, crc32, head
        key, at = msgpack_codec.unpack(data, at)
        start = at
        front[key], at = msgpack_codec.unpack(data, at)
    version, head = front.get("version"), front.get("head")
    if type(version) is int and version > VERSION:
        raise ModelError(path, f"made by a newer spamnb (format {version}); upgrade spamnb")
    if type(version) is int and 0 < version < VERSION:
        raise ModelError(path, f"made by an older spamnb (format {version}); train anew with --fresh")
    sound = type(version) is int and version == VERSION and crc32(data[start:at]) == front.get("crc32")
    if not sound or not isinstance(head, dict) or entries != 4 + len(head.get("columns", ())):
        raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}")
    return head, at


def _map_size(data: bytes) -> tuple[int, int]:
    """Return the number of entries of the outermost map, and the offset of the first."""
    if data[0] & 0xF0 == 0x80:
        return data[0] & 0x0F, 1
    if data[0] == 0xDE and len(data) >= 3:
        return int.from_bytes(data[1:3], "big"), 3
    raise msgpack_codec.Damaged("no map")


def _locate_columns(file: File, head: dict[str, Any], at: int) -> dict[str, Column]:
    """Locate each column by the sizes in the head; the bytes themselves are not read."""
    columns = {}
    try:
        for name, kind, size, checksum in head["columns"]:
            at += 1 + len(name) + 5  # its key, a short string, and the five bytes in front of a bin
            columns[name] = Column(file, name, kind, at, size, checksum)
            at += size
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(file.path, f"its head is damaged; {WHAT_TO_DO}") from error
    if at != file.size:
        raise ModelError(file.path, f"cut short: {file.size} bytes of {at}; {WHAT_TO_DO}")
    return columns
