"""Add the header of a verdict to a message, as spamnb or another filter writes it; keep all other bytes."""

from spamnb.bayes.verdict import REQUIRED, score_text
from spamnb.core.native import header_start
from spamnb.errors import UsageError
from spamnb.labels import HAM, SPAM, sorted_into

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spamnb.bayes.verdict import Verdict

HEADER = "X-Spamnb"
REASON = "-Reason"  # added to the name of the verdict's header, for the reasons
MAX_WORD = 45  # bytes: encoded, a word may have 75 letters
MAX_STARS = 50  # as many as SpamAssassin writes at most


def passed_through(
    raw: bytes,
    verdict: "Verdict",
    style: str = "spamnb",
    header: str = HEADER,
    subject_tag: str = "",
) -> bytes:
    """Put the verdict's headers on top, below an envelope line (`From …`), if any; remove forged ones.

    `header` is the name of the header in the style spamnb; `subject_tag` is put before the subject of spam.
    """
    line_count = raw.count(b"\n")
    newline = b"\r\n" if line_count and line_count == raw.count(b"\r\n") else b"\n"
    start = raw.find(b"\n") + 1 if raw.startswith(b"From ") else 0
    lines = [line.encode("ascii", "replace") for line in header_fields(verdict, style, header)]
    added = newline.join([*lines, b""])
    tag = subject_tag.strip().encode() if verdict.label == SPAM else b""
    is_body = header_start(raw[start : start + 2000]) < 0  # an envelope line and a header's name fit
    if is_body:  # an empty line keeps it body
        added, tag = added + with_tag(b"", tag, newline) + newline, b""
    end = last_header_end(raw, start, newline, is_body)
    names = header_names(style, header)
    envelope, block = without_fields(names, raw[:start]), without_fields(names, raw[start:end])
    body = header_end(block, 0)
    return b"".join((envelope, added, with_tag(block[:body], tag, newline), block[body:], raw[end:]))


def spamnb_fields(verdict: "Verdict") -> list[str]:
    """Return the header in spamnb's style. For a label that is neither ham nor spam, it says `ham; label=…`.

    The label ends with a semicolon, so that a rule for `label=Work;` does not match `label=Workshop;`.
    """
    word, labels = verdict.label, sorted_into(verdict.probabilities)
    if labels and verdict.is_spam is False:
        word = f"{HAM}; label={header_value(word)}" if word in labels else HAM
    fields = f"{word}; score={score_text(verdict.score)}; probability={verdict.probability:.4f}"
    return [f"{HEADER}: {fields}{f'; {verdict.reason}' if verdict.reason else ''}"]


def header_value(label: str) -> str:
    """Return a label in ASCII without semicolons; other characters are encoded as in a URL: %C3%BC."""
    return "".join(chr(b) if b < 128 and b not in b"%;" else f"%{b:02X}" for b in label.encode())


def bogofilter_fields(verdict: "Verdict") -> list[str]:
    """Return the header as bogofilter 1.2.5 writes it; it says Ham for every label except spam."""
    word = {True: "Spam", None: "Unsure", False: "Ham"}[verdict.is_spam]
    spamicity = f"spamicity={verdict.probability:.6f}"
    return [f"X-Bogosity: {word}, tests=bogofilter, {spamicity}, version=spamnb"]


def spamassassin_fields(verdict: "Verdict") -> list[str]:
    """Return the headers as SpamAssassin 4.0 writes them: a flag only for spam, a star for each point."""
    spam, points = verdict.label == "spam", verdict.points
    status = f"{'Yes' if spam else 'No'}, score={points:.1f} required={REQUIRED:.1f} tests=SPAMNB"
    return [
        *(["X-Spam-Flag: YES"] if spam else []),
        f"X-Spam-Level: {'*' * min(MAX_STARS, int(points))}",
        f"X-Spam-Status: {status} autolearn=no autolearn_force=no version=spamnb",
    ]


# By style: the names of its headers, and the function that writes them.
STYLES: "dict[str, tuple[tuple[bytes, ...], Callable[[Verdict], list[str]]]]" = {
    "spamnb": ((HEADER.encode(),), spamnb_fields),
    "bogofilter": ((b"X-Bogosity",), bogofilter_fields),
    "spamassassin": ((b"X-Spam-Flag", b"X-Spam-Level", b"X-Spam-Status"), spamassassin_fields),
}


def check_style(style: str, name: str) -> None:
    """Raise UsageError for an unknown style; `name` is the option or key that set the style."""
    if style not in STYLES:
        raise UsageError(f"{name} must be one of {', '.join(STYLES)}, not {style!r}")


def header_names(style: str, header: str = HEADER) -> "tuple[bytes, ...]":
    """Return the names of a style's headers, and of the header with the reasons."""
    names = (header.encode(),) if style == "spamnb" else STYLES[style][0]
    return *names, (header + REASON).encode()


