"""Messages passed through: a header added, in our style or another filter's, all other bytes as they were."""

from spamnb.bayes.verdict import REQUIRED
from spamnb.reading.message import header_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.bayes.verdict import Verdict

MOST_STARS = 50  # as many as SpamAssassin writes at most


def passed_through(raw: bytes, verdict: "Verdict", style: str = "spamnb") -> bytes:
    """Add the verdict's headers at the start, but after an envelope line, and remove forged ones."""
    names, fields_of = STYLES[style]
    first_line = raw[: raw.find(b"\n") + 1]
    newline = b"\r\n" if first_line.endswith(b"\r\n") else b"\n"
    start = len(first_line) if raw.startswith(b"From ") else 0
    added = "\n".join([*fields_of(verdict), ""]).encode("ascii", "replace").replace(b"\n", newline)
    if header_start(raw[start : start + 2000]) < 0:  # room for an envelope line and a header's name
        return raw[:start] + added + newline + raw[start:]  # without a header, all is body, and must stay so
    end = header_end(raw, start)
    block = raw[start:end]
    for name in names:
        block = without_fields(name, block)
    return raw[:start] + added + block + raw[end:]


def spamnb_fields(verdict: "Verdict") -> list[str]:
    fields = f"{verdict.label}; score={verdict.score:.4f}; probability={verdict.probability:.4f}"
    return [f"X-Spamnb: {fields}"]


def bogofilter_fields(verdict: "Verdict") -> list[str]:
    """Header as bogofilter 1.2.5 writes it; there, every label but spam and unsure is ham."""
    word = {"spam": "Spam", "unsure": "Unsure"}.get(verdict.label, "Ham")
    spamicity = f"spamicity={verdict.probability:.6f}"
    return [f"X-Bogosity: {word}, tests=bogofilter, {spamicity}, version=spamnb"]


def spamassassin_fields(verdict: "Verdict") -> list[str]:
    """Headers as SpamAssassin 4.0 writes them: the flag for spam only, a star for each whole point."""
    spam, points = verdict.label == "spam", verdict.points
    status = f"{'Yes' if spam else 'No'}, score={points:.1f} required={REQUIRED:.1f} tests=SPAMNB"
    return [
        *(["X-Spam-Flag: YES"] if spam else []),
        f"X-Spam-Level: {'*' * min(MOST_STARS, int(points))}",
        f"X-Spam-Status: {status} autolearn=no autolearn_force=no version=spamnb",
    ]


# By style: the header names it uses, and the function that writes its fields.
STYLES: "dict[str, tuple[tuple[bytes, ...], Callable[[Verdict], list[str]]]]" = {
    "spamnb": ((b"X-Spamnb",), spamnb_fields),
    "bogofilter": ((b"X-Bogosity",), bogofilter_fields),
    "spamassassin": ((b"X-Spam-Flag", b"X-Spam-Level", b"X-Spam-Status"), spamassassin_fields),
}


def header_end(raw: bytes, start: int) -> int:
    """Position of the first empty line, where every mail program ends the header; else the message's end."""
    if raw.startswith((b"\n", b"\r\n"), start):
        return start
    ends = [at for at in (raw.find(b"\n\n", start), raw.find(b"\n\r\n", start)) if at >= 0]
    return min(ends) + 1 if ends else len(raw)


def without_fields(name: bytes, block: bytes) -> bytes:
    """Remove every field of a name from a header block, its continuation lines included."""
    lower, name = b"\n" + block.lower(), b"\n" + name.lower()
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
