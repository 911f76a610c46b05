"""Messages attached to a message; users forward mail in this way to have it learned unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spamnb.core.native import canonical, decode_transfer_encoding, read_head

MAX_DEPTH = 5  # of nested multiparts
MAX_ATTACHED = 1000
KINDS = ("message/rfc822", "message/global")


def attached(raw: bytes) -> list[bytes]:
    """Return the messages attached to the message `raw`, but not those attached to an attached message."""
    found = _attached(canonical(raw), MAX_DEPTH)
    return [message for message, _ in zip(found, range(MAX_ATTACHED), strict=False) if message.strip()]


def _attached(part: bytes, depth: int) -> Iterator[bytes]:
    head, _, body = (b"" if part.startswith(b"\n") else b"\n" + part).partition(b"\n\n")
    fields = read_head(head[1:] + b"\n\n")
    declared = fields.get("content-type") or ""
    kind = declared.partition(";")[0].strip().lower()
    if kind.startswith("multipart/") and depth:
        delimiter = rb"\n--%s(?:--)?[ \t]*(?=\n|\Z)" % re.escape(_boundary(declared))
        for inner in re.split(delimiter, b"\n" + body)[1:]:
            yield from _attached(inner[1:], depth - 1)
    elif kind in KINDS or ".eml" in (declared + (fields.get("content-disposition") or "")).lower():
        yield decode_transfer_encoding(body, fields.get("content-transfer-encoding") or "", False)[0]


def _boundary(declared: str) -> bytes:
    value = declared[declared.lower().find("boundary=") :].partition("=")[2]
    quoted = value.startswith('"')
    return (value[1:].partition('"')[0] if quoted else value.partition(";")[0].strip()).encode()
