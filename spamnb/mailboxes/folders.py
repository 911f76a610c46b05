"""Finding files of mail: folders walked, Maildirs known as such, folders of another role left out."""

from __future__ import annotations

import os

from spamnb.errors import UsageError
from spamnb.mailboxes import mbox
from spamnb.mailboxes.roles import role_of
from spamnb.mailboxes.skipped import LeftOut, Unreadable
from spamnb.mailboxes.stores import FOLDER, unique_part
from spamnb.mailboxes.streams import Source, gather, unpacked, why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from spamnb.mailboxes.stores import Entry, Store

# What mail programs keep beside the mail. Not all of `dovecot*` and `courier*`: a folder of list archives
# may well hold `dovecot.mbox`.
_BESIDE = ("dovecot.index", "dovecot.list", "dovecot.mailbox", "dovecot-", "courierimap", "courierpop3")
_BESIDE_NAMES = frozenset(("maildirfolder", "subscriptions", "dovecot.sieve", "dovecot.svbin"))


class Walk:
    """Every file below some paths of a store with its size, sorted; no folder is entered twice, so loops end.

    `without` are paths that are passed over silently, with all below them. Folders and mailboxes that have
    one of the roles to `leave_out` are reported, but `own_paths`, which the user named, are read.
    """

    def __init__(
        self,
        store: Store,
        own_paths: Sequence[str],
        without: Iterable[str] = (),
        leave_out: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.own_paths = own_paths
        self.own_places: set[Hashable] | None = None  # found out when first asked for
        self.without = self._places(without)
        self.leave_out = leave_out
        self.seen: set[Hashable] = set()

    def files(self, path: str) -> Iterator[tuple[str, int] | Unreadable]:
        """Path and size of each file at or below a path that the user named."""
        try:
            for entry in self.store.named(path):
                if entry.path != path and self.store.place(entry.path) in self.without:
                    raise UsageError(f"{entry.path}: named under two labels; once is right")
                yield from self.below(entry)
        except OSError as error:
            yield Unreadable(path, why(error))

    def below(self, entry: Entry) -> Iterator[tuple[str, int] | Unreadable]:
        waiting: list[Entry | Unreadable] = [entry]  # no recursion: folders may nest deeply
        while waiting:
            item = waiting.pop()
            if isinstance(item, Unreadable):
                yield item
                continue
            try:
                if item.is_dir():
                    waiting += reversed(self.wanted(self.entries(item.path)))
                elif item.is_file() and (size := item.stat().st_size):
                    yield item.path, size
            except FileNotFoundError:  # gone or renamed: the one who opens it looks for it
                yield item.path, 0
            except OSError as error:
                yield Unreadable(item.path, why(error))

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
            or not (_is_folder(entry) or self.is_mailbox(entry))
        ):
            return None
        return LeftOut(entry.path, f"{role}, by its name")

    def is_named(self, entry: Entry) -> bool:
        if self.own_places is None:
            self.own_places = self._places(self.own_paths)
        return self.store.place(entry.path) in self.own_places

    def is_mailbox(self, entry: Entry) -> bool:
        try:
            if not entry.is_file():
                return False
        except OSError:  # a link to itself
            return False
        return mbox.is_envelope(gather(Source(unpacked(self.store.read(entry.path))), mbox.MAX_ENVELOPE))

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
            mail |= {unique_part(entry.name): entry for entry in listed if self.is_welcome(entry)}
        messages = [mail[unique] for unique in sorted(mail) if not _is_folder(mail[unique])]
        below = folders.keys() - {"cur", "new", "tmp"}
        return problems + messages + [one for one in found if one.name in below and self.is_welcome(one)]

    def is_welcome(self, entry: Entry) -> bool:
        if entry.name[0] == ".":  # as Maildir++ names its folders
            return _is_folder(entry) and any(self._has(entry.path, name) for name in ("cur", "new"))
        return not entry.name.startswith(_BESIDE) and entry.name not in _BESIDE_NAMES

    def listed(self, folder: str) -> Sequence[Entry]:
        identity = self.store.identity(folder)
        if identity in self.seen:
            return []
        self.seen.add(identity)
        found = self.store.listed(folder)
        if not self.without:
            return found
        place = self.store.place(folder)
        return [entry for entry in found if not self.store.is_among(self.without, entry, place)]

    def _has(self, folder: str, name: str) -> bool:
        return self.store.kind(os.path.join(folder, name)) == FOLDER

    def _places(self, paths: Iterable[str]) -> set[Hashable]:
        return {self.store.place(found) for path in paths for found in self.store.expanded(path)}


def _is_folder(entry: Entry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def in_maildir(store: Store, path: str) -> bool:
    """Whether a file is a Maildir's: then it is one message, even if it begins like an mbox.

    Flags in its name tell, too: object stores keep no empty folders, and often there is nothing new.
    """
    folder, name = os.path.split(path)
    maildir, sub = os.path.split(folder)
    if sub not in ("new", "cur"):
        return False
    return ":2," in name or all(store.kind(os.path.join(maildir, one)) == FOLDER for one in ("new", "cur"))
