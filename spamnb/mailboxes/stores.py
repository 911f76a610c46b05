"""Where mail lies: what a store of files can do, and the one on this machine's disks.

The other store, behind addresses like s3://bucket/folder/, is in `remote`. Which of the two has a path,
`sources` decides; everything else is handed the store.
"""

from __future__ import annotations

import os

from spamnb.errors import NoInput
from spamnb.mailboxes.streams import blocks_of, why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from typing import Any, Protocol

    class Size(Protocol):
        @property
        def st_size(self) -> int: ...

    class Entry(Protocol):
        """What a folder holds, as os.DirEntry describes it."""

        @property
        def name(self) -> str: ...
        @property
        def path(self) -> str: ...
        def is_dir(self) -> bool: ...
        def is_file(self) -> bool: ...
        def stat(self) -> Size: ...

    class Store(Protocol):
        """Files and folders. What goes wrong is an OSError."""

        def read(self, path: str, start: int = 0, expected: int = 0) -> Iterator[bytes]:
            """Blocks from `start` on, however many are wanted; about `expected` bytes will be."""
            ...

        def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
            """Path and blocks of several files, in order."""
            ...

        def can_seek(self, path: str) -> bool:
            """Whether a file can be read from its middle."""
            ...

        def check(self, path: str) -> None:
            """Raise NoInput if there is nothing at a path, or it may not be read."""
            ...

        def kind(self, path: str) -> str:
            """FILE, FOLDER or OTHER; "" if there is nothing."""
            ...

        def named(self, path: str) -> Iterator[Entry]:
            """What a user means by a path: that file or folder, or all that match it as a pattern."""
            ...

        def expanded(self, path: str) -> Iterator[str]:
            """Paths of what `named` has, without asking for more where it is no pattern."""
            ...

        def listed(self, folder: str) -> Sequence[Entry]:
            """What a folder holds, sorted by name."""
            ...

        def identity(self, folder: str) -> Hashable:
            """What is the same for a folder, whatever path leads there."""
            ...

        def place(self, path: str) -> Any:
            """What is the same for all ways to write a path."""
            ...

        def is_among(self, places: set[Any], entry: Any, folder: Any) -> bool:
            """Whether an entry of the folder at a place is at one of those places, or a link to below one."""
            ...


FILE, FOLDER, OTHER = "file", "directory", "other"  # the first two as fsspec calls them
STREAM = -1  # in place of a size: read once, in this process

_OURS = ("/dev/stdin", "/dev/fd/", "/proc/self/")  # mean something else in another process


class Named:
    """A file or folder that is no os.DirEntry. The name of what a user has named is ""."""

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

    def stat(self) -> Size:
        return self


class Local:
    """Files of this machine."""

    __slots__ = ()

    def read(self, path: str, start: int = 0, expected: int = 0) -> Iterator[bytes]:
        del expected
        with open(path, "rb", buffering=0) as file:
            if start:  # a pipe has no positions
                file.seek(start)
            yield from blocks_of(file.read)

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterator[bytes]]]:
        listings: dict[str, dict[str, str]] = {}
        for path in paths:
            now = current_path(path, listings)
            yield now, self.read(now)

    def can_seek(self, path: str) -> bool:
        del path
        return True

    def check(self, path: str) -> None:
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise NoInput(f"{path}: no such file or folder") from None
        except OSError as error:
            raise NoInput(f"{path}: {why(error)}") from error
        if not os.access(path, os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK):
            raise NoInput(f"{path}: permission denied")

    def kind(self, path: str) -> str:
        if os.path.isdir(path):
            return FOLDER
        return FILE if os.path.isfile(path) else OTHER if os.path.lexists(path) else ""

    def named(self, path: str) -> Iterator[Entry]:
        if os.path.isdir(path):
            yield Named("", path, FOLDER)
        else:
            yield Named("", path, FILE, STREAM if is_stream(path) else os.stat(path).st_size)

    def expanded(self, path: str) -> Iterator[str]:
        yield path

    def listed(self, folder: str) -> Sequence[Entry]:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def identity(self, folder: str) -> Hashable:
        info = os.stat(folder)
        return info.st_dev, info.st_ino

    def place(self, path: str) -> str:
        return os.path.realpath(path)

    def is_among(self, places: set[str], entry: os.DirEntry[str], folder: str) -> bool:
        if not entry.is_symlink():
            return os.path.join(folder, entry.name) in places
        target = os.path.realpath(entry.path)
        return any(target == place or target.startswith(place + os.sep) for place in places)


LOCAL = Local()


def is_stream(path: str) -> bool:
    """Whether a file can be read only once, or only in this process: a pipe, a handle of ours."""
    return path.startswith(_OURS) or (not os.path.isfile(path) and os.path.exists(path))


def unique_part(name: str) -> str:
    """What stays of a Maildir message's name when its flags change."""
    return name.partition(":")[0]


def current_path(path: str, listings: dict[str, dict[str, str]]) -> str:
    """Where a file is now: a Maildir's message moves when it is seen or flagged.

    `listings` are kept: when 100,000 messages are marked as read meanwhile, one must serve many.
    """
    folder, name = os.path.split(path)
    maildir, sub = os.path.split(folder)
    if sub not in ("new", "cur") or os.path.lexists(path):
        return path
    for _ in range(2):  # a listing of before may be out of date
        if maildir not in listings:
            listings[maildir] = _listing(maildir)
        now = listings[maildir].get(unique_part(name))
        if now is None:
            break
        if os.path.lexists(now):
            return now
        del listings[maildir]
    return path


def _listing(maildir: str) -> dict[str, str]:
    paths: dict[str, str] = {}
    for folder in (os.path.join(maildir, "new"), os.path.join(maildir, "cur")):
        try:
            paths.update((unique_part(name), os.path.join(folder, name)) for name in os.listdir(folder))
        except OSError:  # no such folder, or closed to us: nothing has moved there that we could read
            continue
    return paths
