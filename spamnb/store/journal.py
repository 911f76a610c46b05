"""Journals, each beside its model file: what was learned since the file was written, one record a message.

Each record names the generation of the model that it belongs to. So a journal that was folded in and not yet
removed is known as stale, and what is learned while a new model is made can be carried over to the new
one before it takes the old one's place.

A record is the msgpack array [crc32, bin], the bin a msgpack map: the fields of JournalRecord, and `model`,
the generation of the model file that it belongs to. docs/model-file.md describes each field. A last record
that is cut off is dropped: it was never acknowledged. A damaged record is passed over; if its length is
damaged, so is all that follows.
"""

import os

from spamnb.core.native import COUNTERS, Changes, crc32, highest_counter, sum_of_shorts
from spamnb.errors import DataError, InputOutputError, command_to_run
from spamnb.files import complain, open_beside, read_all, sync_folder, write_all
from spamnb.labels import is_label
from spamnb.store import msgpack_codec
from spamnb.store.msgpack_codec import is_integer, is_number
from spamnb.store.records import GRAMS, TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from spamnb.store.counts import Sums

    ByteRange = tuple[int, int]  # where damage in a journal starts and ends

# Bytes, some 25 messages: a longer journal is folded into the model, as each reader goes through all of it.
FOLD_LIMIT = 3 << 17
ARRAY_OF_TWO = 0x92  # the first byte of a record
INTEGERS = {0xCC: 1, 0xCD: 2, 0xCE: 4}  # first byte of the checksum: how many bytes follow it
BINARIES = {0xC4: 1, 0xC5: 2, 0xC6: 4}  # first byte of the bin: how many bytes hold its length
LONGEST_JOURNAL = 1 << 28  # bytes; it is folded long before, unless a training takes days
LARGEST_NUMBER = 1 << 53  # of a numeric feature
LAST_DAY = 65_535  # that a column of days holds
MOST_LISTED = 3  # damaged ranges in a warning

_warned: dict[str, str] = {}  # path of a journal → what this process complained of last


class JournalRecord:
    """One message that was learned, forgotten, or moved from one label to another."""

    def __init__(self, fields: "Mapping[str, Any]", labels: "Sequence[str]", end: int = 0) -> None:
        self.end = end  # offset behind it in the journal
        self.label_count = len(labels)
        self.digest: int = fields["digest"]
        self.after: str | None = fields["after"]
        self.day: int = fields["day"]
        self.fingerprints: Sequence[int] = memoryview(fields["fingerprints"]).cast("Q")
        self.occurrences: Sequence[int] = memoryview(fields["occurrences"]).cast("H")
        self.text = memoryview(fields["text"])
        self.pairs: Sequence[int] = memoryview(fields["pairs"]).cast("Q")
        self.grams: Sequence[int] = memoryview(fields.get("grams", b"")).cast("I")
        self.numbers: dict[str, int | float] = fields["numbers"]
        self.new_tokens: int = fields["new_tokens"]
        self.new_pairs: int = fields["new_pairs"]
        self.score: float = fields["score"]
        self.lead: float = fields.get("lead", float("nan"))
        self.length = sum_of_shorts(bytes(self.occurrences))  # tokens, each as often as it occurs
        if not self.is_sound():
            raise ValueError("not what spamnb writes")
        self.move_from(fields["before"], labels)

    def is_sound(self) -> bool:
        """Tell whether the fields have values that learning a message gives them."""
        size, pairs, text = len(self.fingerprints), len(self.pairs), bytes(self.text)
        is_sound = is_integer(self.digest, 0, (1 << 64) - 1) and is_integer(self.day, 0, LAST_DAY)
        is_sound = (
            is_sound and size == len(self.occurrences) == text.count(b"\n") and text[-1:] in (b"", b"\n")
        )
        is_sound = is_sound and is_integer(self.new_tokens, -size, size)
        is_sound = is_sound and is_integer(self.new_pairs, -pairs, pairs)
        is_sound = is_sound and highest_counter(bytes(self.grams)) < COUNTERS
        for score in (self.score, self.lead):
            is_sound = is_sound and (score != score or is_number(score))
        for name, value in self.numbers.items():
            is_sound = is_sound and is_label(name) and is_number(value, 0, LARGEST_NUMBER)
        return is_sound and bool(str(text, "utf-8", "strict") or not size)

    def move_from(self, before: str | None, labels: "Sequence[str]") -> None:
        """Set the label before, and `steps`: (label index, 1 to add or -1 to subtract the counts) each."""
        self.before = before
        self.steps = [(labels.index(self.after), 1)] if self.after is not None else []
        if before is not None:
            self.steps.append((labels.index(before), -1))

    def add_numbers_to(self, sums: "dict[str, list[list[int | float]]]") -> None:
        """Add this message to n, Σx and Σx² of its numeric features, by label."""
        for name, x in self.numbers.items():
            if name not in sums:
                sums[name] = [[0, 0, 0] for _ in range(self.label_count)]
            for label_index, sign in self.steps:
                sums[name][label_index] = sums_with(sums[name][label_index], x, sign)


