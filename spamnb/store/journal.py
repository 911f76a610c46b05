"""The journal beside a model file: messages learned since the file was written, one record each.

Each record names the generation of the model that it belongs to. So a journal that was folded into the model
but not yet removed is recognized as stale, and messages learned while a new model is made can be carried over
to the new model before it replaces the old one.

A record is the msgpack array [crc32, bin]. The bin is a msgpack map with the fields of JournalRecord, and
`model`, the generation of the model file; docs/model-file.md describes each field. A last record that is cut
off is dropped: spamnb never reported its message as learned. A damaged record is skipped; if its length is
damaged, all records after it are lost, too.
"""

import os

from spamnb.core.native import NUMBERS, Damaged, Lessons, crc32, is_integer, is_number, pack, unpack
from spamnb.errors import DataError, InputOutputError, command_to_run
from spamnb.files import complain, open_beside, read_all, sync_folder, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from spamnb.core.native import CountTable

    ByteRange = tuple[int, int]  # where damage in a journal starts and ends
    Lesson = tuple[bytes, bytes, bytes, bytes, bytes]  # the fields of LESSON

# Bytes, some 25 messages: a longer journal is folded into the model, as each process reads all of it.
FOLD_LIMIT = 3 << 17
LESSON = "fingerprints", "occurrences", "text", "pairs", "grams"  # fields with the features of a message
ARRAY_OF_TWO, UINT32, BIN32 = 0x92, 0xCE, 0xC6  # in front of a record, its checksum, and the size of its map
FRAME = 11  # bytes in front of the map
MAX_JOURNAL = 1 << 28  # bytes; it is folded long before, unless a training takes days
MAX_NUMBER = 1 << 20  # of a numeric feature: its square can be summed
LAST_DAY = 65_535  # that a column of days holds
MAX_LISTED = 3  # damaged ranges in a warning
WRONG_FIELDS = KeyError, TypeError, ValueError, AttributeError  # raised for malformed fields

_warned: dict[str, str] = {}  # path of a journal → the last warning of this process


class JournalRecord:
    """One message that was learned, forgotten, or moved from one label to another."""

    def __init__(self, fields: "Mapping[str, Any]", labels: "Sequence[str]", end: int = 0) -> None:
        self.end = end  # offset of its end in the journal
        self.digest: int = fields["digest"]
        self.after: str | None = fields["after"]
        self.day: int = fields["day"]
        lesson = [bytes(memoryview(fields[name])) for name in LESSON]
        self.words, self.times, self.text, self.pairs, self.grams = lesson
        self.word_count, self.pair_count = len(self.words) // 8, len(self.pairs) // 8
        self.length = 0  # words, each as often as it occurs; set when it is counted
        self.numbers: dict[str, int] = fields["numbers"]
        self.new_tokens: int = fields["new_tokens"]
        self.new_pairs: int = fields["new_pairs"]
        self.score: float = fields["score"]
        self.lead: float = fields["lead"]
        if not self.is_sound():
            raise ValueError("spamnb never writes a record with such numbers")
        self.text.decode()  # raises an error if it is not UTF-8
        self.move_from(fields["before"], labels)

    def is_sound(self) -> bool:
        """Return whether all numbers of this record are in the ranges that spamnb writes."""
        return (
            is_integer(self.digest, 0, (1 << 64) - 1)
            and is_integer(self.day, 0, LAST_DAY)
            and is_integer(self.new_tokens, -self.word_count, self.word_count)
            and is_integer(self.new_pairs, -self.pair_count, self.pair_count)
            and all(score != score or is_number(score) for score in (self.score, self.lead))
            and all(name in NUMBERS and is_integer(x, 0, MAX_NUMBER) for name, x in self.numbers.items())
        )

    def move_from(self, before: str | None, labels: "Sequence[str]") -> None:
        """Set `before`, the old label, and `steps`: for each label to change, (index, 1 to add or -1)."""
        self.before = before
        self.steps = [(labels.index(self.after), 1)] if self.after is not None else []
        if before is not None:
            self.steps.append((labels.index(before), -1))

    @property
    def lesson(self) -> "Lesson":
        """The features of the message that are added to counts, in the form that `lesson_of` returns."""
        return self.words, self.times, self.text, self.pairs, self.grams


