"""An open model file: its head, read and checked, and its columns, where the core looks up counts.

The core parses the msgpack: to import the msgpack library would take 4 of the 14 ms that one message takes.
"""

import os
from stat import S_ISREG

from spamnb.core.native import Damaged, crc32, is_integer, is_number, unpack
from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError
from spamnb.labels import MAX_LABELS, is_label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = "spamnb"
VERSION = 9  # rises when the file changes, or the tokens that are made of the same mail
SIGNATURE = b"\xa6format\xa6spamnb"  # at the beginning of a model file, after the first bytes of a map
USUAL_HEAD = 1 << 14  # bytes read first; a head with many stop words is longer
MAX_HEAD = 1 << 20  # bytes
MAX_SUM = 1e100  # of a numeric feature: what is computed of it stays finite
WHOLE = "BHIQ"  # types of whole numbers
COLUMNS = {
    **{"entries": "B", "index": "QII", "learned": "QBff", "learned_index": "QI", "gram_counters": "I"},
    "grams": WHOLE,
}
TOTALS = ("messages", "presences", "occurrences", "pair_presences")  # in the head, counts by label
WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "f": 4}  # letter of a type → bytes
BLOCK = 1 << 16  # bytes of a column read at once to verify it


class File:
    """An open model file, which can be read to the end even after a new file has replaced it.

    Reads are used instead of mmap. With mmap, each look-up would load 64 KB (80 MB for one message), some
    file systems fail, and the process dies if the file is cut short. A read takes 0.6 µs.
    """

    __slots__ = ("handle", "inode", "path", "size")

    def __init__(self, path: str, handle: int | None = None) -> None:
        """Open the file at a path, or use the handle of an open file."""
        self.path = path
        if handle is None:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # not to wait at a pipe
        self.handle = handle
        status = os.fstat(handle)
        if not S_ISREG(status.st_mode):
            raise ModelError(path, "is not a regular file; name another file with --model")
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
                    raise ModelError(self.path, f"is cut short; {WHAT_TO_DO}")
                data += more
        except OSError as error:
            raise InputOutputError(f"{self.path}: {error.strerror}") from error
        return data


class Column:
    """A column of a model file: numbers, or records of numbers, with types given by the letters of `kind`."""

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
            raise ValueError(f"column {name} has a wrong size")

    def __len__(self) -> int:
        return self.size // self.width

    def read(self) -> bytes:
        """Return the bytes of the whole column; raise ModelError if its checksum is wrong."""
        data = self.file.read(self.at, self.size)
        if crc32(data) != self.checksum:
            raise self.damaged()
        return data

    def read_block(self, start: int, count: int, checksum: bytes) -> bytes:
        """Return `count` records from `start` on (fewer at the end); raise ModelError if damaged."""
        at = min(start * self.width, self.size)
        data = self.file.read(self.at + at, min(count * self.width, self.size - at))
        if crc32(data) != int.from_bytes(checksum, "little"):
            raise self.damaged()
        return data

    def verify(self) -> None:
        """Raise ModelError if the checksum of the column is wrong; the column is not kept in memory."""
        checksum = 0
        for start in range(0, self.size, BLOCK):
            checksum = crc32(self.file.read(self.at + start, min(BLOCK, self.size - start)), checksum)
        if checksum != self.checksum:
            raise self.damaged()

    def damaged(self) -> ModelError:
        return ModelError(self.file.path, f"its column {self.name} is damaged; {WHAT_TO_DO}")


def read_head(file: File) -> "tuple[dict[str, Any], int]":
    """Return the head of a model file, which is everything except the columns, and the offset of its end."""
    size, most = min(file.size, USUAL_HEAD), min(file.size, MAX_HEAD)
    while True:
        front = file.read(0, size)
        if SIGNATURE not in front[:24]:
            raise ModelError(file.path, "is not a spamnb model; name another file with --model")
        try:
            return _parse_head(file.path, front)
        except (Damaged, TypeError) as error:
            if size == most:
                raise ModelError(file.path, f"is not a spamnb model, or cut short; {WHAT_TO_DO}") from error
        size = min(most, 64 * size)


