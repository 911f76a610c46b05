"""Finding files of mail: folders walked, Maildirs known as such, moved messages found again."""

from __future__ import annotations

import os

from spamnb.errors import DataError, NoInput
from spamnb.mail.streams import DENIED, why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Protocol

    from spamnb.errors import SpamnbError

    class Size(Protocol):
        @property
        def st_size(self) -> int: ...

    class Entry(Protocol):
        """What a folder holds: an os.DirEntry, or the like of it from elsewhere."""

        @property
        def name(self) -> str: ...
        @property
        def path(self) -> str: ...
        def is_dir(self) -> bool: ...
        def is_file(self) -> bool: ...
        def stat(self) -> Size: ...


STREAM = -1  # in place of a size: read once, here, and not by another process

_OURS = ("/dev/stdin", "/dev/fd/", "/proc/self/")  # mean something else in another process

# What mail programs keep beside the mail. Not all of `dovecot*` and `courier*`: a folder of list archives
# may well hold `dovecot.mbox`.
_BESIDE = ("dovecot.index", "dovecot.list", "dovecot.mailbox", "dovecot-", "courierimap", "courierpop3")
_BESIDE_NAMES = frozenset(("maildirfolder", "subscriptions", "dovecot.sieve", "dovecot.svbin"))


class Unreadable:
    """A file or folder that could not be read, or not to its end."""

    __slots__ = ("path", "why")

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why

    @property
    def error(self) -> type[SpamnbError]:
        """No input, as a path that is missing, if it may not be read; if it is damaged, bad data."""
        return NoInput if self.why == DENIED else DataError


class Walk:
    """Every file below some paths with its size, sorted; no folder is entered twice, so loops end."""

    def __init__(self, without: Iterable[str]) -> None:
        without = list(without)
        self.without = {os.path.realpath(path) for path in without if not is_remote(path)}
        self.without_remote = [path for path in without if is_remote(path)]
        self.elsewhere: Walk | None = None
        self.seen: set[tuple[int, int]] = set()

    def files(self, paths: Iterable[str]) -> Iterator[tuple[str, int] | Unreadable]:
        for path in paths:
            try:
                if path == "-":
                    yield path, STREAM
                elif is_remote(path):
                    yield from self.remote().files([path])
                elif os.path.isdir(path):
                    yield from self.below(path)
                elif path.startswith(_OURS) or (not os.path.isfile(path) and os.path.exists(path)):
                    yield path, STREAM
                elif size := os.stat(path).st_size:
                    yield path, size
            except OSError as error:
                yield Unreadable(path, why(error))

    def remote(self) -> Walk:
        if self.elsewhere is None:
            from spamnb.mail.remote_folders import RemoteWalk

            self.elsewhere = RemoteWalk(self.without_remote)
        return self.elsewhere

    def below(self, folder: str) -> Iterator[tuple[str, int] | Unreadable]:
        waiting: list[str | Entry | Unreadable] = [folder]  # no recursion: folders may nest deeply
        while waiting:
            item = waiting.pop()
            if isinstance(item, Unreadable):
                yield item
                continue
            path = item if isinstance(item, str) else item.path
            try:
                if isinstance(item, str) or item.is_dir():
                    waiting += reversed(self.entries(path))
                elif item.is_file() and (size := item.stat().st_size):
                    yield path, size
            except FileNotFoundError:  # gone or renamed: the one who opens it looks for it
                yield path, 0
            except OSError as error:
                yield Unreadable(path, why(error))

    def entries(self, folder: str) -> list[Entry | Unreadable]:
        found = self.listed(folder)
        folders = {entry.name: entry.path for entry in found if _is_folder(entry)}
        # `new` by itself may be anyone's word for new mail: then the files beside it are mail, too.
        if not folders.keys() & {"cur", "tmp"} or not folders.keys() & {"cur", "new"}:
            return [entry for entry in found if self.is_welcome(entry)]
        mail: dict[str, Entry] = {}
        problems: list[Entry | Unreadable] = []
        # First new, then cur, as messages move: one that moves meanwhile is met twice, not missed.
        for name in sorted(folders.keys() & {"cur", "new"}, reverse=True):
            path = folders[name]
            try:
                listed = self.listed(path)
            except OSError as error:
                problems.append(Unreadable(path, why(error)))
                continue
            mail |= {_unique(entry.name): entry for entry in listed if self.is_welcome(entry)}
        messages = [mail[unique] for unique in sorted(mail) if not _is_folder(mail[unique])]
        below = folders.keys() - {"cur", "new", "tmp"}
        return problems + messages + [one for one in found if one.name in below and self.is_welcome(one)]

    def is_welcome(self, entry: Entry) -> bool:
        if entry.name[0] == ".":
            return _is_folder(entry) and _is_maildir(entry.path)  # as Maildir++ names its folders
        return not entry.name.startswith(_BESIDE) and entry.name not in _BESIDE_NAMES

    def listed(self, folder: str) -> Sequence[Entry]:
        info = os.stat(folder)
        if (info.st_dev, info.st_ino) in self.seen:
            return []
        self.seen.add((info.st_dev, info.st_ino))
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        if self.without:
            real = os.path.realpath(folder)
            found = [entry for entry in found if not self.is_without(entry, real)]
        return found

    def is_without(self, entry: os.DirEntry[str], real: str) -> bool:
        if not entry.is_symlink():
            return os.path.join(real, entry.name) in self.without
        target = os.path.realpath(entry.path)
        return any(target == path or target.startswith(path + os.sep) for path in self.without)


def is_remote(path: str) -> bool:
    """Whether a path is an address that fsspec opens, like s3://bucket/folder/."""
    return "://" in path


def is_folder(path: str) -> bool:
    if is_remote(path):
        from spamnb.mail.remote_folders import is_folder

        return is_folder(path)
    return os.path.isdir(path)


def _is_maildir(folder: str) -> bool:
    return is_folder(os.path.join(folder, "cur")) or is_folder(os.path.join(folder, "new"))


def _is_folder(entry: Entry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def in_maildir(path: str) -> bool:
    """Whether a file is a Maildir's: then it is one message, even if it begins like an mbox.

    Flags in its name tell, too: object stores keep no empty folders, and often there is nothing new.
    """
    folder, name = os.path.split(path)
    maildir, sub = os.path.split(folder)
    if sub not in ("new", "cur"):
        return False
    return ":2," in name or all(is_folder(os.path.join(maildir, one)) for one in ("new", "cur"))


def _unique(name: str) -> str:
    """What stays of a Maildir message's name when its flags change."""
    return name.partition(":")[0]


def whereabouts(path: str, known: dict[str, dict[str, str]]) -> str:
    """Where a file is now: a Maildir's message moves when it is seen or flagged.

    `known` keeps the listings: when 100,000 messages are marked as read meanwhile, one must serve many.
    """
    folder, name = os.path.split(path)
    maildir, sub = os.path.split(folder)
    if sub not in ("new", "cur") or os.path.lexists(path):
        return path
    for _ in range(2):  # a listing of before may be out of date
        if maildir not in known:
            known[maildir] = _listing(maildir)
        now = known[maildir].get(_unique(name))
        if now is None:
            break
        if os.path.lexists(now):
            return now
        del known[maildir]
    return path


def _listing(maildir: str) -> dict[str, str]:
    paths: dict[str, str] = {}
    for folder in (os.path.join(maildir, "new"), os.path.join(maildir, "cur")):
        try:
            paths.update((_unique(name), os.path.join(folder, name)) for name in os.listdir(folder))
        except OSError:  # no such folder, or closed to us: nothing has moved there that we could read
            continue
    return paths
