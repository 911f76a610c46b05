"""Finding mail that the owner keeps, which can be learned as ham."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from spamnb.imap.connection import JUNK_KEYWORDS
from spamnb.imap.fetch import heads
from spamnb.imap.state import key_of

if TYPE_CHECKING:
    from spamnb.imap.connection import ImapConnection
    from spamnb.imap.folders import Roles

DAYS = 3  # after which mail that was read and is still in the inbox counts as kept
MAX_LEARNED = 5000  # messages of a folder, the latest, when it is read for the first time
MIN_KEPT = 100  # messages: with fewer, much mail stays unsure


def days_ago(days: int) -> str:
    return (datetime.now(UTC).date() - timedelta(days=days)).strftime("%d-%b-%Y")


def kept(connection: ImapConnection, roles: Roles, name: str) -> list[int]:
    """Return the UIDs of the messages in the open folder that the owner keeps.

    In an inbox, these are messages read or answered, without a junk keyword, older than DAYS days; in a
    folder of all mail (with the inbox), all messages older than DAYS days; elsewhere, all but drafts.
    """
    day, wanted = days_ago(DAYS), ["UNDRAFT"]
    if is_settled_late(roles, name):
        wanted = ["OR", "BEFORE", day, "SENTBEFORE", day]
    if name in roles.inbox:
        wanted += ["OR", "SEEN", "ANSWERED"]
        wanted += [word for keyword in JUNK_KEYWORDS for word in ("UNKEYWORD", keyword)]
    return connection.from_uid(1, *wanted)


def is_settled_late(roles: Roles, name: str) -> bool:
    """Return whether new mail in a folder may soon be moved: the folder is an inbox, or that of all mail."""
    return name in roles.inbox or name == roles.all


def not_kept(connection: ImapConnection, roles: Roles, name: str) -> set[bytes]:
    """For the folder of all mail, return keys of mail in Junk, Trash, or not kept in an inbox; else none."""
    if name != roles.all:
        return set()
    found: set[bytes] = set()
    gone = () if connection.has("X-GM-EXT-1") else (roles.junk, roles.trash)  # Gmail keeps these separate
    for other in filter(None, (*gone, *roles.inbox)):
        connection.open(other, read_only=True)
        stays = set(kept(connection, roles, other)) if other in roles.inbox else set()
        uids = [uid for uid in connection.from_uid(1) if uid not in stays]
        found.update(key_of(head) for _, head in heads(connection, uids[-MAX_LEARNED:]))
    connection.open(name, read_only=True)
    return found