def _parse_head(path: str, data: bytes) -> "tuple[dict[str, Any], int]":
    entries, at = _map_size(data)
    front: dict[Any, Any] = {}
    for _ in range(4):  # format, version, crc32, head
        key, at = unpack(data, at)
        start = at
        front[key], at = unpack(data, at)
    version, head = front.get("version"), front.get("head")
    if type(version) is int and version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise ModelError(path, f"made by {age} spamnb (file format {version}); train again with --fresh")
    sound = type(version) is int and crc32(data[start:at]) == front.get("crc32")
    if not sound or not isinstance(head, dict) or entries != 4 + len(head.get("columns", ())):
        raise ModelError(path, f"the beginning of the file is damaged; {WHAT_TO_DO}")
    try:
        _check_head(head)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(path, f"the beginning of the file is damaged; {WHAT_TO_DO}") from error
    return head, at


def _check_head(head: "dict[str, Any]") -> None:
    """Raise an error if spamnb would not have written this head. Settings and view are checked elsewhere.

    A checksum detects damage; this check detects a forged head.
    """
    labels, numbers = head["labels"], head["numbers"]
    is_valid = (
        0 < len(labels) <= MAX_LABELS
        and len(set(labels)) == len(labels)
        and all(is_label(label) for label in labels)
    )
    for name in TOTALS:
        is_valid = (
            is_valid and len(head[name]) == len(labels) and all(is_integer(count) for count in head[name])
        )
    is_valid = is_valid and all(isinstance(head[name], list) for name in ("labels", "columns", *TOTALS))
    is_valid = is_valid and is_integer(head["vocabulary"]) and is_integer(head["pair_vocabulary"])
    is_valid = is_valid and is_integer(head["generation"], 0, (1 << 64) - 1)
    for name, by_label in numbers.items():
        is_valid = is_valid and is_label(name) and len(by_label) == len(labels)
        for count, total, squares in by_label:
            is_valid = is_valid and is_integer(count) and is_number(total, -MAX_SUM, MAX_SUM)
            is_valid = is_valid and is_number(squares, 0, MAX_SUM)
    is_valid = is_valid and is_number(head["ham_loss"], 0, 1)
    is_valid = is_valid and is_number(head.get("margin", 0))
    misfiled = head.get("misfiled", [0, 0])
    (ham, spam), (slope, intercept) = head["cutoffs"], head["calibration"]
    is_valid = is_valid and is_number(ham) and is_number(spam)
    is_valid = is_valid and len(misfiled) == 2 and all(is_number(share, 0, 1) for share in misfiled)
    is_valid = is_valid and all(is_number(each, -MAX_SUM, MAX_SUM) for each in (slope, intercept))
    base = head.get("base")
    if base is not None:
        is_valid = is_valid and isinstance(base["path"], str) and "\0" not in base["path"]
    if not is_valid:
        raise ValueError("spamnb never writes such values at the start of a model file")


def _map_size(data: bytes) -> tuple[int, int]:
    """Return the number of entries of the outermost msgpack map, and the offset of the first entry."""
    if data[0] & 0xF0 == 0x80:
        return data[0] & 0x0F, 1
    if data[0] == 0xDE and len(data) >= 3:
        return int.from_bytes(data[1:3], "big"), 3
    raise Damaged("the file does not begin like a model file")


def locate_columns(file: File, head: "dict[str, Any]", at: int) -> dict[str, Column]:
    """Locate each column by the sizes in the head, without reading it; raise an error for wrong sizes."""
    columns = {}
    for name, kind, size, checksum in head["columns"]:
        is_valid = kind == COLUMNS[name] or (name == "grams" and kind in tuple(WHOLE))
        if not is_valid or name in columns or not is_integer(size) or not is_integer(checksum):
            raise ValueError(f"column {name} is not as spamnb writes it")
        at += 1 + len(name) + 5  # the column's key, a short string, and the five bytes in front of a bin
        columns[name] = Column(file, name, kind, at, size, checksum)
        at += size
    if len(columns) != len(COLUMNS):
        raise ValueError("some columns of the model are missing")
    if at != file.size:
        raise ModelError(file.path, f"is cut short, to {file.size} of {at} bytes; {WHAT_TO_DO}")
    return columns