class Journal:
    """The records of a journal that belong to one model file, because they have its generation number."""

    def __init__(self, labels: "Sequence[str]", generation: int = 0, data: bytes = b"") -> None:
        """Read, from the bytes of a journal, all undamaged records with this generation number."""
        self.labels = labels
        self.counts = Lessons(labels)  # counts to add to those of the model file
        self._table: CountTable | None = None
        self.records: list[JournalRecord] = []
        self.learned: dict[int, str | None] = {}  # hash of a message → label
        self.damaged: list[ByteRange] = []
        self.foreign: list[Mapping[str, Any]] = []  # records of other generations, if all are
        # Bytes up to the end of the last record that is damaged or of this generation; others are ignored.
        self.size = at = 0
        while at < len(data):
            start = at
            fields, at = record_at(data, start)
            if not at:  # where the next record begins is not known
                if not is_cut_off(data, start):
                    self.damaged.append((start, len(data)))
                break
            if fields and fields.get("model") != generation:
                self.foreign.append(fields)
                continue
            try:
                self.add(fields, at)
            except WRONG_FIELDS:
                self.damaged.append((start, at))
            self.size = at
        if self.size:
            self.foreign = []

    def add(self, fields: "Mapping[str, Any]", end: int = 0) -> None:
        """Add a record to this object, but not to the file."""
        record = JournalRecord(fields, self.labels, end)
        self._count(record)
        self.records.append(record)

    def _count(self, record: JournalRecord) -> None:
        record.length = self.counts.add(*record.lesson, record.steps, record.day)
        self._table = None
        self.learned[record.digest] = record.after

    @property
    def table(self) -> "CountTable":
        """The counts of all records as a table, with texts and days: for many look-ups, and for merging."""
        if self._table is None:
            self._table = self.counts.table()
        return self._table

    def mend(self, label_of: "Callable[[int], str | None]") -> None:
        """Correct the undamaged records, so that they subtract no counts that only lost records added."""
        self.counts, self.learned = Lessons(self.labels), {}
        for record in self.records:
            record.move_from(label_of(record.digest), self.labels)
            record.new_tokens = record.new_pairs = 0
            self._count(record)

    def append(self, path: str, generation: int, changes: "Iterable[Mapping[str, Any]]") -> int:
        """Append records to the file, sync the file and return its size. The caller must hold the lock."""
        data = b"".join([sealed({"model": generation, **fields}) for fields in changes])
        handle = _open(path, os.O_RDWR | os.O_CREAT)
        try:
            os.ftruncate(handle, self.size)  # drops a record that was cut off, and records of other models
            os.lseek(handle, self.size, os.SEEK_SET)
            write_all(handle, data)
            os.fsync(handle)
            if not self.size:
                sync_folder(path)
        except OSError:
            try:  # noqa: SIM105 (contextlib costs a delivery 3 ms)
                os.ftruncate(handle, self.size)  # a message reported as not learned must not be there
            except OSError:
                pass
            raise
        finally:
            os.close(handle)
        return self.size + len(data)


def _open(path: str, flags: int) -> int:
    """Open a journal, or the file that will replace it; raise OSError if its owner is not trusted."""
    return open_beside(path.rpartition(".journal")[0], path, flags, with_mode=True)


def read_bytes(path: str) -> bytes:
    """Return the bytes of a journal; b"" if there is no journal."""
    try:
        handle = _open(path, os.O_RDONLY)
        try:
            if os.fstat(handle).st_size > MAX_JOURNAL:
                raise DataError(
                    f"{path}: larger than {MAX_JOURNAL >> 20} MB, so spamnb did not write it; move it away"
                )
            return read_all(handle)
        finally:
            os.close(handle)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputOutputError(f"{path}: {error.strerror}") from error


# Records as bytes


def sealed(fields: "Mapping[str, Any]") -> bytes:
    """Return a record as bytes: checksum and length, four bytes each, then the fields."""
    packed = pack(fields)
    front = bytes([ARRAY_OF_TWO, UINT32]) + crc32(packed).to_bytes(4, "big")
    return b"%b%c%b%b" % (front, BIN32, len(packed).to_bytes(4, "big"), packed)


def frame_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the checksum and the end of the record at offset `at`; (0, 0) if no record begins there."""
    front = data[at : at + FRAME]
    if len(front) < FRAME or (front[0], front[1], front[6]) != (ARRAY_OF_TWO, UINT32, BIN32):
        return 0, 0
    return int.from_bytes(front[2:6], "big"), at + FRAME + int.from_bytes(front[7:], "big")


def record_at(data: bytes, at: int) -> "tuple[Any, int]":
    """Return the fields of the record at offset `at` (None if damaged), and the offset where it ends.

    The end is 0 if it is not certain: the journal ends earlier, or no record follows the damaged fields.
    """
    checksum, end = frame_at(data, at)
    if not 0 < end <= len(data):
        return None, 0
    packed = data[at + FRAME : end]
    if crc32(packed) != checksum:
        return None, end if end == len(data) or frame_at(data, end)[1] else 0
    try:
        fields, size = unpack(packed)
    except Damaged:
        return None, end
    return (fields if size == len(packed) and isinstance(fields, dict) else None), end


def is_cut_off(data: bytes, at: int) -> bool:
    """Return whether the journal ends within the record at an offset, as it may after a crash.

    If all fields of the record can be read, it is not cut off: the length stored in front is damaged.
    """
    if len(data) - at < FRAME:
        return data[at] == ARRAY_OF_TWO
    if frame_at(data, at)[1] <= len(data):
        return False
    try:
        unpack(data, at + FRAME)
    except Damaged:
        return True
    return False


# Warnings


def warn(path: str, damaged: "list[ByteRange]") -> None:
    """Print a warning that records of a journal are damaged; `damaged` has their ranges of bytes."""
    ranges = ", ".join([f"{start}-{end - 1}" for start, end in damaged[:MAX_LISTED]])
    more = f" and {len(damaged) - MAX_LISTED} more" if len(damaged) > MAX_LISTED else ""
    look = command_to_run("check", path.removesuffix(".journal"))
    warn_once(
        path,
        f"damaged records are skipped, at bytes {ranges}{more}; "
        f"learn the messages of that time again; this command shows the time: {look}",
    )


def warn_once(path: str, text: str) -> None:
    """Print a warning about a journal, unless the last warning printed about this journal was the same."""
    if _warned.get(path) != text:
        _warned[path] = text
        complain(f"{path}: {text}")
