"""One message, by its path, by its number in a mailbox, or from standard input."""

from __future__ import annotations

import os

from spamnb.delivery import read_stdin
from spamnb.errors import DataError, NoInput
from spamnb.files import complain
from spamnb.mailboxes.skipped import PassedOver, Unreadable
from spamnb.mailboxes.sources import check, messages, split_number
from spamnb.reading.message import canonical, header_start
from spamnb.store.stored_model import SIGNATURE

START = 4096  # bytes that are searched for headers


def read_one_message(path: str) -> bytes:
    """Read a message, of several in a file the first; refuse what is none."""
    raw = read_stdin() if path == "-" else _first_in_file(path)
    if not raw.strip():
        raise DataError(f"{path}: empty; a message has text")
    if SIGNATURE in raw[:64]:
        raise DataError(f"{path}: a model, not a message; to look into it: spamnb inspect --model {path}")
    if header_start(canonical(raw[:START])) < 0 and b"\0" in raw[:START]:
        raise DataError(f"{path}: not a message, but a binary file")
    return raw


def _first_in_file(path: str) -> bytes:
    check([path])
    if os.path.isfile(path) and not os.path.getsize(path):
        raise DataError(f"{path}: empty; a message has text")
    found = (raw for raw in messages([path]) if not isinstance(raw, PassedOver))
    for raw in found:
        if isinstance(raw, Unreadable):
            raise raw.error(f"{raw.path}: {raw.why}")
        if not split_number(path)[0] and (more := next(found, None)) is not None:
            other = more.path if raw.index is None else f"{path}:{raw.index + 1}"
            complain(f"{path}: the first of several messages; for another: spamnb inspect {other}")
        return raw.data
    raise NoInput(f"{path}: there is no message in it")
