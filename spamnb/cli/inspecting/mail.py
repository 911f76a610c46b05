"""One message, by its path, by its number in a mailbox, or from standard input."""

from __future__ import annotations

import os

from spamnb.counts.store import FRONT
from spamnb.delivery import standard_input
from spamnb.errors import DataError, NoInput
from spamnb.files import complain
from spamnb.mail.message import canonical, header_start
from spamnb.mail.sources import Unreadable, check, messages

START = 4096  # bytes that are looked at


def one_message(path: str) -> bytes:
    """Of several messages the first."""
    raw = standard_input() if path == "-" else from_file(path)
    if not raw.strip():
        raise DataError(f"{path}: empty; a message has text")
    if FRONT in raw[:64]:
        raise DataError(f"{path}: a model, not a message; to look into it: spamnb inspect --model {path}")
    if header_start(canonical(raw[:START])) < 0 and b"\0" in raw[:START]:
        raise DataError(f"{path}: not a message, but a binary file")
    return raw


def from_file(path: str) -> bytes:
    box, _, digits = path.rpartition(":")
    numbered = digits.isdecimal() and not os.path.exists(path) and os.path.exists(box)
    name, wanted = (box, int(digits)) if numbered else (path, 0)
    check([name])
    if os.path.isfile(name) and not os.path.getsize(name):
        raise DataError(f"{name}: empty; a message has text")
    found = messages([name])
    for place, raw in enumerate(found):
        if isinstance(raw, Unreadable):
            raise raw.error(f"{raw.path}: {raw.why}")
        if (place if raw.index is None else raw.index) == wanted:
            if not numbered and (more := next(found, None)) is not None:
                other = more.path if raw.index is None else f"{name}:{wanted + 1}"
                complain(f"{path}: the first of several messages; for another: spamnb inspect {other}")
            return raw.data
    what = "no such message" if numbered else "no message"
    raise NoInput(f"{path}: there is {what} in it")
