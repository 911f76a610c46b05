"""Folders by what they are for: as the account says, as the server marks them, or by their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from spamnb.errors import DataError
from spamnb.imap.accounts import MOVE
from spamnb.mailboxes.roles import ARCHIVE, JUNK, SENT, TRASH, UNSENT, role_of

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

Listed = Sequence[tuple[str, frozenset[str]]]  # names, and their flags in lower case
# How a server marks a folder (RFC 6154), and the role that its name may speak of.
MARKS = {
    "junk": ("\\junk", JUNK),
    "sent": ("\\sent", SENT),
    "trash": ("\\trash", TRASH),
    "drafts": ("\\drafts", UNSENT),
    "archive": ("\\archive", ARCHIVE),
}


@dataclass(frozen=True)
class Roles:
    """Folders by what they are for; "" where there is none."""

    inbox: tuple[str, ...]
    ham: tuple[str, ...]
    junk: str
    unsure: str
    sent: str
    trash: str
    drafts: str


def roles_in(account: Account, listed: Listed) -> Roles:
    """Find the folders of an account; one that it names and that is not there is an error."""
    names = [name for name, _ in listed]
    found = {
        role: named(getattr(account, role), names) or marked(role, listed)
        for role in MARKS
        if role != "archive"
    }
    roles = Roles(
        tuple(named(name, names) for name in account.inbox),
        tuple(named(name, names) for name in account.ham),
        unsure=named(account.unsure, names),
        **found,
    )
    if account.action == MOVE and not roles.junk:
        raise DataError('no folder to move spam to; create one, and set junk = "…"')
    others = {getattr(roles, role): role for role in ("unsure", "drafts", "trash", "junk")}
    for what, folders in (("inbox", roles.inbox), ("ham", roles.ham)):
        for name in folders:
            if name in others:
                raise DataError(f"the folder {name} cannot be {what}: it is that of {others[name]}")
    return roles


def named(name: str, names: Sequence[str]) -> str:
    """Return the name as the server has it."""
    if not name or name in names:
        return name
    if name.upper() == "INBOX":
        return "INBOX"
    last = {other.replace("/", ".").rpartition(".")[2]: other for other in names}
    near = last.get(name) or next(iter(get_close_matches(name, names, 1)), "")
    raise DataError(f"there is no folder {name!r}" + (f"; did you mean {near!r}?" if near else ""))


def marked(role: str, listed: Listed) -> str:
    """Find the folder that the server marks, else one whose name tells."""
    mark, meaning = MARKS[role]
    for name, flags in listed:
        if mark in flags:
            return name
    return next((name for name, _ in listed if role_of(name.rpartition("/")[2]) == meaning), "")
