"""Fields of header blocks; their values: encoded words (RFC 2047) and parameters (RFC 2045, 2231).

A field's value is "raw" first: unfolded, a character a byte (latin-1), so that the bytes of a boundary or of
an encoded word can be had again. `readable` makes of it what a person would see.
"""

from __future__ import annotations

from binascii import Error, a2b_base64, a2b_qp

from spamnb.reading.charsets import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    Fields = list[tuple[str, str]]

MAX_FIELDS = 10_000  # read of one header block; the rest is left out
MAX_VALUE = 32 * 1024  # characters searched for parameters; a real spam has 14 KB of "; ; ;" before them
MAX_REMEMBERED = 2000  # names of fields
MAX_REMEMBERED_NAME = 60  # characters
MAX_PARAMETERS = 100  # read of one header field; real fields have three
BASE64_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
WHITE = " \t\r\n"  # str.strip() alone would also take \x85 and \xa0, half a character or a cp1252 "…"
NOT_BASE64 = bytes(set(range(256)) - set(BASE64_ALPHABET))


def split_fields(block: bytes) -> tuple[Fields, int]:
    """Return the raw fields of a header block, lower-case names, and where in the block they end.

    They end early at the first line that can be no header: the body starts there when the blank line was
    forgotten. Taking headers for body loses no word; taking body for headers would.
    """
    text = block.decode("latin-1")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    fields: Fields = []
    known = _known_names
    for index, line in enumerate(text.replace("\n ", " ").replace("\n\t", "\t").split("\n", MAX_FIELDS)):
        name, colon, value = line.partition(":")
        lower = known.get(name)  # nearly always known; this loop is nearly half of reading a message
        if lower is None or not colon:
            if is_envelope(line.encode("latin-1")):
                continue
            lower = name.rstrip(" \t")  # RFC 822 allowed a space before the colon
            if not colon or not is_name(lower):
                return fields, _start_of_field(block, index)
            lower = lower.lower()
            if len(known) >= MAX_REMEMBERED:
                known.clear()
            if len(name) <= MAX_REMEMBERED_NAME:
                known[name] = lower
        fields.append((lower, value.strip(WHITE)))
    return fields[:MAX_FIELDS], len(block)


_known_names: dict[str, str] = {}  # name as written → in lower case


def _start_of_field(block: bytes, index: int) -> int:
    """Return the offset of a field in a header block, folded lines counted with their field."""
    at = 0
    for line in block.split(b"\n"):
        if at and line.startswith((b" ", b"\t")):
            index += 1
        if index == 0:
            break
        index -= 1
        at += len(line) + 1
    return at


def is_name(name: str) -> bool:
    """Tell whether a text can be the name of a header."""
    return bool(name) and name.isascii() and name.isprintable() and " " not in name


def is_envelope(line: bytes) -> bool:
    """Recognise the line an mbox puts before a message; quoted where a mailbox was put into a mailbox."""
    return line.startswith((b"From ", b">From "))


def readable(fields: Fields) -> Fields:
    """Return the fields with their values as a person would see them."""
    return [(name, readable_value(value)) for name, value in fields]


def readable_value(value: str) -> str:
    """Return a raw value with each `=?charset?B or Q?text?=` replaced.

    Neighbours of one charset are decoded together: many senders cut a multi-byte character in two.
    """
    if "=?" not in value:
        return value if value.isascii() else decode(value.encode("latin-1"))
    out: list[str] = []
    words: list[bytes] = []  # bytes of encoded words that wait to be decoded together
    charset = ""  # of all these words
    copied = look = 0  # offsets: what is before is in `out` or `words`; where to search next
    while (start := value.find("=?", look)) >= 0 and (mark := value.find("?", start + 2)) >= 0:
        coding = value[mark + 1 : mark + 3].lower()
        if coding not in ("b?", "q?"):
            look = start + 2
            continue
        if (end := value.find("?=", mark + 3)) < 0:
            break
        between = value[copied:start]
        if copied and not between.strip(WHITE):
            between = ""  # white space between two words only separates them
        name = value[start + 2 : mark].partition("*")[0].strip().lower()  # charset*language
        if between or name != charset:
            out += decode(b"".join(words), charset), decode(between.encode("latin-1"))
            words, charset = [], name
        text = value[mark + 3 : end].encode("latin-1")
        words.append(decode_base64(text) if coding == "b?" else a2b_qp(text, header=True))
        copied = look = end + 2
    out += decode(b"".join(words), charset), decode(value[copied:].encode("latin-1"))
    return "".join(out)


def decode_base64(data: bytes) -> bytes:
    """Decode base64 with junk in it, or cut off anywhere."""
    try:
        return a2b_base64(data)
    except Error:
        letters = data.translate(None, NOT_BASE64)
        used = len(letters) - (len(letters) % 4 == 1)  # a lone last letter holds no byte
        return a2b_base64(letters[:used] + b"==")


def parameters(value: str) -> dict[str, str]:
    """Return the parameters of a raw value: lower-case names, readable values (but a raw boundary)."""
    found: dict[str, str] = {}
    value = value[:MAX_VALUE]
    at = value.find(";")
    while at >= 0 and len(found) < MAX_PARAMETERS:
        semicolon = value.find(";", at + 1)
        item = value[at + 1 : semicolon if semicolon >= 0 else len(value)]
        if not item or item.isspace():
            at = semicolon
            continue
        name, equals, text = item.partition("=")
        if text.lstrip().startswith('"'):
            text, end = _quoted(value, value.index('"', at + 1 + len(name)) + 1)
            semicolon = value.find(";", end)
        else:
            text = text.partition(" (")[0].strip(WHITE)  # a comment may follow
        if equals:
            found.setdefault(name.strip().lower(), text)
        at = semicolon
    readable_parameters = {}
    for name, text in found.items():
        base, star, _ = name.partition("*")
        if star:
            readable_parameters[base] = _extended(found, base)
        elif name + "*" not in found:
            readable_parameters.setdefault(name, text if name == "boundary" else readable_value(text))
    return readable_parameters


def _quoted(value: str, start: int) -> tuple[str, int]:
    """Return the quoted string whose text starts at an offset, and where it ends."""
    end = value.find('"', start)
    if end < 0:  # never closed: it probably ends where the next parameter begins
        return value[start:].partition(";")[0].rstrip(WHITE), start
    if value.find("\\", start, end) < 0:
        return value[start:end], end + 1
    text = []
    at = start
    while at < len(value) and value[at] != '"':
        # Only quotes and backslashes are unescaped: else C:\new\file would lose its backslashes.
        if value[at] == "\\" and value[at + 1 : at + 2] in ('"', "\\"):
            at += 1
        text.append(value[at])
        at += 1
    return "".join(text), at + 1


def _extended(found: dict[str, str], base: str) -> str:
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
    return decode(
        b"".join([_percent(text) if encoded else text.encode("latin-1") for text, encoded in sections]),
        charset,
    )


def _percent(text: str) -> bytes:
    # %41 is quoted-printable (=41) with another sign, which binascii decodes in C.
    return a2b_qp(text.replace("=", "=3D").replace("%", "=").encode("latin-1"))
