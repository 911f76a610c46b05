"""Header blocks read from raw bytes: fields with raw and readable values, and their parameters.

The value of a header field is "raw" first: unfolded, a character a byte (latin-1), so that the bytes of a
boundary or of an encoded word can be had again. What a person would see is made of it by
`reading.encodings.decoding`, which plain ASCII mail does not load.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Fields = list[tuple[str, str]]

# Of a message, all its header blocks together; the most in 8,000 real ones was 15 KB.
MAX_HEADER_BYTES = 1024 * 1024  # what follows is read as one text
MAX_FIELDS = 10_000  # kept of one header block; of the rest, the first of each name below
NEEDED = frozenset(("content-type", "content-transfer-encoding", "content-disposition", "from", "subject"))
MAX_FIRST_NAME = 1000  # bytes before the first colon, where there is a header block
MAX_VALUE = 256 * 1024  # characters searched for parameters; a real spam has 14 KB of "; ; ;" before them
MAX_PARAMETERS = 100  # read of one header field, and those named below; real fields have three
PARAMETERS = frozenset(("boundary", "charset", "filename", "name"))  # that decide how a part is read
NAME_SLOTS = 512  # names of fields that are kept; a power of two
MAX_KEPT_NAME = 60  # bytes of each
MAX_FOUND = 100  # charsets of one message; each takes up to 2 ms
MAX_TAGS, MAX_TAG = 4, 30  # taken off a subject, and characters of each

# What filters put before the subject of spam, in brackets or between stars.
TAG_WORDS = frozenset(("spam", "junk", "suspected spam", "possible spam", "probable spam"))
BRACKETS = {"[": "]", "{": "}", "(": ")", "*": "*"}
WHITE = " \t\r\n"  # str.strip() alone would also take \x85 and \xa0, half a character or a cp1252 "…"
LF, CR, DASH, COLON = b"\n\r-:"


def canonical(raw: bytes) -> bytes:
    """Return the form in which copies of a message are the same: line feeds, no empty lines at the end."""
    if b"\r" in raw:
        # Old Macs end lines with a carriage return alone.
        raw = raw.replace(b"\r\n", b"\n") if b"\n" in raw else raw.replace(b"\r", b"\n")
    return raw.rstrip(b"\n")


def header_start(data: bytes) -> int:
    """Return where the header block starts: after the mbox envelope; -1 if there is no header block."""
    at = 0
    for _ in range(2):  # an mbox in an mbox leaves two envelope lines
        if _is_envelope(data, at):
            at = data.find(b"\n", at) + 1
    if data.startswith(b"\n", at) or data.startswith(b"\r\n", at):
        return at
    colon = at
    while colon < len(data) and colon - at < MAX_FIRST_NAME and data[colon] != 58:
        colon += 1
    is_header = data.startswith(b":", colon) and not data.startswith(b"//", colon + 1)
    return at if is_header and _lower_name(data, at, colon) else -1


class Surroundings:
    """The message around a text: it may name charsets, and only so many are found in it."""

    __slots__ = ("data", "finds_left", "names")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.finds_left = MAX_FOUND
        self.names: list[str] | None = None  # codecs of the charsets that it names, once they are sought


class HeaderBlock:
    """A header block as it is read; at first an empty one."""

    __slots__ = ("body", "content", "fields", "headers", "is_raw")

    def __init__(self, body: int) -> None:
        self.fields: Fields = []  # lower-case names, raw values; in order
        self.headers = self.fields  # with values as a person would see them
        self.content: dict[str, str] = {}  # the first raw value of each name in NEEDED
        self.body = body  # offset of what follows the block
        self.is_raw = False  # has bytes above 0x7f, in whatever charset

    def read(self, around: Surroundings, limit: int) -> None:
        """Read the fields up to where the body starts; the body is at -1 if the limit comes before it.

        A block ends at a blank line, at a line that starts as a boundary does, or at the first line that can
        be no header: the body starts there when the blank line was forgotten. Taking headers for body loses
        no word; taking body for headers would.
        """
        data = source = around.data
        start = at = here = self.body  # of the block, of the line, and where it is read
        colon = -1
        folded = False
        self.body = _end_of_block(data, at)
        while self.body < 0 and here < limit <= len(data):
            if colon < at:  # only the first of a line counts
                while here < limit and source[here] != COLON and source[here] != LF:
                    here += 1
                if here < limit and source[here] == COLON:
                    colon = here
            while here < limit and source[here] != LF:
                here += 1
            if here == limit:
                break
            here += 1
            if here < limit and source[here] in b" \t":
                folded = True
            else:
                if not self.add(data, at, colon, here - 1, folded):
                    break
                at = here
                folded = False
                self.body = _end_of_block(data, at)
        if self.body < 0 and at < here == limit:
            self.add(data, at, colon, limit, folded)
        block = data[start:here].decode("latin-1")
        mark = block.find("?")
        while mark >= 0 and block[mark - 1] != "=":  # half the time of a search for "=?"
            mark = block.find("?", mark + 1)
        self.is_raw = not block.isascii()
        if self.is_raw or mark >= 0 or "\x1b" in block:
            self.headers = []
            self.decode(around, "")

    def decode(self, around: Surroundings, charset: str) -> None:
        """Make values readable that have encoded words or raw bytes, perhaps of the charset of the body."""
        from spamnb.reading.encodings.decoding import readable_fields

        self.headers[:] = readable_fields(self.fields, around, charset)

    def add(self, data: bytes, start: int, colon: int, end: int, folded: bool) -> bool:
        """Add the field between two offsets; if it can be none, the body starts there."""
        name = _lower_name(data, start, colon)
        if not name:
            if _is_envelope(data, start):
                return True
            # RFC 822 allowed a space before the colon.
            written = data[start : max(start, colon)].replace(b"\r\n", b"").replace(b"\n", b"").rstrip(b" \t")
            name = _lower_name(written, 0, len(written))
            if not name:
                self.body = start
                return False
        first, last = colon + 1, end
        while first < last and data[first] in b" \t\r\n":
            first += 1
        while first < last and data[last - 1] in b" \t\r\n":
            last -= 1
        if folded:
            lines = data[first:last]  # bytes are replaced in half the time of characters
            if b"\r" in lines:
                lines = lines.replace(b"\r\n", b"")
            value = lines.replace(b"\n", b"").decode("latin-1")
        else:
            value = data[first:last].decode("latin-1")
        letter = data[start] | 32  # the first of the name, in lower case: spares comparisons of names
        if letter == 115 and name == "subject" and value[:1] in BRACKETS:
            subject = without_tag(value)
            if subject != value and not subject:
                return True  # a message without a subject got one that says "spam"
            value = subject
        kept = len(self.fields) < MAX_FIELDS
        if letter in b"cfs" and name in NEEDED and name not in self.content:
            self.content[name] = value
            kept = True
        if kept:
            self.fields.append((name, value))
        return True

    def transfer_encoding(self) -> str:
        """Return "base64", "quoted" or "" for all that is no encoding."""
        declared = self.content.get("content-transfer-encoding", "").strip('" ').lower()
        return declared[:6] if declared.startswith(("base64", "quoted")) else ""


def without_tag(subject: str) -> str:
    """Return a subject without tags like [spam] or ***SPAM***: a filter's verdicts are no evidence.

    Lists about spam have tags, too, such as [spam-l]: these stay.
    """
    for _ in range(MAX_TAGS):
        start = subject[:MAX_TAG]
        bare = start.lstrip("*") if start.startswith("*") else start[1:]
        word, close, _ = bare.partition(BRACKETS.get(start[:1], " "))
        if not close or word.strip("*?!:-_ ").lower() not in TAG_WORDS:
            break
        end = len(start) - len(bare) + len(word) + 1
        subject = subject[end:].lstrip("*" + WHITE if start[0] == "*" else WHITE)
    return subject


def _end_of_block(data: bytes, at: int) -> int:
    """Return where the body starts if a header block ends before the line at an offset, else -1."""
    if at >= len(data):
        return at
    byte = data[at]
    if byte == LF:
        return at + 1
    if byte == CR and data.startswith(b"\n", at + 1):
        return at + 2
    return at if byte == DASH and at > 0 and data.startswith(b"-", at + 1) else -1


def _lower_name(data: bytes, start: int, end: int) -> str:
    """Return the name of a header in lower case; "" if it is no name: printable ASCII without spaces."""
    if start >= end:
        return ""
    slot = (31 * data[start] + 7 * data[end - 1] + end - start) & (NAME_SLOTS - 1)
    written, name = _latest_names[slot]
    if len(written) == end - start and data.startswith(written, start):
        return name
    written = data[start:end]
    name = written.decode("latin-1").lower()
    if not name.isascii() or not name.isprintable() or name.find(" ") >= 0:
        return ""
    if len(written) <= MAX_KEPT_NAME:
        _latest_names[slot] = written, name
    return name


_latest_names: list[tuple[bytes, str]] = [(b"", "")] * NAME_SLOTS  # as written, lower case


def _is_envelope(data: bytes, at: int) -> bool:
    """Recognise the line an mbox puts before a message; quoted where a mailbox was put into a mailbox."""
    return data.startswith(b"From ", at) or data.startswith(b">From ", at)


def parameters(value: str, charset: str = "", around: Surroundings | None = None) -> dict[str, str]:
    """Return the parameters of a raw value: lower-case names, readable values (but a raw boundary).

    What is beyond ASCII is perhaps of this charset.
    """
    found: dict[str, str] = {}
    value = value[:MAX_VALUE]
    semicolon = value.find(";")
    if semicolon < 0:
        return found
    while semicolon >= 0:
        at = semicolon + 1
        semicolon = value.find(";", at)
        end = semicolon if semicolon >= 0 else len(value)
        equals = value.find("=", at, end)
        if equals < 0:
            continue
        start = equals + 1
        while start < end and value[start].isspace():
            start += 1
        if start < end and value[start] == '"':
            text, end = _quoted(value, start + 1)
            semicolon = value.find(";", end)
        else:
            text = value[equals + 1 : end].partition(" (")[0].strip(WHITE)  # a comment may follow
        name = value[at:equals].strip().lower()
        if len(found) < MAX_PARAMETERS or name.partition("*")[0] in PARAMETERS:
            found.setdefault(name, text)
    if value.isascii() and value.find("*") < 0 and value.find("=?") < 0:
        return found
    from spamnb.reading.encodings.decoding import extended_parameter, readable_value

    readable_parameters = {}
    for name, text in found.items():
        base, star, section = name.partition("*")
        if star:
            if section in ("", "0", "0*"):  # all sections are read with the first
                readable_parameters[base] = extended_parameter(found, base, around)
        elif name + "*" not in found:
            readable_parameters.setdefault(
                name, text if name == "boundary" else readable_value(text, charset, around)
            )
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
