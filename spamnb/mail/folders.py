"""Finding files of mail: folders walked, Maildirs known as such, moved messages found again."""

from __future__ import annotations

import os

from spamnb.mail.streams import why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


class Walk:
    """Every file below some paths with its size, sorted; no folder is entered twice, so loops end."""

    __slots__ = ("seen", "without")

    def __init__(self, without: Iterable[str]) -> None:
        self.without = {os.path.realpath(path) for path in without}
        self.seen: set[tuple[int, int]] = set()

    def files(self, paths: Iterable[str]) -> Iterator[tuple[str, int] | Unreadable]:
        for path in paths:
            try:
                if path == "-":
                    yield path, STREAM
                elif os.path.isdir(path):
                    yield from self.below(path)
                elif path.startswith(_OURS) or (not os.path.isfile(path) and os.path.exists(path)):
                    yield path, STREAM
                elif size := os.stat(path).st_size:
                    yield path, size
            except OSError as error:
                yield Unreadable(path, why(error))

    def below(self, folder: str) -> Iterator[tuple[str, int] | Unreadable]:
        waiting: list[str | os.DirEntry[str] | Unreadable] = [folder]  # no recursion: folders may nest deeply
        while waiting:
            item = waiting.pop()
            if isinstance(item, Unreadable):
                yield item
                continue
            path = os.fspath(item)
            try:
                if isinstance(item, str) or item.is_dir():
                    waiting += reversed(self.entries(path))
                elif item.is_file() and (size := item.stat().st_size):
                    yield path, size
            except FileNotFoundError:  # gone or renamed: the one who opens it looks for it
                yield path, 0
            except OSError as error:
                yield Unreadable(path, why(error))

    def entries(self, folder: str) -> list[os.DirEntry[str] | Unreadable]:
        found = self.listed(folder)
        folders = {entry.name for entry in found if _is_folder(entry)}
        # `new` by itself may be anyone's word for new mail: then the files beside it are mail, too.
        if not folders & {"cur", "tmp"} or not folders & {"cur", "new"}:
            return [entry for entry in found if _is_welcome(entry)]
        mail: dict[str, os.DirEntry[str]] = {}
        problems: list[os.DirEntry[str] | Unreadable] = []
        # First new, then cur, as messages move: one that moves meanwhile is met twice, not missed.
        for name in sorted(folders & {"cur", "new"}, reverse=True):
            path = os.path.join(folder, name)
            try:
                listed = self.listed(path)
            except OSError as error:
                problems.append(Unreadable(path, why(error)))
                continue
            mail |= {_unique(entry.name): entry for entry in listed if _is_welcome(entry)}
        messages = [mail[unique] for unique in sorted(mail) if not _is_folder(mail[unique])]
        below = folders - {"cur", "new", "tmp"}
        return problems + messages + [entry for entry in found if entry.name in below and _is_welcome(entry)]

    def listed(self, folder: str) -> list[os.DirEntry[str]]:
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


def _is_maildir(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, "cur")) or os.path.isdir(os.path.join(folder, "new"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_welcome(entry: os.DirEntry[str]) -> bool:
    if entry.name[0] == ".":
        return _is_maildir(entry.path)  # as Maildir++ names its folders
    return not entry.name.startswith(_BESIDE) and entry.name not in _BESIDE_NAMES


def in_maildir(path: str) -> bool:
    """Whether a file is a Maildir's: then it is one message, even if it begins like an mbox."""
    folder, name = os.path.split(os.path.dirname(path))
    return name in ("new", "cur") and all(os.path.isdir(os.path.join(folder, sub)) for sub in ("new", "cur"))


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
