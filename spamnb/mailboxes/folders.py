"""Find files of mail: walk folders, recognise Maildirs, leave out folders of another role."""

from __future__ import annotations

import os

from spamnb.errors import UsageError
from spamnb.mailboxes.formats import FIRST_BYTES, format_of, maildir
from spamnb.mailboxes.roles import role_of
from spamnb.mailboxes.skipped import LeftOutFolder, Unreadable
from spamnb.mailboxes.streams import ByteStream, decompressed, gather, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from spamnb.mailboxes.stores import FolderEntry, Store

# Starts of names of files that mail programs keep beside the mail. Not all of `dovecot*` and `courier*`: a
# folder of list archives may well hold `dovecot.mbox`.
_NO_MAIL = ("dovecot.index", "dovecot.list", "dovecot.mailbox", "dovecot-", "courierimap", "courierpop3")
_NO_MAIL_NAMES = frozenset(("maildirfolder", "subscriptions", "dovecot.sieve", "dovecot.svbin"))


class FolderWalk:
    """A search for every file below some paths of a store, sorted; no folder is entered twice, so loops end.

    `without` are paths that are skipped without a word, with all below them. Folders and mailboxes with a
    role to `leave_out` are reported instead of read, unless they are among the user's `named_paths`.
    """

    def __init__(
        self,
        store: Store,
        named_paths: Sequence[str],
        without: Iterable[str] = (),
        leave_out: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.named_paths = named_paths
        self.named_canonicals: set[Hashable] | None = None  # of `named_paths`, once they are needed
        self.without = self._canonical(without)
        self.leave_out = leave_out
        self.seen: set[Hashable] = set()

    def files(self, path: str) -> Iterator[tuple[str, int] | Unreadable]:
        """Yield path and size of each file at or below a path that the user named."""
        try:
            for entry in self.store.matching(path):
                if entry.path != path and self.store.canonical(entry.path) in self.without:
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
            or not (_is_folder(entry) or self.is_mailbox(entry))
        ):
            return None
        return LeftOutFolder(entry.path, f"{role}, by its name")

    def is_named(self, entry: FolderEntry) -> bool:
        if self.named_canonicals is None:
            self.named_canonicals = self._canonical(self.named_paths)
        return self.store.canonical(entry.path) in self.named_canonicals

    def is_mailbox(self, entry: FolderEntry) -> bool:
        try:
            if not entry.is_file():
                return False
        except OSError:  # a link to itself
            return False
        start = start_of(self.store, entry.path)
        return format_of(entry.path, start, self.store.is_folder) is not None

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
            return _is_folder(entry) and any(map(self.store.is_folder, folders))
        return not entry.name.startswith(_NO_MAIL) and entry.name not in _NO_MAIL_NAMES

    def unseen_entries(self, folder: str) -> Sequence[FolderEntry]:
        identity = self.store.identity(folder)
        if identity in self.seen:
            return []
        self.seen.add(identity)
        found = self.store.entries(folder)
        if not self.without:
            return found
        parent = self.store.canonical(folder)
        return [entry for entry in found if not self.store.is_among(self.without, entry, parent)]

    def _canonical(self, paths: Iterable[str]) -> set[Hashable]:
        return {self.store.canonical(found) for path in paths for found in self.store.matching_paths(path)}


def _is_folder(entry: FolderEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def start_of(store: Store, path: str) -> bytes:
    """First bytes of a file; none if it cannot be read: whoever reads it later reports why."""
    return gather(ByteStream(decompressed(store.read(path))), FIRST_BYTES)
