"""Formats of mailboxes: a module for each says how one is recognised, cut and named; FORMATS lists them.

A module has NAME and NAME_ENDINGS (of files, as they count nothing where a name tells the role of a mailbox);
`recognises`, which tells by the first bytes of a file; `messages`, which yields each message and how many
bytes it takes in the file; `is_deleted`, which tells messages that the mailbox only holds until it is
compacted; `boundary`, which finds the first start of a message in a file from anywhere on,
of which it sees LEAD bytes more: None, if only a file read from its start tells where its messages are.

Files of no format are one message each (`single`), and so are all files of a Maildir (`maildir`).
"""

from spamnb.mailboxes.formats import mbox
from spamnb.mailboxes.formats.maildir import is_in_maildir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FORMATS: "dict[str, Any]" = {known.NAME: known for known in (mbox,)}
FIRST_BYTES = 1000  # bytes that tell what a file is


def format_of(path: str, start: bytes, is_folder: "Callable[[str], bool]") -> "Any":
    """Format of a file that begins with `start`; None if it is one message."""
    for known in FORMATS.values():
        if known.recognises(start):
            return None if is_in_maildir(path, is_folder) else known
    return None
