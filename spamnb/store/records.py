"""Columns of a model file, read in full; `spamnb/core/lookup.pyx` finds single records in them."""

import os
from stat import S_ISREG

from spamnb.core.native import crc32
from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "f": 4}  # letter of a type → bytes
KEY_BYTES = 8  # a record begins with its fingerprint
TOKENS, PAIRS, GRAMS = "fingerprints", "pairs", "grams"  # what a record of the journal has of each kind
ENTRY_BYTES = 8  # an entry of a directory: where a stretch starts, and its checksum
BLOCK = 1 << 16  # bytes of a column read at once to verify it


class File:
    """An open model file. What was opened stays complete when another file takes its place.

    It is read, not mapped: each look-up in a map makes 64 KB resident, 80 MB for one message; a map needs a
    file system that can map; and if the file is cut short, the process dies. A read takes 0.6 µs.
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

    def values(self) -> "Any":
        """Read the column in full, as a sequence of integers or floats."""
        return memoryview(self.read()).cast(self.kind)  # type: ignore[call-overload]


def checksum_of(stretch: bytes, index: int) -> int:
    """Return the checksum of the records that a directory's entry leads to.

    The index makes it differ between empty stretches, and from the zeros of a lost block.
    """
    return crc32(stretch) ^ index + 1
