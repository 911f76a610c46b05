"""An open model file, and its columns; `spamnb/core/file_counts.pyx` finds counts in them."""

import os
from stat import S_ISREG

from spamnb.core.native import crc32
from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError

WIDTHS = {"B": 1, "H": 2, "I": 4, "Q": 8, "f": 4}  # letter of a type → bytes
BLOCK = 1 << 16  # bytes of a column read at once to verify it


class File:
    """An open model file. What was opened stays complete when another file takes its place.

    It is read, not mapped: each look-up in a map makes 64 KB resident, 80 MB for one message; a map needs a
    file system that can map; and if the file is cut short, the process dies. A read takes 0.6 µs.
    """

    __slots__ = ("handle", "inode", "path", "size")

    def __init__(self, path: str, handle: int | None = None) -> None:
        """Open a file, or take one over that is open."""
        self.path = path
        if handle is None:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # not to wait at a pipe
        self.handle = handle
        status = os.fstat(handle)
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
    """A column of numbers, or of records of numbers: `kind` names their types, a letter each."""

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
