"""Messages read from raw bytes: headers and decoded text parts, in one forward pass and bounded work.

What no standard allows is read so that no text is missed: none is dropped because a boundary is wrong, absent
or never closed, a type is malformed, or the header block ends without a blank line.

The value of a header field is "raw" first: unfolded, a character a byte (latin-1), so that the bytes of a
boundary or of an encoded word can be had again. `_readable` makes of it what a person would see. What is
encoded is left to `reading.decoding`, which plain ASCII mail does not load.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.attachments import Attachments
    from spamnb.reading.attachments.contents import Content

    Fields = list[tuple[str, str]]

# Limits of a message, all its parts together. The most in 8,000 real ones: 15 KB of headers, 20 parts.
MAX_HEADER_BYTES = 256 * 1024  # later header blocks are skipped
MAX_TEXT_BYTES = 1024 * 1024  # after transfer decoding; later text is not decoded
MAX_PARTS = 2000  # multiparts included; what follows is read as one text
MAX_NESTING = 100  # open multiparts; one more is read as text
MAX_DELIMITER = 1000  # bytes of a boundary line; the standard allows 74
MAX_DASHED_LINES = 100_000  # lines looked at because they start with "--"; 50 MB of them took 33 s
MAX_FIELDS = 10_000  # read of one header block; the rest is left out
MAX_VALUE = 32 * 1024  # characters searched for parameters; a real spam has 14 KB of "; ; ;" before them
NAME_SLOTS = 512  # names of fields that are kept
MAX_KEPT_NAME = 60  # bytes of each
MAX_PARAMETERS = 100  # read of one header field; real fields have three
MAX_TAGS, MAX_TAG = 4, 30  # taken off a subject, and characters of each

PLAIN = "text/plain"
EMBEDDED = "message/rfc822"
EMBEDDED_TYPES = frozenset((EMBEDDED, "message/global", "message/news"))
# In these, bytes below 0x80 are ASCII; four texts in five are ASCII and declare one of them, or none.
ASCII_CHARSETS = frozenset(("", "us-ascii", "iso-8859-1", "iso-8859-15", "utf-8", "windows-1252"))
# How files start that are no text to be read, though they may be declared as one.
FILE_STARTS = ("BEGIN:VCALENDAR", "%PDF-", "PK\x03\x04", "{\\rtf")
LONGEST_START = 40  # characters with the white space before it
# What filters put before the subject of spam, in brackets or between stars.
TAG_WORDS = frozenset(("spam", "junk", "suspected spam", "possible spam", "probable spam"))
BRACKETS = {"[": "]", "{": "}", "(": ")", "*": "*"}
WHITE = " \t\r\n"  # str.strip() alone would also take \x85 and \xa0, half a character or a cp1252 "…"
LF, CR, DASH, EQUALS = b"\n\r-="
STEP = 2048  # bytes of a header block that are copied to be read; most blocks are shorter


class Part:
    """A leaf of the message, or the head of an embedded one.

    An embedded message gives one Part of type message/rfc822 whose `headers` are the embedded message's own,
    with no text and size 0, and then its leaves. If it is no multipart, its one leaf has the same headers.
    """

    __slots__ = ("charset", "content", "content_type", "disposition", "filename", "headers", "size", "text")

    def __init__(
        self,
        content_type: str,
        headers: Fields,
        text: str | None = None,
        size: int = 0,
        charset: str = "",
        disposition: str = "",
        filename: str = "",
        content: Content | None = None,
    ) -> None:
        self.content_type = content_type  # lower case; "" if the message has no header block
        self.headers = headers  # the part's own; in a message that is no multipart, the message's
        self.text = text  # None if the part is no text
        self.size = size  # bytes of the undecoded body
        self.charset = charset  # as declared, lower case; "" if not declared
        self.disposition = disposition  # "attachment", "inline", ""
        self.filename = filename
        self.content = content  # of an attachment that could be read, with `text` among it


class Message:
    """A message as it was read: its headers, and its parts."""

    __slots__ = ("body", "data", "fields", "headers", "parts")

    def __init__(
        self, data: bytes, fields: Fields | None, headers: Fields, body: int, parts: list[Part]
    ) -> None:
        self.data = data  # in canonical form
        self.fields = fields  # raw, of the header block; None if there is no such block
        self.headers = headers  # lower-case name, unfolded and decoded value; in order
        self.body = body  # offset in `data`
        self.parts = parts  # in order; none if it is a multipart without parts

    @property
    def has_headers(self) -> bool:
        return self.fields is not None

    def get(self, name: str) -> str | None:
        """Return the first header of a lower-case name."""
        for header, value in self.headers:
            if header == name:
                return value
        return None


def read(raw: bytes) -> Message:
    """Read a message. Any bytes are one: without a header block, all of them are body."""
    data = canonical(raw)
    start = header_start(data)
    reader = _MessageReader(data)
    if start < 0:
        reader.add_leaf("", HeaderBlock(0), len(data))
        return Message(data, None, [], 0, reader.parts)
    block = reader.walk(start)
    return Message(data, block.fields, block.headers, block.body, reader.parts)


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
    while colon < len(data) and colon - at < MAX_DELIMITER and data[colon] != 58:
        colon += 1
    is_header = data.startswith(b":", colon) and not data.startswith(b"//", colon + 1)
    return at if is_header and _lower_name(data, at, colon) else -1


class HeaderBlock:
    """A header block as it is read; at first an empty one."""

    __slots__ = ("body", "content", "fields", "headers")

    def __init__(self, body: int) -> None:
        self.fields: Fields = []  # lower-case names, raw values; in order
        self.headers = self.fields  # with values as a person would see them
        self.content: dict[str, str] = {}  # the first raw value of each name that starts with "content-"
        self.body = body  # offset of what follows the block

    def read(self, data: bytes, limit: int) -> None:
        """Read the fields up to where the body starts; the body is at -1 if the limit comes before it.

        A block ends at a blank line, at a line that starts as a boundary does, or at the first line that can
        be no header: the body starts there when the blank line was forgotten. Taking headers for body loses
        no word; taking body for headers would.
        """
        at = here = self.body  # where the line starts, and where it is read
        most, colon, bits = MAX_FIELDS, -1, 0
        folded = encoded = False
        self.body = _end_of_block(data, at)
        while self.body < 0 and here < limit and len(self.fields) < most:
            for byte in data[here : min(here + STEP, limit)]:
                bits |= byte
                # Constants are faster than names, which C reads again for each byte.
                if byte == 63:
                    if data[here - 1] == EQUALS:  # "=?"
                        encoded = True
                elif byte & 0xCF == 10:  # a line end or ":", of which only the first of a line counts; or "*"
                    if byte != 10:
                        if byte == 58 and colon < at:
                            colon = here
                    elif here + 1 < limit and data[here + 1] in b" \t":
                        folded = True
                    else:
                        if not self.add(data, at, colon, here, folded):
                            break
                        at = here + 1
                        folded = False
                        self.body = _end_of_block(data, at)
                        if self.body >= 0 or len(self.fields) == most:
                            break
                here += 1
        if self.body < 0 and at < here == limit:
            self.add(data, at, colon, limit, folded)
        if encoded or bits >= 0x80:
            self.headers = [(name, _readable(value)) for name, value in self.fields]

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
        value = _stripped(data, colon + 1, end)
        if folded:
            value = (value.replace("\r\n", "") if value.find("\r") >= 0 else value).replace("\n", "")
        if name == "subject" and value[:1] in BRACKETS:
            subject = without_tag(value)
            if subject != value and not subject:
                return True  # a message without a subject got one that says "spam"
            value = subject
        self.fields.append((name, value))
        if name[0] == "c" and name.startswith("content-"):
            self.content.setdefault(name, value)
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
    slot = (31 * data[start] + 7 * data[end - 1] + end - start) % NAME_SLOTS
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


def _stripped(data: bytes, start: int, end: int) -> str:
    """Return the raw text between two offsets, without white space around it."""
    while start < end and data[start] in b" \t\r\n":
        start += 1
    while start < end and data[end - 1] in b" \t\r\n":
        end -= 1
    return data[start:end].decode("latin-1")


def _readable(value: str) -> str:
    """Return a raw value as a person would see it."""
    if value.isascii() and "=?" not in value:
        return value
    from spamnb.reading.decoding import readable_value

    return readable_value(value)


def parameters(value: str) -> dict[str, str]:
    """Return the parameters of a raw value: lower-case names, readable values (but a raw boundary)."""
    found: dict[str, str] = {}
    value = value[:MAX_VALUE]
    semicolon = value.find(";")
    if semicolon < 0:
        return found
    while semicolon >= 0 and len(found) < MAX_PARAMETERS:
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
        found.setdefault(value[at:equals].strip().lower(), text)
    if value.isascii() and value.find("*") < 0 and value.find("=?") < 0:
        return found
    readable_parameters = {}
    for name, text in found.items():
        base, star, _ = name.partition("*")
        if star:
            from spamnb.reading.decoding import extended_parameter

            readable_parameters[base] = extended_parameter(found, base)
        elif name + "*" not in found:
            readable_parameters.setdefault(name, text if name == "boundary" else _readable(text))
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


def _media_type(value: str | None, default: str) -> str:
    if value is None:
        return default
    words = value.partition(";")[0].split(None, 1)
    return words[0].lower() if words and words[0].count("/") == 1 else PLAIN


def _is_textual(content_type: str) -> bool:
    return content_type.startswith(("text/", "message/")) or content_type in ("", "application/xhtml+xml")


def _is_file(text: str, named: bool) -> bool:
    """Tell whether a text is a file of another kind by its start; a named one may be a page."""
    start = text[:LONGEST_START].lstrip("\ufeff \t\n")
    return start.startswith(FILE_STARTS) or (named and start.startswith("<"))


class _MessageReader:
    """One pass over a message. `at` is always the start of a line; the searches only ever move forward."""

    __slots__ = (
        *("attachments", "blank", "blank_crlf", "dashed_left", "data", "header_left"),
        *("levels", "parts", "text_left", "types"),
    )

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.parts: list[Part] = []
        self.levels: dict[bytes, int] = {}  # "--boundary" of each open multipart → its depth
        self.types: list[str] = []  # for each open multipart, the type of its parts that state none
        self.blank = -1  # offset of the next blank line of LF alone; blank_crlf: of CR LF
        self.blank_crlf = -1
        self.header_left = MAX_HEADER_BYTES
        self.text_left = MAX_TEXT_BYTES
        self.dashed_left = MAX_DASHED_LINES
        self.attachments: Attachments | None = None  # reads them, once there is one

    def walk(self, at: int) -> HeaderBlock:
        """Add all parts from the header block that starts here, and return this block."""
        outermost: HeaderBlock | None = None
        default = PLAIN
        embedded = False
        left = MAX_PARTS
        while left > 0 and 0 <= at < len(self.data):
            left -= 1
            begin = at
            block = self.header_block(begin)
            if outermost is None:
                outermost = block
            if embedded:
                self.parts.append(Part(EMBEDDED, block.headers))
            declared = block.content.get("content-type")
            content_type = _media_type(declared, default)
            # The standard forbids to encode an embedded message; where it is encoded, it is read as a text.
            embedded = content_type in EMBEDDED_TYPES and not block.transfer_encoding()
            at = block.body
            if embedded:
                default = PLAIN
                continue
            depth = -1
            if declared and content_type.startswith("multipart/"):
                depth = self.open(content_type, declared)
                content_type = PLAIN  # what it is read as, unless a delimiter of its own turns up
            end, begins, at = self.next_entity(block.body)
            nothing = end == begin  # two delimiters in a row
            if not nothing and (depth < 0 or begins != depth):
                self.add_leaf(content_type, block, end)
            if at >= 0:
                default = self.types[-1]
        if 0 <= at < len(self.data):
            self.add_leaf(PLAIN, HeaderBlock(at), len(self.data))
        return outermost or HeaderBlock(at)

    def header_block(self, at: int) -> HeaderBlock:
        """Read the header block at an offset."""
        limit = min(len(self.data), at + self.header_left)
        block = HeaderBlock(at)
        block.read(self.data, limit)
        if block.body < 0:
            end, block.body = self.next_blank_line(at)
            dashes = self.data.find(b"\n--", at, end)
            if dashes >= 0:
                block.body = dashes + 1
        self.header_left -= min(block.body, limit) - at
        return block

    def next_blank_line(self, at: int) -> tuple[int, int]:
        """Return the end of the line before the next blank line, and the start of the line after it."""
        data = self.data
        # -1 % (n + 1) is n: a line that is not found counts as found at the end, and is not searched again.
        if self.blank < at:
            self.blank = data.find(b"\n\n", at) % (len(data) + 1)
        if self.blank_crlf < at:
            self.blank_crlf = data.find(b"\n\r\n", at) % (len(data) + 1)
        if self.blank <= self.blank_crlf:
            return self.blank, min(self.blank + 2, len(data))
        return self.blank_crlf, self.blank_crlf + 3

    def open(self, content_type: str, value: str) -> int:
        """Look for a multipart's boundary from now on; return its depth, or -1 if that cannot be done."""
        delimiter = b"--" + parameters(value).get("boundary", "").rstrip(" \t").encode("latin-1", "replace")
        depth = len(self.types)
        if not 2 < len(delimiter) < MAX_DELIMITER or delimiter in self.levels or depth == MAX_NESTING:
            return -1
        self.levels[delimiter] = depth
        self.types.append(EMBEDDED if content_type == "multipart/digest" else PLAIN)
        return depth

    def close(self, depth: int) -> None:
        """Forget the open multiparts from this depth on."""
        while len(self.types) > depth:
            self.types.pop()
            self.levels.popitem()  # the last one put in

    def next_entity(self, at: int) -> tuple[int, int, int]:
        """Find the end of the body that starts here, the depth of the multipart that a part begins in there
        (-1: it was closed, or the message ends), and where the next part starts (-1: there is none).

        A delimiter of an outer multipart closes the inner ones.
        """
        end, after, depth, closes = self.next_delimiter(at)
        begins = -1 if closes else depth
        while closes:
            self.close(depth)
            _, after, depth, closes = self.next_delimiter(after)
        if depth < 0:
            return end, begins, -1
        self.close(depth + 1)
        return end, begins, after

    def next_delimiter(self, at: int) -> tuple[int, int, int, bool]:
        """Find the next delimiter of any open multipart: the end of the text before it, the start of the line
        after it, the depth of that multipart (-1: there is none) and whether this closes it."""
        data, levels = self.data, self.levels
        sought, dashes = b"\n--", at - 1
        if len(levels) == 1 and len(data) < 3 * MAX_DASHED_LINES:  # too short for so many
            sought = b"\n" + next(iter(levels))
        while levels and self.dashed_left and (dashes := data.find(sought, dashes)) >= 0:
            self.dashed_left -= 1
            stop = data.find(b"\n", dashes + 1, dashes + MAX_DELIMITER + 10)
            line = data[dashes + 1 : stop if stop >= 0 else dashes + MAX_DELIMITER + 10].rstrip()
            depth = levels.get(line, -1)
            closes = depth < 0 and line.endswith(b"--") and (depth := levels.get(line[:-2], -1)) >= 0
            if depth >= 0:
                end = dashes - 1 if data[dashes - 1 : dashes] == b"\r" else dashes
                return max(at, end), stop + 1 or len(data), depth, closes
            dashes += 3
        return len(data), len(data), -1, False

    def add_leaf(self, content_type: str, block: HeaderBlock, end: int) -> None:
        """Add the part with this header block, whose body ends at an offset."""
        declared = parameters(block.content.get("content-type", ""))
        disposition = block.content.get("content-disposition", "")
        filename = parameters(disposition).get("filename") or declared.get("name", "")
        charset = declared.get("charset", "").strip("'\" ").lower()
        text, content = None, None
        if _is_textual(content_type):
            text = self.text(block.body, end, block.transfer_encoding(), charset)
        if text is None or _is_file(text, content_type == PLAIN and filename != ""):
            content = self.content(content_type, block, end, charset)
            if content is not None:
                text = content.text
        disposition = disposition.partition(";")[0].strip().lower()
        size = end - block.body
        self.parts.append(
            Part(content_type, block.headers, text, size, charset, disposition, filename, content)
        )

    def content(self, content_type: str, block: HeaderBlock, end: int, charset: str) -> Content | None:
        """Read an attachment by what it is, whatever it is declared as."""
        if end <= block.body:
            return None
        if self.attachments is None:
            from spamnb.reading.attachments import Attachments

            self.attachments = Attachments()
        encoding = block.transfer_encoding()
        return self.attachments.read(self.data, block.body, end, encoding, charset, content_type)

    def text(self, start: int, end: int, encoding: str, charset: str) -> str:
        """Decode the text of a part, up to the most a message may have."""
        text = "\xff"
        if not encoding and charset in ASCII_CHARSETS and end - start <= self.text_left:
            text = self.data[start:end].decode("latin-1")
        if text.isascii():
            self.text_left -= end - start
        else:
            from spamnb.reading.decoding import decode, without_transfer_encoding

            most = self.text_left
            body = self.data[start : min(end, start + 2 * most)]  # base64 needs a third more than its text
            body = without_transfer_encoding(body, encoding)
            if len(body) > most:
                body = body[:most]
                body = body[: body.rfind(b"\n") + 1] or body  # cut at a line end, not within a character
            self.text_left -= len(body)
            text = decode(body, charset)
        return text.replace("\r\n", "\n") if text.find("\r") >= 0 else text
