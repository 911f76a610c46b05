"""One message in a file: whatever is of no mailbox format, and each file of a Maildir."""

from __future__ import annotations

from spamnb.mailboxes.formats.mbox import MAX_MESSAGE, is_envelope
from spamnb.mailboxes.streams import gather

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def without_envelope(start: bytes) -> bytes:
    """Drop the envelope line of an mbox, which some programs leave before the messages of a Maildir."""
    return start[start.find(b"\n") + 1 or len(start) :] if is_envelope(start) else start


def message(start: bytes, rest: Iterator[bytes]) -> bytes:
    return (start + gather(rest, MAX_MESSAGE - len(start)))[:MAX_MESSAGE]
