"""A log of verdicts, each with its message. Judging a message only appends to the log, which is fast;
`gathering.py` copies the verdicts into the database of the history later.

A file has the verdicts of a day, or some of them, so that old verdicts are deleted with their file. A
record is MARK, then length and CRC-32 of a msgpack map (4 bytes each, little-endian), then the map: a
verdict, or lessons (hashes of learned or forgotten messages). MARK is escaped in the map, so that the record
after a damaged one is always found, and no message can look like a record. Many processes append at once:
each record is one write. A record that was cut off by a full disk or a kill is skipped.
"""

import os
import time
import zlib

from spamnb.bayes.verdict import MAX_FLOAT
from spamnb.configuration.quantities import parse_days, parse_size
from spamnb.core.native import Damaged, is_integer, is_number, pack, unpack
from spamnb.errors import NoInput
from spamnb.files import complain, make_folder, open_own, state_folder, sync_folder, write_all
from spamnb.labels import UNSURE, is_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from spamnb.bayes.verdict import Verdict

    Fields = dict[str, Any]

DAYS, SIZE = "14", "200MB"  # how long messages are kept, and how much of them, by default
MAX_MESSAGE = 1 << 20  # bytes kept of a message
MAX_TEXT = 500  # characters kept of a user's name and the like
MAX_FILE = 32 << 20  # bytes after which another file is begun
DAY = 86400  # seconds
CONFIRMING = 3  # days with mail that are needed to trust the clock
LESSONS = 8 * 1000  # bytes of hashes in a record
SUFFIX = ".verdicts"  # of 2026-11-16-000000.verdicts
FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT

MARK = b"\xd4spamnb\0"
STEM, ESCAPED = MARK[:-1], MARK[:-1] + b"\1"
BEFORE_MAP = len(MARK) + 8  # bytes in front of the map
MAX_RECORD = MAX_MESSAGE + (1 << 17)
LATEST = 1e11  # seconds since 1970: dates of the year 5138 can be written
MAX_PATH = 1 << 12  # bytes
COMPLAINTS: "dict[str, str]" = {}  # last warning of this process, by step


class HistoryLog:
    """A folder of log files. An error in writing is only a warning, because mail must still be delivered."""

    def __init__(self, days: str = DAYS, size: str = SIZE, folder: str | None = None) -> None:
        self.days = parse_days(days)
        self.size = parse_size(size)
        self.folder = folder

    def append(
        self,
        raw: bytes,
        verdict: "Verdict",
        model: str,
        source: str,
        user: str = "",
        now: float | None = None,
    ) -> None:
        """Append a verdict and its message; if that fails, warn in one line."""
        why = ""
        try:
            limits = [self.days, self.size]
            when = time.time() if now is None else now
            folder = self.folder or state_folder("history")
            if append_record(
                folder, packed_record(raw, verdict, model, source, user, when, limits), self.size
            ):
                prune_files(folder, self.days, self.size)
        except Exception as error:
            why = f"not in the history: {error}"
        complain_once("append", why and f"the verdict is {why}")


def append_lessons(model: str, lessons: "Iterable[tuple[str | None, str | None, bytes]]") -> None:
    """Append lessons to the log, if there is one: (label before, label after, hashes of the messages).

    If that fails, warn in one line.
    """
    why = ""
    try:
        folder = state_folder("history")
        if os.path.isdir(folder):
            for before, label, hashes in lessons:
                for start in range(0, len(hashes), LESSONS):
                    fields = {"time": time.time(), "model": packed_path(model), "before": before}
                    fields |= {"label": label, "learned": hashes[start : start + LESSONS]}
                    append_record(folder, packed(fields), parse_size(SIZE))
    except Exception as error:
        why = f"what was learned is not in the history: {error}"
    complain_once("lessons", why and f"what was learned is {why}")