class Journal:
    """The records of one generation of a model."""

    def __init__(
        self,
        labels: "Sequence[str]",
        records: "Sequence[JournalRecord]" = (),
        size: int = 0,
        damaged: "Sequence[ByteRange]" = (),
        foreign: "Sequence[Mapping[str, Any]]" = (),
    ) -> None:
        self.labels = labels
        self.records = list(records)
        # Bytes up to the end of the last record of this generation, or damaged record; the rest is of no use.
        self.size = size
        self.damaged = list(damaged)
        self.foreign = list(foreign)  # fields of records for other generations, if there are no others
        self.learned = {record.digest: record.after for record in records}
        self._changes: dict[str, Changes] = {}  # of tokens, pairs and grams, once they were asked for

    @classmethod
    def read(cls, path: str, generation: int, labels: "Sequence[str]") -> "Journal":
        """Read the sound records of a generation; an absent or stale journal is empty."""
        return cls.of(read_bytes(path), generation, labels)

    @classmethod
    def of(cls, data: bytes, generation: int, labels: "Sequence[str]") -> "Journal":
        """Read a journal from its bytes."""
        records, foreign, damaged, size, at = [], [], [], 0, 0
        while at < len(data):
            start = at
            fields, at = record_at(data, start)
            if not at:  # where the next record begins is not known
                if not is_cut_off(data, start):
                    damaged.append((start, len(data)))
                break
            try:
                if fields is None:
                    raise ValueError("not what its checksum says")
                if fields["model"] != generation:
                    foreign.append(fields)
                    continue
                records.append(JournalRecord(fields, labels, at))
            except (KeyError, TypeError, ValueError, AttributeError):
                damaged.append((start, at))
            size = at
        return cls(labels, records, size, damaged, foreign if not size else ())

    def add(self, fields: "Mapping[str, Any]") -> None:
        """Add a record in memory only."""
        record = JournalRecord(fields, self.labels)
        self.records.append(record)
        self.learned[record.digest] = record.after
        self._changes = {}

    def changes(self, kind: str) -> Changes | None:
        """Return what the journal changes in the counts of tokens, pairs or grams; None if nothing."""
        if self.records and kind not in self._changes:
            width, has_occurrences = 4 if kind == GRAMS else 8, kind == TOKENS
            messages = [
                (bytes(getattr(record, kind)), bytes(record.occurrences), record.steps)
                for record in self.records
            ]
            self._changes[kind] = Changes(width, len(self.labels), has_occurrences, messages)
        return self._changes.get(kind)

    def rows(self, kind: str = TOKENS) -> dict[int, list[int]]:
        """Return all that the journal adds to the counts of a kind."""
        changes = self.changes(kind)
        return changes.rows() if changes else {}

    def append(self, path: str, generation: int, changes: "Iterable[Mapping[str, Any]]") -> int:
        """Write more records, synced; the caller holds the lock. Returns the journal's new size."""
        data = b"".join([sealed({"model": generation, **fields}) for fields in changes])
        handle = _open(path, os.O_RDWR | os.O_CREAT)
        try:
            os.ftruncate(handle, self.size)  # drops a record that was cut off, and those of other models
            os.lseek(handle, self.size, os.SEEK_SET)
            write_all(handle, data)
            os.fsync(handle)
            if not self.size:
                sync_folder(path)
        except OSError:
            try:  # noqa: SIM105 (contextlib costs a delivery 3 ms)
                os.ftruncate(handle, self.size)  # what was reported as not learned must not be there
            except OSError:
                pass
            raise
        finally:
            os.close(handle)
        return self.size + len(data)


