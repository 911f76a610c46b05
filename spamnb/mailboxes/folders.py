"""Finding files of mail: folders walked, Maildirs known as such, moved messages found again."""

from __future__ import annotations

import os
from itertools import groupby

from spamnb.mailboxes import mbox
from spamnb.mailboxes.roles import role_of
from spamnb.mailboxes.skipped import LeftOut, Unreadable
from spamnb.mailboxes.streams import Source, gather, read, unpacked, why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Protocol

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

MAX_DIGITS = 9  # of a message's number in a mailbox

_OURS = ("/dev/stdin", "/dev/fd/", "/proc/self/")  # mean something else in another process

# What mail programs keep beside the mail. Not all of `dovecot*` and `courier*`: a folder of list archives
# may well hold `dovecot.mbox`.
_BESIDE = ("dovecot.index", "dovecot.list", "dovecot.mailbox", "dovecot-", "courierimap", "courierpop3")
_BESIDE_NAMES = frozenset(("maildirfolder", "subscriptions", "dovecot.sieve", "dovecot.svbin"))


class Numbered:
    """Messages of a mailbox, named by their numbers (`box.mbox:3`); `size` is that of the mailbox."""

    __slots__ = ("numbers", "path", "size")

    def __init__(self, path: str, numbers: set[int], size: int) -> None:
        self.path = path
        self.numbers = numbers
        self.size = size


class Walk:
    """Every file below some paths with its size, sorted; no folder is entered twice, so loops end.

    `without` are paths that are passed over silently, with all below them. Folders and mailboxes that have
    one of the roles to `leave_out` are told; what is named itself is read, whatever its role.
    """

    def __init__(self, without: Iterable[str], leave_out: frozenset[str] = frozenset()) -> None:
        without = list(without)
        self.leave_out = leave_out
        self.named: list[str] = []
        self.without = {os.path.realpath(path) for path in without if not is_remote(path)}
        self.without_remote = [path for path in without if is_remote(path)]
        self.elsewhere: Walk | None = None
        self.seen: set[tuple[int, int]] = set()

    def files(self, paths: Iterable[str]) -> Iterator[tuple[str, int] | Numbered | Unreadable]:
        paths = self.named = list(paths)
        for box, names in groupby(paths, lambda path: split_number(path)[0]):
            if box:
                yield Numbered(box, {split_number(name)[1] for name in names}, _size_of(box))
            else:
                yield from self.whole(names)

    def whole(self, paths: Iterable[str]) -> Iterator[tuple[str, int] | Unreadable]:
        """Files and folders that are to be read from their start to their end."""
        for path in paths:
            try:
                if path == "-":
                    yield path, STREAM
                elif is_remote(path):
                    yield from self.remote().whole([path])
                elif os.path.isdir(path):
                    yield from self.below(path)
                elif is_stream(path):
                    yield path, STREAM
                elif size := os.stat(path).st_size:
                    yield path, size
            except OSError as error:
                yield Unreadable(path, why(error))

    def remote(self) -> Walk:
        if self.elsewhere is None:
            from spamnb.mailboxes.remote_folders import RemoteWalk

            self.elsewhere = RemoteWalk(self.without_remote, self.leave_out)
            self.elsewhere.named = [path for path in self.named if is_remote(path)]
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
                    waiting += reversed(self.wanted(self.entries(path)))
                elif item.is_file() and (size := item.stat().st_size):
                    yield path, size
            except FileNotFoundError:  # gone or renamed: the one who opens it looks for it
                yield path, 0
            except OSError as error:
                yield Unreadable(path, why(error))

    def wanted(self, found: list[Entry | Unreadable]) -> list[Entry | Unreadable]:
        """What a folder holds, where a folder or mailbox is left out for its role."""
        if not self.leave_out:
            return found
        return [one if isinstance(one, Unreadable) else self.left_out(one) or one for one in found]

    def left_out(self, entry: Entry) -> LeftOut | None:
        role = role_of(entry.name)
        if (
            role not in self.leave_out
            or self.is_named(entry)
            or not (_is_folder(entry) or _is_mailbox(entry))
        ):
            return None
        return LeftOut(entry.path, f"{role}, by its name")

    def is_named(self, entry: Entry) -> bool:
        real = os.path.realpath(entry.path)
        return any(os.path.realpath(path) == real for path in self.named)

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


def is_stream(path: str) -> bool:
    """Whether a file can be read only once, or only in this process: a pipe, a handle of ours."""
    return path.startswith(_OURS) or (not os.path.isfile(path) and os.path.exists(path))


def is_remote(path: str) -> bool:
    """Whether a path is an address that fsspec opens, like s3://bucket/folder/."""
    return "://" in path


def split_number(path: str) -> tuple[str, int]:
    """The mailbox and the number of a path like `box.mbox:3`; "" and 0 for any other path.

    A file that has this very name is meant by it. Messages are numbered from 0, as `classify` prints them.
    """
    box, _, digits = path.rpartition(":")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > MAX_DIGITS or not box:
        return "", 0
    if is_remote(path):
        from spamnb.mailboxes.remote_folders import is_numbered

        known = is_numbered(path, box)
    else:
        known = not os.path.lexists(path) and os.path.isfile(box)
    return (box, int(digits)) if known else ("", 0)


def _size_of(path: str) -> int:
    """Bytes of a file; none if it is elsewhere, where asking takes long."""
    try:
        return 0 if is_remote(path) else os.stat(path).st_size
    except OSError:  # gone meanwhile: who reads it will tell
        return 0


def is_folder(path: str) -> bool:
    if is_remote(path):
        from spamnb.mailboxes.remote_folders import is_folder

        return is_folder(path)
    return os.path.isdir(path)


def _is_maildir(folder: str) -> bool:
    return is_folder(os.path.join(folder, "cur")) or is_folder(os.path.join(folder, "new"))


def _is_folder(entry: Entry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_mailbox(entry: Entry) -> bool:
    try:
        if not entry.is_file():
            return False
    except OSError:  # a link to itself
        return False
    return mbox.is_envelope(gather(Source(unpacked(read(entry.path))), mbox.MAX_ENVELOPE))


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