def append_record(folder: str, record: bytes, size: int) -> bool:
    """Append a record to today's latest file or, if this is full, to a new one; return whether it is new."""
    try:
        names = file_names(folder)
    except FileNotFoundError:
        make_folder(folder)
        names = []
    today = time.strftime("%Y-%m-%d", time.gmtime())
    latest = max((name for name in names if name.startswith(today)), default="")
    is_full = latest and os.path.getsize(os.path.join(folder, latest)) >= file_limit(size)
    name = f"{today}-{int(latest[11:17] or 0) + bool(is_full):06}{SUFFIX}"
    handle = open_own(os.path.join(folder, name), FLAGS)
    try:
        write_all(handle, record)
    finally:
        os.close(handle)
    return name not in names


def complain_once(step: str, why: str) -> None:
    """Warn that a step failed, unless its last warning gave the same reason; `why` is "" after a success."""
    if why and why != COMPLAINTS.get(step):
        complain(why)
    COMPLAINTS[step] = why


def file_names(folder: str) -> list[str]:
    """Return the names of the log files in a folder, the oldest first."""
    size = len("2026-11-16-000000")
    return sorted(
        name
        for name in os.listdir(folder)
        if name.endswith(SUFFIX) and len(name) == size + len(SUFFIX) and name[size - 6 : size].isdecimal()
    )