def _open(path: str, flags: int) -> int:
    """Open a journal, or the one that is to take its place, if it is no stranger's."""
    return open_beside(path.rpartition(".journal")[0], path, flags, with_mode=True)


def read_bytes(path: str) -> bytes:
    """Read a journal as it is; an absent one is empty."""
    try:
        handle = _open(path, os.O_RDONLY)
        try:
            if os.fstat(handle).st_size > LONGEST_JOURNAL:
                raise DataError(
                    f"{path}: larger than {LONGEST_JOURNAL >> 20} MB, so it is no journal; remove it"
                )
            return read_all(handle)
        finally:
            os.close(handle)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise InputOutputError(f"{path}: {error.strerror}") from error


def is_cut_off(data: bytes, at: int) -> bool:
    """Tell whether the journal ends within the record at an offset, as after a crash.

    It does not if its map is complete: then the length in front of it is damaged.
    """
    _, start, end = frame_at(data, at)
    if end <= len(data):
        return False
    try:
        msgpack_codec.unpack(data, start)
    except msgpack_codec.Damaged:
        return True
    return False


def sealed(fields: "Mapping[str, Any]") -> bytes:
    """Return the bytes of a record, its checksum in front."""
    import msgpack

    payload: bytes = msgpack.packb(fields)
    return bytes(msgpack.packb([crc32(payload), payload]))


def record_at(data: bytes, at: int) -> "tuple[dict[str, Any] | None, int]":
    """Return the fields of the record at an offset, None if they are damaged, and its end.

    The end is 0 if it is not to be trusted: the journal ends before it, or no other record begins there.
    """
    checksum, start, end = frame_at(data, at)
    if not end or end > len(data):
        return None, 0
    payload = data[start:end]
    if crc32(payload) != checksum:
        return None, end if end == len(data) or frame_at(data, end)[2] else 0
    try:
        fields, size = msgpack_codec.unpack(payload)
    except msgpack_codec.Damaged:
        return None, end
    return (fields if size == len(payload) and isinstance(fields, dict) else None), end


def frame_at(data: bytes, at: int) -> tuple[int, int, int]:
    """Return the checksum of the record at an offset, where its map starts, and where it ends.

    All are 0 if no record can begin there. The end of a record that is cut off lies behind the data's.
    """
    cut_off = 0, len(data), len(data) + 1
    try:
        kind = data[at + 1]
        behind = at + 2 + INTEGERS.get(kind, 0)
        if data[at] != ARRAY_OF_TWO or (kind > 0x7F and kind not in INTEGERS):
            return 0, 0, 0
        width = BINARIES.get(data[behind])
    except IndexError:
        return cut_off if data[at] == ARRAY_OF_TWO else (0, 0, 0)
    if width is None:
        return 0, 0, 0
    start = behind + 1 + width
    if start > len(data):
        return cut_off
    checksum = int.from_bytes(data[at + 2 : behind], "big") if kind in INTEGERS else kind
    return checksum, start, start + int.from_bytes(data[behind + 1 : start], "big")


def warn(path: str, damaged: "list[ByteRange]") -> None:
    """Warn of the damaged records of a journal."""
    ranges = ", ".join([f"{start}-{end - 1}" for start, end in damaged[:MOST_LISTED]])
    more = f" and {len(damaged) - MOST_LISTED} more" if len(damaged) > MOST_LISTED else ""
    look = command_to_run("check", path.removesuffix(".journal"))
    warn_once(
        path,
        f"damaged records are passed over, at bytes {ranges}{more}; "
        f"learn the messages of that time again (when that was: {look})",
    )


def warn_once(path: str, text: str) -> None:
    """Complain of a journal, once in a process."""
    if _warned.get(path) != text:
        _warned[path] = text
        complain(f"{path}: {text}")


def sums_with(sums: "Sums", x: float, sign: int) -> "list[int | float]":
    """Return n, Σx and Σx² with one more value, or one less."""
    n, total, squares = sums
    return [n + sign, total + sign * x, squares + sign * x * x]
