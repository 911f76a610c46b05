"""Fetching header blocks, flags and messages of the open folder in batches, without marking them as read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from spamnb.imap.errors import Broken, ImapError
from spamnb.imap.state import MAX_HEAD

if TYPE_CHECKING:
    from spamnb.imap.connection import ImapConnection

Item = TypeVar("Item")
FETCHED = 200  # messages whose header blocks or flags are fetched at once
WHOLE = 32  # messages fetched at once
MAX_MESSAGE = 1 << 20  # bytes that are fetched of a message; no more of it is read


@dataclass(frozen=True)
class Fetched:
    """A message, or the start of a large one; if it could not be fetched, `why` is the reason."""

    uid: int
    raw: bytes
    why: str = ""


def cut(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def flags(connection: ImapConnection, uids: Sequence[int]) -> dict[int, frozenset[str]]:
    """Return {UID: flags} of messages in the open folder; leave out messages that are missing."""
    found = values(connection, uids, "FLAGS").items()
    return {
        uid: frozenset(flag.decode("utf-8", "replace") for flag in set_ or () if flag) for uid, set_ in found
    }


def values(connection: ImapConnection, uids: Sequence[int], item: str) -> dict[int, Any]:
    """Fetch `item`, such as FLAGS, of messages; return {UID: value}, with None if an answer has no value."""
    fetched = (connection.fetch(some, item) for some in cut(uids, FETCHED))
    return {uid: answer.get(item.encode()) for answers in fetched for uid, answer in answers.items()}


def heads(connection: ImapConnection, uids: Sequence[int], *names: str) -> Iterator[tuple[int, bytes]]:
    """Yield (UID, header block) of each message that can be read; if `names` are given, only these fields."""
    section = f"HEADER.FIELDS ({' '.join(names)})" if names else "HEADER"
    for some in cut(uids, FETCHED):
        for head in _fetch(connection, some, f"BODY.PEEK[{section}]<0.{MAX_HEAD}>"):
            if not head.why:
                yield head.uid, head.raw


def messages(connection: ImapConnection, uids: Sequence[int]) -> Iterator[Fetched]:
    """Yield each message, or the start of a large one; leave out messages that are missing."""
    for some in cut(uids, WHOLE):
        yield from _fetch(connection, some, f"BODY.PEEK[]<0.{MAX_MESSAGE}>")


def _fetch(connection: ImapConnection, uids: Sequence[int], item: str) -> Iterator[Fetched]:
    """Fetch several messages at once; if that fails, fetch each alone, because one may cause the error."""
    try:
        for uid, answer in connection.fetch(uids, item).items():
            found = next((value for name, value in answer.items() if name.startswith(b"BODY[")), None)
            yield Fetched(uid, found if isinstance(found, bytes) else b"")
    except Broken:
        raise
    except ImapError as error:
        if len(uids) == 1:
            yield Fetched(uids[0], b"", str(error))
        else:
            for uid in uids:
                yield from _fetch(connection, [uid], item)