def file_limit(size: int) -> int:
    """Return the size at which a file of the log is full: small, so that pruning removes little at once."""
    return min(size // 8, MAX_FILE)


def prune_files(folder: str, days: int, size: int) -> None:
    """Remove log files older than `days`, and the oldest ones while the folder is larger than `size` bytes.

    The latest file is always kept.
    """
    names = file_names(folder)
    others = set(os.listdir(folder)).difference(names)  # the database
    total = file_limit(size) + sum(size_and_time(folder, name)[0] for name in others)
    oldest = confirmed_now(folder) - days * DAY
    for name in reversed(names):
        taken, written = size_and_time(folder, name)
        total += taken
        if written < oldest or (total > size and name != names[-1]):
            try:  # noqa: SIM105 (a delivery loads no contextlib)
                os.unlink(os.path.join(folder, name))
            except FileNotFoundError:
                pass  # by another process


def confirmed_now(folder: str) -> float:
    """Return the time from which ages are counted: the end of the third last day with judged mail (or 0).

    If ages were counted from now, a clock that is wrong for a day or two would delete everything.
    """
    written = [size_and_time(folder, name)[1] // DAY for name in file_names(folder)]
    seen = sorted({day for day in written if day <= time.time() // DAY})
    return (seen[-CONFIRMING] + 1) * DAY if len(seen) >= CONFIRMING else 0.0


def size_and_time(folder: str, name: str) -> tuple[int, float]:
    try:
        status = os.stat(os.path.join(folder, name))
    except FileNotFoundError:
        return 0, 0.0
    return status.st_size, status.st_mtime


def packed_record(
    raw: bytes, verdict: "Verdict", model: str, source: str, user: str, now: float, limits: list[int]
) -> bytes:
    """Return the record of a verdict. The message is parsed later, when the record goes into the database."""
    digest = None
    if len(raw) > MAX_MESSAGE:
        digest = hash_of_raw(raw)  # while all of it is there
    cutoffs = [verdict.cutoffs.ham, verdict.cutoffs.spam] if verdict.cutoffs else None
    return packed(
        {
            **verdict.as_map(),
            "time": now,
            "cutoffs": cutoffs,
            "model": packed_path(model),
            "source": source[:MAX_TEXT].encode("utf-8", "replace"),
            "user": user[:MAX_TEXT].encode("utf-8", "replace"),
            "size": len(raw),
            "digest": digest,
            "limits": limits,  # for pruning the history
            "message": zlib.compress(raw[:MAX_MESSAGE], 1),
        }
    )


def packed_path(model: str) -> bytes:
    return os.fsencode(os.path.abspath(model))


def packed(fields: "Fields") -> bytes:
    """Return the bytes of a record with these fields."""
    data = pack(fields).replace(STEM, ESCAPED)
    return MARK + len(data).to_bytes(4, "little") + zlib.crc32(data).to_bytes(4, "little") + data


def hash_of_raw(raw: bytes) -> int:
    """Return the hash of a message."""
    from spamnb.core.native import hash_of_message, read

    return hash_of_message(read(raw))


def read_piece(folder: str, name: str, start: int, size: int, to_keep: bool = False) -> bytes:
    """Read up to `size` bytes of a log file; b"" if it is gone. With `to_keep`, sync file and folder, too."""
    path = os.path.join(folder, name)
    try:
        with open(open_own(path, os.O_RDONLY), "rb", buffering=0) as file:
            file.seek(start)
            data = file.read(size)
            if to_keep:
                os.fsync(file.fileno())
                sync_folder(path)
            return data
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}") from error


def unpacked_records(data: bytes) -> "tuple[list[tuple[int, int, Fields]], int]":
    """Return (start, end, fields) of each undamaged record in a piece of a file, and where to read on.

    Reading goes on at an incomplete record. Without one, it goes on behind the last undamaged record, but
    at most MAX_RECORD bytes before the end.
    """
    found: list[tuple[int, int, Fields]] = []
    at = done = 0
    while (at := data.find(MARK, at)) >= 0:
        start = at + BEFORE_MAP
        end = start + int.from_bytes(data[start - 8 : start - 4], "little")
        if max(start, end) > len(data) and data.find(MARK, at + 1) < 0 and len(data) - at < MAX_RECORD:
            return found, at
        if fields := sound_fields(data[at:end]):
            found.append((at, end, fields))
            at = done = end
        else:
            at += 1
    return found, max(done, len(data) - MAX_RECORD)


def sound_fields(record: bytes) -> "Fields | None":
    """Return the fields of a record; None if the record is damaged."""
    packed = record[BEFORE_MAP:]
    checksum = int.from_bytes(record[BEFORE_MAP - 4 : BEFORE_MAP], "little")
    if not record.startswith(MARK) or zlib.crc32(packed) != checksum:
        return None
    try:
        fields: Fields = unpack(packed.replace(ESCAPED, STEM))[0]
        return fields if are_fields(fields) else None
    except (Damaged, KeyError, TypeError, ValueError):
        return None


def are_fields(fields: "Fields") -> bool:
    """Return whether a record's fields have values that `packed_record` or `append_lessons` can write."""
    is_lessons = "learned" in fields
    data = ("model", "learned") if is_lessons else ("model", "source", "user", "message")
    if not is_number(fields["time"], 0, LATEST) or len(fields["model"]) > MAX_PATH:
        return False
    if not all(isinstance(fields[name], memoryview) for name in data):
        return False
    if is_lessons:
        return all(label is None or is_label(label) for label in (fields["before"], fields["label"]))
    digest, cutoffs, probability = fields["digest"], fields["cutoffs"], fields["probability"]
    days, size = fields["limits"]
    return (
        (is_label(fields["verdict"]) or fields["verdict"] == UNSURE)
        and is_number(fields["score"], -MAX_FLOAT, MAX_FLOAT)
        and is_number(probability, 0, 1)
        and fields["is_spam"] in (None, False, True)
        and isinstance(fields["reason"] or "", str)
        and (cutoffs is None or (len(cutoffs) == 2 and all(is_number(cutoff) for cutoff in cutoffs)))
        and (digest is None or is_integer(digest, 0, (1 << 64) - 1))
        and is_integer(fields["size"])
        and is_integer(days)
        and is_integer(size)
    )


def message_of(fields: "Fields") -> bytes:
    """Return the message in a record, or the first part of a large message; b"" if it is damaged."""
    try:
        return zlib.decompressobj().decompress(fields.get("message", b""), MAX_MESSAGE)
    except zlib.error:
        return b""
