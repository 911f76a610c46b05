"""The message itself with our header in it, and every other byte as it was."""

from __future__ import annotations

from spamnb.mail.message import header_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.verdict import Verdict

NAME = b"X-Spamnb"


def header(verdict: Verdict) -> bytes:
    fields = f"{verdict.label}; score={verdict.score:.4f}; probability={verdict.probability:.4f}"
    return NAME + b": " + fields.encode("ascii", "replace")


def passed_through(raw: bytes, verdict: Verdict) -> bytes:
    """Our header comes first, behind an envelope line; a forged one is removed."""
    first_line = raw[: raw.find(b"\n") + 1]
    newline = b"\r\n" if first_line.endswith(b"\r\n") else b"\n"
    start = len(first_line) if raw.startswith(b"From ") else 0
    ours = header(verdict) + newline
    if header_start(raw[start : start + 2000]) < 0:
        return raw[:start] + ours + newline + raw[start:]  # all body: it must stay so
    end = header_end(raw, start)
    return raw[:start] + ours + without_ours(raw[start:end]) + raw[end:]


def header_end(raw: bytes, start: int) -> int:
    """Where the first empty line begins, as every mail program sees it."""
    if raw.startswith((b"\n", b"\r\n"), start):
        return start
    ends = [at for at in (raw.find(b"\n\n", start), raw.find(b"\n\r\n", start)) if at >= 0]
    return min(ends) + 1 if ends else len(raw)


def without_ours(block: bytes) -> bytes:
    """A header block less every field of our name, its continuation lines included."""
    lower, name = b"\n" + block.lower(), b"\n" + NAME.lower()
    kept, done = [], 0
    at = lower.find(name)
    while at >= 0:
        end = block.find(b"\n", at) + 1 or len(block)
        if lower[at + len(name) : end + 1].lstrip(b" \t").startswith(b":"):
            while block[end : end + 1] in (b" ", b"\t"):
                end = block.find(b"\n", end) + 1 or len(block)
            kept.append(block[done:at])
            done = end
        at = lower.find(name, at + 1)
    return b"".join(kept) + block[done:]
