"""Formats of mailboxes: a module each says how one is recognised, cut and named; FORMATS lists them.

Files of no format are one message each (`single`), and so are all files of a Maildir (`maildir`).
"""

from __future__ import annotations

from spamnb.mailboxes.formats.maildir import is_in_maildir
from spamnb.mailboxes.formats.mbox import MBOX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.mailboxes.formats.mailbox_format import MailboxFormat

FORMATS = (MBOX,)
FIRST_BYTES = 1000  # bytes that tell what a file is


def format_of(path: str, start: bytes, is_folder: Callable[[str], bool]) -> MailboxFormat | None:
    """Format of a file that begins with `start`; None if it is one message."""
    for known in FORMATS:
        if known.recognises(start):
            return None if is_in_maildir(path, is_folder) else known
    return None