def header_fields(verdict: "Verdict", style: str, header: str = HEADER) -> list[str]:
    """Return the headers of a verdict in a style."""
    fields = STYLES[style][1](verdict)
    if style == "spamnb":
        fields = [header + field.removeprefix(HEADER) for field in fields]
    return [*fields, f"{header}{REASON}: {in_ascii('; '.join(verdict.why))}"] if verdict.why else fields


def in_ascii(text: str) -> str:
    """Return a text in ASCII for a header: other letters as encoded words, which mail programs decode."""
    text = text.translate({ord(mark): '"' for mark in "“”"})
    if text.isascii():
        return text
    from binascii import b2a_base64

    pieces = [b""]
    for char in text:
        if len(pieces[-1]) + len(char.encode()) > MAX_WORD:
            pieces.append(b"")
        pieces[-1] += char.encode()
    return " ".join([f"=?utf-8?b?{b2a_base64(piece, newline=False).decode()}?=" for piece in pieces])


def with_tag(block: bytes, tag: bytes, newline: bytes) -> bytes:
    """Put a tag before the subject, unless already there; if there is no subject, add one with the tag."""
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
    """Return where the header ends: at the first empty line from `start` on, or at the end of `raw`."""
    if raw.startswith((b"\n", b"\r\n"), start):
        return start
    ends = [at for at in (raw.find(b"\n\n", start), raw.find(b"\n\r\n", start)) if at >= 0]
    return min(ends) + 1 if ends else len(raw)


def field_starts(name: bytes, block: bytes) -> "Iterator[int]":
    """Yield the position of each header with this name in a header block."""
    lower, name = b"\n" + block.lower(), b"\n" + name.lower()
    at = lower.find(name)
    while at >= 0:
        end = block.find(b"\n", at) + 1 or len(block)
        if lower[at + len(name) : end + 1].lstrip(b" \t").startswith(b":"):
            yield at
        at = lower.find(name, at + 1)


def last_header_end(raw: bytes, start: int, newline: bytes, is_body: bool) -> int:
    """Return the latest position at which a mail program may see the end of the header.

    Procmail sees it last: for procmail, a line with a carriage return is not empty, nor is any line after a
    NUL. But procmail never gets mail without an envelope line in which all lines end with CRLF.
    """
    if newline == b"\r\n" and not start:
        return start if is_body else header_end(raw, start)
    is_ended = raw.startswith(b"\n", start) or (is_body and newline == b"\n")
    end = start if is_ended else raw.find(b"\n\n", start) + 1 or len(raw)
    return len(raw) if b"\0" in raw[:end] else end


def without_fields(names: "tuple[bytes, ...]", block: bytes) -> bytes:
    """Remove all headers with these names from a header block, with their continuation lines.

    Python ends a line at a bare carriage return, maildrop at a NUL; Dovecot ends a name at a NUL. So text
    after such a byte is a header for some programs, and part of another header for others. It is removed with
    the byte. maildrop ignores carriage returns: a line is removed, too, if only these interrupt its name.
    """
    lower = [name.lower() for name in names]
    if not any(name in block.replace(b"\r", b"").lower() for name in lower):
        return block
    kept = [b""]  # lines and their ends
    end, dropping = 0, False
    for line in block.replace(b"\0", b"\n").split(b"\n"):
        start, end = end, end + len(line) + 1
        content = line.rstrip(b"\r")
        rest = b""
        if not dropping or not line.lstrip(b"\r").startswith((b" ", b"\t")):
            rest, dropping = without_pieces(lower, content)
        behind = block[start + len(content) : end]
        if rest or not content:
            kept += (rest, behind)
        elif kept[-1].endswith(b"\0"):
            kept[-1] = behind
    return b"".join(kept)


def without_pieces(names: list[bytes], line: bytes) -> tuple[bytes, bool]:
    """Remove headers from a line split by carriage returns; return the rest, and whether its end is gone."""
    pieces: list[bytes] = []
    returns, dropping, has_dropped = 0, False, False
    for text in line.split(b"\r"):
        if text:
            is_more = dropping and returns < 2 and text.find(b":") <= 0
            if not is_more and text[0] not in b" \t":
                dropping = is_field(text, names)
            if not dropping:
                pieces += (b"\r" * (returns - (has_dropped and not pieces)), text)
            has_dropped = has_dropped or dropping
            returns = 0
        returns += 1
    rest = b"".join(pieces)
    return (b"", True) if is_field(rest.replace(b"\r", b""), names) else (rest, dropping)


def is_field(line: bytes, names: list[bytes]) -> bool:
    """Return whether a line is one of these names, perhaps blanks, then a colon or the end of the line."""
    return line.partition(b":")[0].rstrip(b" \t").lower() in names
