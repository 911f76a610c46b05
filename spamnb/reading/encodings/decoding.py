"""Text of what is encoded: bodies, encoded words (RFC 2047), parameters (RFC 2231), as a reader sees them.

Nothing here raises. `headers` and `message` load this module if needed: plain ASCII mail is read without it.
"""

from __future__ import annotations

from binascii import a2b_qp

from spamnb.reading.encodings.charsets import STATEFUL, TWO_BYTES, by_codec, codec
from spamnb.reading.encodings.transfer import decode_base64, undo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.encodings.charsets import Around

    Fields = list[tuple[str, str]]


class Decoding:
    """A text of a message, and how it was read: where that is not as declared, the reasons."""

    __slots__ = ("charset", "encoding", "text", "why_charset", "why_encoding")

    def __init__(self, text: str, encoding: str, why_encoding: str, charset: str, why_charset: str):
        self.text = text
        self.encoding = encoding
        self.why_encoding = why_encoding
        self.charset = charset  # Python's name of the codec
        self.why_charset = why_charset


def read_text(body: bytes, encoding: str, declared: str, around: Around) -> Decoding:
    """Read the body of a leaf; the message around it may name other charsets."""
    undone = undo(body, encoding)
    text, name, why = text_and_charset(undone.data, declared, around)
    return Decoding(text, undone.encoding, undone.why, name, why)


def decode(data: bytes, declared: str = "", around: Around | None = None) -> str:
    """Decode bytes by their declared charset if they fit it, else by the one that is found."""
    return text_and_charset(data, declared, around)[0] if data else ""


def text_and_charset(data: bytes, declared: str, around: Around | None = None) -> tuple[str, str, str]:
    """Return the text of bytes, Python's name of their charset, and why it is not the declared one."""
    name = codec(declared)
    if data.isascii():
        if b"\x1b" not in data and b"\0" not in data and name not in TWO_BYTES:
            name = name if name in STATEFUL else "ascii"
            return by_codec(data, name), name, ""
    elif name in ("", "utf_8"):
        try:
            return data.decode(), "utf_8", "" if name else "it is UTF-8"
        except UnicodeDecodeError:
            pass
    if around is not None:
        around.finds_left -= 1
        if around.finds_left < 0:
            name = name or "cp1252"
            return by_codec(data, name), name, ""
    from spamnb.reading.encodings.detection import find

    name, why = find(data, name, around)
    return by_codec(data, name), name, why


def readable_fields(fields: Fields, around: Around, charset: str) -> Fields:
    """Return header fields as a person would see them; raw bytes are of one charset, if of any.

    `charset` is what the body was read by, if that is known.
    """
    raw = b"\n".join([value.encode("latin-1") for _, value in fields if not value.isascii()])
    if raw:
        charset = text_and_charset(raw, charset, around)[1]
    return [(name, readable_value(value, charset, around)) for name, value in fields]


def readable_value(value: str, raw_charset: str = "", around: Around | None = None) -> str:
    """Return a raw value of a header with each `=?charset?B or Q?text?=` replaced.

    Neighbours of one charset are decoded together: many senders cut a multi-byte character in two.
    """
    if "?" not in value or "=?" not in value:  # one character is sought in a tenth of the time
        is_plain = value.isascii() and "\x1b" not in value and "\0" not in value
        if is_plain and codec(raw_charset) not in STATEFUL:
            return value
        return decode(value.encode("latin-1"), raw_charset, around)
    out: list[str] = []
    words: list[bytes] = []  # bytes of encoded words that wait to be decoded together
    charset = name = written = ""  # of all these words, of the latest, as it is written there
    copied = look = 0  # offsets: what is before is in `out` or `words`; where to search next
    while (start := value.find("=?", look)) >= 0 and (mark := value.find("?", start + 2)) >= 0:
        coding = value[mark + 1] if value.startswith("?", mark + 2) else " "
        if coding not in "bBqQ":
            look = start + 2
            continue
        if (end := value.find("?=", mark + 3)) < 0:
            break
        blank = copied
        while blank < start and value[blank] in " \t\r\n":
            blank += 1
        # White space between two words only separates them.
        between = "" if copied and blank == start else value[copied:start]
        if value[start + 2 : mark] != written:
            written = value[start + 2 : mark]
            name = written.partition("*")[0].strip().lower()  # charset*language
        if between or name != charset:
            out.append(decode(b"".join(words), charset, around))
            out.append(decode(between.encode("latin-1"), raw_charset, around))
            words, charset = [], name
        text = value[mark + 3 : end].encode("latin-1")
        words.append(decode_base64(text) if coding in "bB" else a2b_qp(text, header=True))
        copied = look = end + 2
    out.append(decode(b"".join(words), charset, around))
    out.append(decode(value[copied:].encode("latin-1"), raw_charset, around))
    return "".join(out)


def extended_parameter(found: dict[str, str], base: str, around: Around | None = None) -> str:
    """Decode a parameter by RFC 2231: `base*=charset'language'%41`, or in sections `base*0*=…; base*1=…`."""
    if base + "*" in found:
        sections = [(found[base + "*"], True)]  # the text, and whether it has %41 for A
    else:
        sections = []
        while (name := f"{base}*{len(sections)}") in found or name + "*" in found:
            sections.append((found[name], False) if name in found else (found[name + "*"], True))
    charset = ""
    if sections and sections[0][1]:
        charset, _, tail = sections[0][0].partition("'")
        sections[0] = tail.partition("'")[2], True
    pieces = [_percent(text) if encoded else text.encode("latin-1") for text, encoded in sections]
    return decode(b"".join(pieces), charset, around)


def _percent(text: str) -> bytes:
    # %41 is quoted-printable (=41) with another sign, which binascii decodes in C.
    return a2b_qp(text.replace("=", "=3D").replace("%", "=").encode("latin-1"))
