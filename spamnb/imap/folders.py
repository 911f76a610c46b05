"""Find the folder for each purpose: by `imap.toml`, by the server's mark, or by the name of the folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from spamnb.errors import DataError
from spamnb.imap.accounts import MOVE
from spamnb.labels import HAM, SPAM
from spamnb.mailboxes.roles import ARCHIVE, JUNK, SENT, TRASH, role_of

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

ALL = "all"  # found by the server's mark only: no name is reliable
Found = Sequence[tuple[str, frozenset[str]]]  # names, and their flags in lower case
# How a server marks a folder (RFC 6154), and the role that its name may indicate.
MARKS = {
    "junk": ("\\junk", JUNK),
    "sent": ("\\sent", SENT),
    "archive": ("\\archive", ARCHIVE),
    "trash": ("\\trash", TRASH),
    "all": ("\\all", ALL),
}


@dataclass(frozen=True)
class Roles:
    """The folders of an account by their purpose, such as `junk`; "" if there is no folder for a purpose."""

    inbox: tuple[str, ...]
    ham: tuple[str, ...]
    junk: str
    unsure: str
    sent: str
    sort: dict[str, str] = field(default_factory=dict)  # label → folder
    trash: str = ""
    all: str = ""  # holds the mail of the other folders, too

    @property
    def labels(self) -> dict[str, str]:
        """A dict {folder: label}: mail that the owner moves to this folder is learned under this label."""
        junk = {self.junk: SPAM} if self.junk else {}
        return junk | {folder: label for label, folder in self.sort.items()}

    @property
    def homes(self) -> dict[str, str]:
        """A dict {folder: label of its mail}: all of `labels`, and ham for inboxes and for folders of ham."""
        return self.labels | dict.fromkeys((*self.inbox, *self.ham), HAM)

    @property
    def put_away(self) -> tuple[str, ...]:
        """The folders to which spamnb moves mail from an inbox."""
        return (*self.labels, *([self.unsure] if self.unsure else []))


def roles_in(account: Account, listed: Found, warn: Callable[[str, DataError], None] | None = None) -> Roles:
    """Find the folder for each purpose. If a folder named in imap.toml is missing, call `warn`; if `warn` is
    None or the folder is Junk, raise DataError."""
    names = [name for name, _ in listed]

    def found(name: str) -> str:
        try:
            return named(name, names)
        except DataError as error:
            if warn is None:
                raise
            warn(name, error)
            return ""

    junk = named(account.junk, names) or marked("junk", listed)  # else spam could not be moved
    sent = found(account.sent) if account.sent else marked("sent", listed)
    inbox, ham = (tuple(filter(None, map(found, given))) for given in (account.inbox, account.ham))
    sort = {label: name for label, folder in account.sort.items() if (name := found(folder))}
    trash, everything = (marked(role, listed) for role in ("trash", "all"))
    roles = Roles(inbox, ham, junk, found(account.unsure), sent, sort, trash, everything)
    if account.action == MOVE and not roles.junk:
        raise DataError(
            'there is no Junk folder to move spam to; create one, and name it in imap.toml: junk = "…"'
        )
    for what, folders in (("inbox", roles.inbox), ("ham", roles.ham), ("sort", sort.values())):
        for name in folders:
            if name in (roles.unsure, roles.junk):
                role = "unsure" if name == roles.unsure else "junk"
                raise DataError(f"the folder {name} is the {role} folder; remove it from {what} in imap.toml")
    return roles


def named(name: str, names: Sequence[str]) -> str:
    """Return a folder name of `imap.toml` as the server writes it; raise DataError if `names` lacks it."""
    if not name or name in names:
        return name
    if name.upper() == "INBOX":
        return "INBOX"
    last = {other.replace("/", ".").rpartition(".")[2]: other for other in names}
    near = last.get(name) or next(iter(get_close_matches(name, names, 1)), "")
    what_to_do = f"did you mean {near!r}?" if near else "`spamnb imap check` lists the folders"
    raise DataError(f"there is no folder {name!r}; {what_to_do}")


def marked(role: str, listed: Found) -> str:
    """Return the folder for a role such as "junk": by the server's mark, else by a usual name; "" if none."""
    mark, meaning = MARKS[role]
    for name, flags in listed:
        if mark in flags:
            return name
    return next((name for name, _ in listed if role_of(name.rpartition("/")[2]) == meaning), "")
