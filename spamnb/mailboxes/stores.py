"""Stores of files: what a store can do, and the store of this machine's disks.

The other store, of addresses like s3://bucket/folder/, is in `remote`. `sources` decides
which of the two has a path; everything else is handed the store.
"""

from __future__ import annotations

import os

from spamnb.errors import NoInput
from spamnb.mailboxes.formats.maildir import current_path
from spamnb.mailboxes.streams import blocks_of, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

FILE, FOLDER, OTHER = "file", "directory", "other"  # the first two as fsspec calls them
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

    def stat(self) -> PathEntry:
        return self


FolderEntry = os.DirEntry[str] | PathEntry


class Store:
    """Files and folders of this machine; a store of others overrides all. Every failure is an OSError."""

    __slots__ = ()

    def read(self, path: str, start: int = 0, expected: int = 0) -> Iterator[bytes]:
        """Yield blocks from `start` on, as long as the caller wants more: about `expected` bytes."""
        del expected
        with open(path, "rb", buffering=0) as file:
            if start:  # a pipe has no positions
                file.seek(start)
            yield from blocks_of(file.read)

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Yield path and blocks of several files, in order."""
        listings: dict[str, dict[str, str]] = {}
        for path in paths:
            current = current_path(path, listings)
            yield current, self.read(current)

    def can_seek(self, path: str) -> bool:
        """Whether a file can be read from its middle."""
        del path
        return True

    def check(self, path: str) -> None:
        """Raise NoInput if there is nothing at a path, or it may not be read."""
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise NoInput(f"{path}: no such file or folder") from None
        except OSError as error:
            raise NoInput(f"{path}: {reason_of(error)}") from error
        if not os.access(path, os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK):
            raise NoInput(f"{path}: permission denied")

    def kind(self, path: str) -> str:
        """FILE, FOLDER or OTHER; "" if there is nothing."""
        if os.path.isdir(path):
            return FOLDER
        return FILE if os.path.isfile(path) else OTHER if os.path.lexists(path) else ""

    def is_folder(self, path: str) -> bool:
        return self.kind(path) == FOLDER

    def matching(self, path: str) -> Iterator[PathEntry]:
        """Yield what a user means by a path: that file or folder, or all that match it as a pattern."""
        if os.path.isdir(path):
            yield PathEntry("", path, FOLDER)
        else:
            yield PathEntry("", path, FILE, STREAM if is_stream(path) else os.stat(path).st_size)

    def matching_paths(self, path: str) -> Iterator[str]:
        """Yield the paths of `matching`, without a look at the store if the path is no pattern."""
        yield path

    def entries(self, folder: str) -> Sequence[FolderEntry]:
        """List what a folder holds, sorted by name."""
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def identity(self, folder: str) -> Any:
        """Value that is the same for a folder whatever path leads there."""
        info = os.stat(folder)
        return info.st_dev, info.st_ino

    def canonical(self, path: str) -> Any:
        """Value that is the same for all ways to write a path."""
        return os.path.realpath(path)

    def is_among(self, canonicals: set[Any], entry: Any, folder: Any) -> bool:
        """Whether an entry of a folder is among canonical paths, or is a link to below one of them.

        `folder` is the canonical path of the folder.
        """
        if not entry.is_symlink():
            return os.path.join(folder, entry.name) in canonicals
        target = os.path.realpath(entry.path)
        return any(target == path or target.startswith(path + os.sep) for path in canonicals)


LOCAL = Store()


def is_stream(path: str) -> bool:
    """Whether a file can be read only once, or only in this process: a pipe, an open file."""
    return path.startswith(_OF_THIS_PROCESS) or (not os.path.isfile(path) and os.path.exists(path))
