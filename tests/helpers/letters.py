"""Messages to deliver in tests: unusual and hostile ones, then real ones."""

import os
from itertools import chain, islice, zip_longest

from helpers.passthrough import ODD
from helpers.paths import SPAMASSASSIN
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages

TORTURE = os.environ.get("SPAMNB_TORTURE")  # a folder of more
# maildrop alone takes 9 s for one line of 3 MB.
MAX_REAL, MAX_SIZE = (1000, 10_000_000) if os.environ.get("SPAMNB_LONG") else (10, 100_000)

# No mail program changes these.
PLAIN = b"Subject: caf\xe9\n\nno ASCII \xff\x80, >From and\nFrom here\n\n\n.\n..\nto the end\n"
BIG = b"Subject: long\n\n" + b"one of ten thousand lines\n" * 10_000  # more than a pipe holds

# No server hands these over, and programs disagree on what of them is the message.
NO_MAIL = {ODD[name] for name in ("nothing", "envelope, no headers", "a sentence from From")}

FORGERIES = [raw for name, raw in ODD.items() if name.startswith(("forged", "our name", "a longer name"))]


def letters(forgeries=None):
    """Return unusual messages (of the forged ones, the first `forgeries`), then ham and spam in turn."""
    left_out = NO_MAIL.union(
        [] if os.environ.get("SPAMNB_LONG") else FORGERIES[forgeries or len(FORGERIES) :]
    )
    folders = [TORTURE] if TORTURE else [SPAMASSASSIN / "ham.mbox.xz", SPAMASSASSIN / "spam.mbox.xz"]
    boxes = [messages([str(folder)]) for folder in folders if os.path.exists(folder)]
    real = (found.data for found in chain.from_iterable(zip_longest(*boxes)) if isinstance(found, RawMessage))
    return [
        raw
        for raw in (*ODD.values(), *islice(real, MAX_REAL))
        if raw not in left_out and len(raw) <= MAX_SIZE
    ]
