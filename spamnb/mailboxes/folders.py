"""Find files of mail: walk folders, recognise Maildirs, leave out folders such as Trash."""

from __future__ import annotations

import os

from spamnb.files import is_address
from spamnb.mailboxes import maildir, remote
from spamnb.mailboxes.chunks import FIRST_BYTES, file_blocks, is_mailbox
from spamnb.mailboxes.roles import role_of
from spamnb.mailboxes.skipped import LeftOutFolder, Unreadable
from spamnb.mailboxes.streams import STREAM, ByteStream, decompressed, gather, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Entry = os.DirEntry[str] | remote.RemoteEntry

_OF_THIS_PROCESS = ("/dev/stdin", "/dev/fd/", "/proc/self/")  # name something else in another process
# Prefixes of files that mail programs keep beside the mail. Not all of `dovecot*` and `courier*`: a folder of
# list archives may well hold `dovecot.mbox`.
_NO_MAIL = ("dovecot.index", "dovecot.list", "dovecot.mailbox", "dovecot-", "courierimap", "courierpop3")
_NO_MAIL_NAMES = frozenset(("maildirfolder", "subscriptions", "dovecot.sieve", "dovecot.svbin"))


class FolderWalk:
    """A search for all files below some paths, in sorted order; it visits no folder twice, in spite of links.

    Paths in `without` are skipped, with everything below them. A folder or mailbox whose name means a role
    in `leave_out`, such as trash, is not read but reported, unless it is in `named_paths`.
    """

    def __init__(self, named_paths: Sequence[str], without: Iterable[str], leave_out: frozenset[str]) -> None:
        self.named_paths = frozenset(map(os.path.realpath, named_paths)) if leave_out else frozenset[str]()
        self.without = frozenset(map(os.path.realpath, without))
        self.leave_out = leave_out
        self.seen: set[str] = set()

    def files(self, path: str) -> Iterator[tuple[str, int] | Unreadable]:
        """Yield (path, size) of each file at or below a path that the user named."""
        try:
            if is_address(path):
                yield from self.files_at(path)
            elif os.path.isdir(path):
                yield from self.files_below(path)
            elif is_stream(path):
                yield path, STREAM
            elif size := os.stat(path).st_size:
                yield path, size
        except OSError as error:
            yield Unreadable(path, reason_of(error))

    def files_at(self, url: str) -> Iterator[tuple[str, int] | Unreadable]:
        """Yield (address, size) of each file at or below an address, which may be a pattern with *."""
        for entry in remote.matching(url):
            if entry.path != url and os.path.realpath(entry.path) in self.without:
                continue
            if entry.is_dir():
                yield from self.files_below(entry.path)
            elif entry.st_size:
                yield entry.path, entry.st_size

    def files_below(self, folder: str) -> Iterator[tuple[str, int] | Unreadable]:
        """Yield (path, size) of each file below a folder, at any depth, by a loop: recursion has a limit."""
        waiting = self.entries(folder)[::-1]
        while waiting:
            item = waiting.pop()
            if isinstance(item, Unreadable):
                yield item
                continue
            try:
                if item.is_dir():
                    waiting += reversed(self.entries(item.path))
                elif item.is_file() and (size := item.stat().st_size):
                    yield item.path, size
            except FileNotFoundError:  # deleted or renamed: searched for when it is opened
                yield item.path, 0
            except OSError as error:
                yield Unreadable(item.path, reason_of(error))

    def entries(self, folder: str) -> list[Entry | Unreadable]:
        """Return a folder's entries that may be mail, and a report for each one left out by its name."""
        found = self.mail_entries(folder)
        if not self.leave_out:
            return found
        return [item if isinstance(item, Unreadable) else self.left_out(item) or item for item in found]

    def left_out(self, entry: Entry) -> LeftOutFolder | None:
        """Return a report if an entry must be left out (its name means trash or the like), otherwise None."""
        role = role_of(entry.name)
        if role not in self.leave_out or os.path.realpath(entry.path) in self.named_paths:
            return None
        is_read = _is_folder(entry) or _is_mailbox(entry)
        return LeftOutFolder(entry.path, f"{role}, by its name") if is_read else None

    def mail_entries(self, folder: str) -> list[Entry | Unreadable]:
        """Return the entries of a folder that may contain mail; in a Maildir, its messages and subfolders."""
        found = self.unseen_entries(folder)
        folders = {entry.name: entry.path for entry in found if _is_folder(entry)}
        if not maildir.is_maildir(folders):
            return [entry for entry in found if may_be_mail(entry)]
        listed: list[Entry] = []
        problems: list[Entry | Unreadable] = []
        for path in [folders[name] for name in maildir.WITH_MAIL if name in folders]:
            try:
                listed += [entry for entry in self.unseen_entries(path) if may_be_mail(entry)]
            except OSError as error:
                problems.append(Unreadable(path, reason_of(error)))
        messages = [entry for entry in maildir.messages(listed) if not _is_folder(entry)]
        others = folders.keys() - maildir.FOLDERS
        below = [entry for entry in found if entry.name in others and may_be_mail(entry)]
        return problems + messages + below

    def unseen_entries(self, folder: str) -> list[Entry]:
        """Return a folder's entries except those to skip, sorted; [] if the folder was visited before."""
        real = os.path.realpath(folder)
        if real in self.seen:
            return []
        self.seen.add(real)
        found = sorted(_listed(folder), key=lambda entry: entry.name)
        return [entry for entry in found if not self.is_skipped(entry, real)]

    def is_skipped(self, entry: Entry, folder: str) -> bool:
        """Return whether to skip an entry: it is in `without`, or links to a path in `without` or below."""
        if not entry.is_symlink():
            return os.path.join(folder, entry.name) in self.without
        target = os.path.realpath(entry.path)
        return any(target == path or target.startswith(path + os.sep) for path in self.without)


def _listed(folder: str) -> Sequence[Entry]:
    if is_address(folder):
        return remote.entries(folder)
    with os.scandir(folder) as found:
        return list(found)


def is_stream(path: str) -> bool:
    """Return whether a file can be read only once or only in this process, such as a pipe or /dev/stdin."""
    return path.startswith(_OF_THIS_PROCESS) or (not os.path.isfile(path) and os.path.exists(path))


def start_of(path: str) -> bytes:
    """Return the first bytes of a file, decompressed; b"" if it cannot be read (reported later)."""
    return gather(ByteStream(decompressed(file_blocks(path))), FIRST_BYTES)


def may_be_mail(entry: Entry) -> bool:
    """Return whether an entry may contain mail, by its name; one that begins with a dot must be a Maildir."""
    if entry.name[0] == ".":
        folders = (os.path.join(entry.path, name) for name in maildir.WITH_MAIL)
        return _is_folder(entry) and any(map(is_folder, folders))
    return not entry.name.startswith(_NO_MAIL) and entry.name not in _NO_MAIL_NAMES


def is_folder(path: str) -> bool:
    """Return whether a path or address is that of a folder."""
    return remote.kind(path) == remote.FOLDER if is_address(path) else os.path.isdir(path)


def _is_folder(entry: Entry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_mailbox(entry: Entry) -> bool:
    try:
        return entry.is_file() and is_mailbox(entry.path, start_of(entry.path))
    except OSError:  # a link to itself
        return False
