"""Stores of files: what one can do, and that of this machine's disks. Addresses are in `remote`."""

from __future__ import annotations

import os

from spamnb.mailboxes.streams import blocks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FILE, FOLDER = "file", "directory"  # as fsspec calls them
STREAM = -1  # in place of a size: can be read only once, or only by this process

_OF_THIS_PROCESS = ("/dev/stdin", "/dev/fd/", "/proc/self/")  # mean something else in another process


class PathEntry:
    """A file or folder as os.DirEntry describes it. If a user gave its path, `name` is ""."""

    __slots__ = ("kind", "name", "path", "st_size")

    def __init__(self, name: str, path: str, kind: str, size: int = 0) -> None:
        self.name = name
        self.path = path
        self.kind = kind
        self.st_size = size

    def is_dir(self) -> bool:
        return self.kind == FOLDER

    def is_file(self) -> bool:
        return self.kind == FILE

    def is_symlink(self) -> bool:
        return False

    def stat(self) -> PathEntry:
        return self


FolderEntry = os.DirEntry[str] | PathEntry


class Store:
    """Files and folders of this machine. Every failure is an OSError."""

    def read(self, path: str) -> Iterator[bytes]:
        """Yield blocks, as long as the caller wants more."""
        with open(path, "rb", buffering=0) as file:
            yield from blocks_of(file.read)

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield path and blocks of several files, in order."""
        for path in paths:
            yield path, self.read(path)

    def is_pattern(self, path: str) -> bool:
        """Whether a path stands for all that match it."""
        del path
        return False

    def matching(self, path: str) -> list[PathEntry]:
        """List what a user means by a path: that file or folder, or all that match it as a pattern."""
        if os.path.isdir(path):
            return [PathEntry("", path, FOLDER)]
        return [PathEntry("", path, FILE, STREAM if is_stream(path) else os.stat(path).st_size)]

    def entries(self, folder: str) -> Sequence[FolderEntry]:
        """List what a folder holds, sorted by name."""
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def canonical(self, path: str) -> str:
        """Path that is the same for all ways to write it."""
        return os.path.realpath(path)

    def kind(self, path: str) -> str:
        """FILE or FOLDER; "" if there is nothing."""
        try:
            return self.matching(path)[0].kind
        except OSError:
            return ""

    def is_folder(self, path: str) -> bool:
        return self.kind(path) == FOLDER


def is_stream(path: str) -> bool:
    """Whether a file can be read only once, or only in this process: a pipe, an open file."""
    return path.startswith(_OF_THIS_PROCESS) or (not os.path.isfile(path) and os.path.exists(path))
