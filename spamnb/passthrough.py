"""Messages passed through: a header added, in our style or another filter's, all other bytes as they were."""

from spamnb.bayes.verdict import REQUIRED, score_text
from spamnb.labels import HAM, SPAM, sorted_into
from spamnb.reading.headers import header_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spamnb.bayes.verdict import Verdict

HEADER = "X-Spamnb"
MOST_STARS = 50  # as many as SpamAssassin writes at most


def passed_through(
    raw: bytes,
    verdict: "Verdict",
    style: str = "spamnb",
    header: str = HEADER,
    subject_tag: str = "",
) -> bytes:
    """Add the verdict's headers at the start, but after an envelope line, and remove forged ones.

    `header` is the name of ours in the style spamnb; `subject_tag` is put before the subject of spam.
    """
    first_line = raw[: raw.find(b"\n") + 1]
    newline = b"\r\n" if first_line.endswith(b"\r\n") else b"\n"
    start = len(first_line) if raw.startswith(b"From ") else 0
    lines = [line.encode("ascii", "replace") for line in header_fields(verdict, style, header)]
    added = newline.join([*lines, b""])
    tag = subject_tag.strip().encode() if verdict.label == SPAM else b""
    if header_start(raw[start : start + 2000]) < 0:  # room for an envelope line and a header's name
        added += with_tag(b"", tag, newline)
        return raw[:start] + added + newline + raw[start:]  # without a header, all is body, and must stay so
    end = header_end(raw, start)
    block = raw[start:end]
    block = without_fields(header_names(style, header), block)
    return raw[:start] + added + with_tag(block, tag, newline) + raw[end:]


def spamnb_fields(verdict: "Verdict") -> list[str]:
    """Header in our own style; with two labels or more beside spam, ham and the label, if that is sure.

    Something follows the label, so that a rule for `label=Work;` does not match `label=Workshop;`.
    """
    word, labels = verdict.label, sorted_into(verdict.probabilities)
    if labels and verdict.is_spam is False:
        word = f"{HAM}; label={header_value(word)}" if word in labels else HAM
    fields = f"{word}; score={score_text(verdict.score)}; probability={verdict.probability:.4f}"
    return [f"{HEADER}: {fields}{f'; {verdict.reason}' if verdict.reason else ''}"]


def header_value(label: str) -> str:
    """Write a label in ASCII, without a semicolon: other bytes of it as in a URL, %C3%BC."""
    return "".join(chr(b) if b < 128 and b not in b"%;" else f"%{b:02X}" for b in label.encode())


def bogofilter_fields(verdict: "Verdict") -> list[str]:
    """Header as bogofilter 1.2.5 writes it; there, every label but spam is ham."""
    word = {True: "Spam", None: "Unsure", False: "Ham"}[verdict.is_spam]
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
    "spamnb": ((HEADER.encode(),), spamnb_fields),
    "bogofilter": ((b"X-Bogosity",), bogofilter_fields),
    "spamassassin": ((b"X-Spam-Flag", b"X-Spam-Level", b"X-Spam-Status"), spamassassin_fields),
}


def header_names(style: str, header: str = HEADER) -> "tuple[bytes, ...]":
    """Names of the headers that a style uses."""
    return (header.encode(),) if style == "spamnb" else STYLES[style][0]


def header_fields(verdict: "Verdict", style: str, header: str = HEADER) -> list[str]:
    """Headers of a verdict in a style."""
    fields = STYLES[style][1](verdict)
    return [header + field.removeprefix(HEADER) for field in fields] if style == "spamnb" else fields


def with_tag(block: bytes, tag: bytes, newline: bytes) -> bytes:
    """Put a tag before the subject, unless it is there; a message without a subject gets the tag for one."""
    if not tag:
        return block
    at = next(field_starts(b"Subject", block), None)
    if at is None:
        return b"Subject: " + tag + newline + block
    rest = block[block.index(b":", at) + 1 :]
    if rest.lstrip().startswith(tag):
        return block
    between = b"" if rest[:1] in (b" ", b"\t", b"\r", b"\n", b"") else b" "
    return block[: len(block) - len(rest)] + b" " + tag + between + rest


def header_end(raw: bytes, start: int) -> int:
    """Position of the first empty line, where every mail program ends the header; else the message's end."""
    if raw.startswith((b"\n", b"\r\n"), start):
        return start
    ends = [at for at in (raw.find(b"\n\n", start), raw.find(b"\n\r\n", start)) if at >= 0]
    return min(ends) + 1 if ends else len(raw)


def field_starts(name: bytes, block: bytes) -> "Iterator[int]":
    """Yield the position of every field of a name in a header block."""
    lower, name = b"\n" + block.lower(), b"\n" + name.lower()
    at = lower.find(name)
    while at >= 0:
        end = block.find(b"\n", at) + 1 or len(block)
        if lower[at + len(name) : end + 1].lstrip(b" \t").startswith(b":"):
            yield at
        at = lower.find(name, at + 1)


def without_fields(names: "tuple[bytes, ...]", block: bytes) -> bytes:
    """Remove every field of some names from a header block, its continuation lines included.

    A bare carriage return ends a line for some readers, who then see a header of ours that others see within
    another: it is removed from there, with the carriage return before it. It is none behind an empty line.
    """
    lower = [name.lower() for name in names]
    text = block.lower()
    if not any(name in text for name in lower):
        return block
    kept: list[bytes] = []
    dropping = after_return = empty_seen = False
    for line in block.splitlines(keepends=True):
        end = b"\r\n" if line.endswith(b"\r\n") else line[-1:] if line.endswith((b"\r", b"\n")) else b""
        if not line.startswith((b" ", b"\t")):
            name, colon, _ = line.partition(b":")
            is_field = bool(colon) and not (after_return and empty_seen)
            dropping = is_field and name.rstrip(b" \t").lower() in lower
        if not dropping:
            kept.append(line)
        elif kept and kept[-1].endswith(b"\r"):  # what is before it ends where it ends
            kept[-1] = kept[-1][:-1] + end
        after_return = end == b"\r"
        empty_seen = empty_seen or line == end
    return b"".join(kept)
