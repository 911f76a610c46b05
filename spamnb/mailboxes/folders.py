"""Find files of mail: walk folders, recognise Maildirs, leave out folders of another role."""

from __future__ import annotations

import os

from spamnb.errors import UsageError
from spamnb.mailboxes import maildir
from spamnb.mailboxes.chunks import FIRST_BYTES, is_mailbox
from spamnb.mailboxes.locating import store_for
from spamnb.mailboxes.roles import role_of
from spamnb.mailboxes.skipped import LeftOutFolder, Unreadable
from spamnb.mailboxes.streams import ByteStream, decompressed, gather, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from spamnb.mailboxes.stores import FolderEntry

# Starts of names of files that mail programs keep beside the mail. Not all of `dovecot*` and `courier*`: a
# folder of list archives may well hold `dovecot.mbox`.
_NO_MAIL = ("dovecot.index", "dovecot.list", "dovecot.mailbox", "dovecot-", "courierimap", "courierpop3")
_NO_MAIL_NAMES = frozenset(("maildirfolder", "subscriptions", "dovecot.sieve", "dovecot.svbin"))


class FolderWalk:
    """A search for every file below some paths, sorted; no folder is entered twice, so loops end.

    `without` are paths that are skipped without a word, with all below them. Folders and mailboxes with a
    role to `leave_out` are reported instead of read, unless they are among the user's `named_paths`.
    """

    def __init__(self, named_paths: Sequence[str], without: Iterable[str], leave_out: frozenset[str]) -> None:
        self.named_paths = named_paths
        self.named_canonicals: set[str] | None = None  # of `named_paths`, once they are needed
        self.without = _canonicals(without)
        self.leave_out = leave_out
        self.seen: set[str] = set()

    def files(self, path: str) -> Iterator[tuple[str, int] | Unreadable]:
        """Yield path and size of each file at or below a path that the user named."""
        try:
            for entry in store_for(path).matching(path):
                if entry.path != path and store_for(path).canonical(entry.path) in self.without:
                    raise UsageError(f"{entry.path}: given under two labels: choose one")
                yield from self.files_below(entry)
        except OSError as error:
            yield Unreadable(path, reason_of(error))

    def files_below(self, entry: FolderEntry) -> Iterator[tuple[str, int] | Unreadable]:
        waiting: list[FolderEntry | Unreadable] = [entry]  # no recursion: folders may nest deeply
        while waiting:
            item = waiting.pop()
            if isinstance(item, Unreadable):
                yield item
                continue
            try:
                if item.is_dir():
                    waiting += reversed(self.replace_left_out(self.entries(item.path)))
                elif item.is_file() and (size := item.stat().st_size):
                    yield item.path, size
            except FileNotFoundError:  # gone or renamed: looked for when it is opened
                yield item.path, 0
            except OSError as error:
                yield Unreadable(item.path, reason_of(error))

    def replace_left_out(self, found: list[FolderEntry | Unreadable]) -> list[FolderEntry | Unreadable]:
        """Put a report in place of each folder or mailbox that is left out for its role."""
        if not self.leave_out:
            return found
        return [item if isinstance(item, Unreadable) else self.left_out(item) or item for item in found]

    def left_out(self, entry: FolderEntry) -> LeftOutFolder | None:
        role = role_of(entry.name)
        if (
            role not in self.leave_out
            or self.is_named(entry)
            or not (_is_folder(entry) or _is_mailbox(entry))
        ):
            return None
        return LeftOutFolder(entry.path, f"{role}, by its name")

    def is_named(self, entry: FolderEntry) -> bool:
        if self.named_canonicals is None:
            self.named_canonicals = _canonicals(self.named_paths)
        return store_for(entry.path).canonical(entry.path) in self.named_canonicals

    def entries(self, folder: str) -> list[FolderEntry | Unreadable]:
        found = self.unseen_entries(folder)
        folders = {entry.name: entry.path for entry in found if _is_folder(entry)}
        if not maildir.is_maildir(folders):
            return [entry for entry in found if self.may_be_mail(entry)]
        listed: list[FolderEntry] = []
        problems: list[FolderEntry | Unreadable] = []
        for path in [folders[name] for name in maildir.WITH_MAIL if name in folders]:
            try:
                listed += [entry for entry in self.unseen_entries(path) if self.may_be_mail(entry)]
            except OSError as error:
                problems.append(Unreadable(path, reason_of(error)))
        messages = [entry for entry in maildir.messages(listed) if not _is_folder(entry)]
        others = folders.keys() - maildir.FOLDERS
        below = [entry for entry in found if entry.name in others and self.may_be_mail(entry)]
        return problems + messages + below

    def may_be_mail(self, entry: FolderEntry) -> bool:
        if entry.name[0] == ".":  # as Maildir++ names its folders
            folders = (os.path.join(entry.path, name) for name in maildir.WITH_MAIL)
            return _is_folder(entry) and any(map(store_for(entry.path).is_folder, folders))
        return not entry.name.startswith(_NO_MAIL) and entry.name not in _NO_MAIL_NAMES

    def unseen_entries(self, folder: str) -> list[FolderEntry]:
        store = store_for(folder)
        canonical = store.canonical(folder)
        if canonical in self.seen:
            return []
        self.seen.add(canonical)
        return [entry for entry in store.entries(folder) if not self.is_without(entry, canonical)]

    def is_without(self, entry: FolderEntry, folder: str) -> bool:
        """Whether an entry of a folder is to be skipped, or is a link to below what is to be skipped."""
        if not entry.is_symlink():
            return os.path.join(folder, entry.name) in self.without
        target = os.path.realpath(entry.path)
        return any(target == path or target.startswith(path + os.sep) for path in self.without)


def _canonicals(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        store = store_for(path)
        matching = [path]
        if store.is_pattern(path):
            try:
                matching = [entry.path for entry in store.matching(path)]
            except OSError:  # whoever reads it reports that
                continue
        found.update(map(store.canonical, matching))
    return found


def _is_folder(entry: FolderEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_mailbox(entry: FolderEntry) -> bool:
    try:
        return entry.is_file() and is_mailbox(entry.path, start_of(entry.path))
    except OSError:  # a link to itself
        return False


def start_of(path: str) -> bytes:
    """First bytes of a file; none if it cannot be read: whoever reads it later reports why."""
    return gather(ByteStream(decompressed(store_for(path).read(path))), FIRST_BYTES)
