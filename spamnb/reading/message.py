"""Messages read from raw bytes: headers and decoded text parts, in one forward pass and bounded work.

What no standard allows is read so that no text is missed: none is dropped because a boundary is wrong, absent
or never closed, a type is malformed, or the header block ends without a blank line.
"""

from __future__ import annotations

from binascii import a2b_qp

from spamnb.reading.charsets import decode
from spamnb.reading.headers import decode_base64, is_envelope, is_name, parameters, readable, split_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.headers import Fields

# Limits of a message, all its parts together. The most in 8,000 real ones: 15 KB of headers, 20 parts.
MAX_HEADER_BYTES = 256 * 1024  # later header blocks are skipped
MAX_TEXT_BYTES = 1024 * 1024  # after transfer decoding; later text is not decoded
MAX_PARTS = 2000  # multiparts included; what follows is read as one text
MAX_NESTING = 100  # open multiparts; one more is read as text
MAX_DELIMITER = 1000  # bytes of a boundary line; the standard allows 74
MAX_DASHED_LINES = 100_000  # lines looked at because they start with "--"; 50 MB of them took 33 s

PLAIN = "text/plain"
EMBEDDED = "message/rfc822"
EMBEDDED_TYPES = frozenset((EMBEDDED, "message/global", "message/news"))


class Part:
    """A leaf of the message, or the head of an embedded one.

    An embedded message gives one Part of type message/rfc822 whose `headers` are the embedded message's own,
    with no text and size 0, and then its leaves. If it is no multipart, its one leaf has the same headers.
    """

    __slots__ = ("charset", "content_type", "disposition", "filename", "headers", "size", "text")

    def __init__(
        self,
        content_type: str,
        headers: Fields,
        text: str | None = None,
        size: int = 0,
        charset: str = "",
        disposition: str = "",
        filename: str = "",
    ) -> None:
        self.content_type = content_type  # lower case; "" if the message has no header block
        self.headers = headers  # the part's own; in a message that is no multipart, the message's
        self.text = text  # None if the part is no text
        self.size = size  # bytes of the undecoded body
        self.charset = charset  # as declared, lower case; "" if not declared
        self.disposition = disposition  # "attachment", "inline", ""
        self.filename = filename


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
        reader.add_leaf("", {}, [], 0, len(data))
        return Message(data, None, [], 0, reader.parts)
    fields, headers, body = reader.walk(start)
    return Message(data, fields, headers, body, reader.parts)


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
        if is_envelope(data[at : at + 6]):
            at = data.find(b"\n", at) + 1
    if data.startswith((b"\n", b"\r\n"), at):
        return at
    name, colon, rest = data[at : at + MAX_DELIMITER].partition(b":")
    a_link = rest.startswith(b"//")
    return at if colon and is_name(name.decode("latin-1")) and not a_link else -1


def _media_type(value: str | None, default: str) -> str:
    if value is None:
        return default
    words = value.partition(";")[0].split(None, 1)
    return words[0].lower() if words and words[0].count("/") == 1 else PLAIN


def _is_textual(content_type: str) -> bool:
    return content_type.startswith(("text/", "message/")) or content_type in ("", "application/xhtml+xml")


class _MessageReader:
    """One pass over a message. `at` is always the start of a line; the searches only ever move forward."""

    __slots__ = (
        *("blank", "blank_crlf", "dashed_left", "data", "header_left"),
        *("levels", "parts", "text_left", "types"),
    )

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.parts: list[Part] = []
        self.levels: dict[bytes, int] = {}  # "--boundary" of each open multipart → its depth
        self.types: list[str] = []  # for each open multipart, the type of its parts that state none
        self.blank = -1  # offset of the next blank line of LF alone; blank_crlf: of CR LF
        self.blank_crlf = -1 if b"\r" in data else len(data)
        self.header_left = MAX_HEADER_BYTES
        self.text_left = MAX_TEXT_BYTES
        self.dashed_left = MAX_DASHED_LINES

    def walk(self, at: int) -> tuple[Fields, Fields, int]:
        """Add all parts from the header block that starts here; return what header_block does for it."""
        outermost: tuple[Fields, Fields, int] | None = None
        default = PLAIN
        embedded = False
        for _ in range(MAX_PARTS):
            if not 0 <= at < len(self.data):
                break
            begin = at
            fields, headers, at = self.header_block(begin)
            if outermost is None:
                outermost = fields, headers, at
            if embedded:
                self.parts.append(Part(EMBEDDED, headers))
            first = dict(reversed(fields))  # the first field of each name
            content_type = _media_type(first.get("content-type"), default)
            encoding = first.get("content-transfer-encoding", "").strip('" ').lower()
            # The standard forbids to encode an embedded message; where it is encoded, it is read as a text.
            embedded = content_type in EMBEDDED_TYPES and not encoding.startswith(("base64", "quoted"))
            if embedded:
                default = PLAIN
                continue
            depth = -1
            if content_type.startswith("multipart/"):
                depth = self.open(content_type, first["content-type"])
                content_type = PLAIN  # what it is read as, unless a delimiter of its own turns up
            start = at
            end, begins, at = self.next_entity(start)
            nothing = end == begin  # two delimiters in a row
            if not nothing and (depth < 0 or begins != depth):
                self.add_leaf(content_type, first, headers, start, end)
            if at >= 0:
                default = self.types[-1]
        if 0 <= at < len(self.data):
            self.add_leaf(PLAIN, {}, [], at, len(self.data))
        return outermost or ([], [], at)

    def header_block(self, at: int) -> tuple[Fields, Fields, int]:
        """Read the header block at an offset: raw fields, the readable ones, and where the body starts."""
        data = self.data
        if data.startswith((b"\n", b"\r\n"), at):
            return [], [], data.index(b"\n", at) + 1
        end, body = self.next_blank_line(at)
        dashes = data.find(b"\n--", max(at - 1, 0), end)
        if dashes >= 0:  # a part begins before there was a blank line
            end, body = dashes, dashes + 1
        block = data[at : min(end, at + self.header_left)]
        if not block:
            return [], [], body
        self.header_left -= len(block)
        fields, stop = split_fields(block)
        if stop < len(block):
            body = at + stop
        return fields, fields if block.isascii() and b"=?" not in block else readable(fields), body

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
        dashes = at - 1
        while levels and self.dashed_left and (dashes := data.find(b"\n--", dashes)) >= 0:
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

    def add_leaf(
        self, content_type: str, first: dict[str, str], headers: Fields, start: int, end: int
    ) -> None:
        """Add the part whose body lies from `start` to `end`; `first` has its raw fields by name."""
        declared = parameters(first.get("content-type", ""))
        disposition = first.get("content-disposition", "")
        filename = parameters(disposition).get("filename") or declared.get("name", "")
        charset = declared.get("charset", "").strip("'\" ").lower()
        text = None
        if _is_textual(content_type):
            text = self.text(
                start, end, first.get("content-transfer-encoding", "").strip('" ').lower(), charset
            )
        disposition = disposition.partition(";")[0].strip().lower()
        self.parts.append(Part(content_type, headers, text, end - start, charset, disposition, filename))

    def text(self, start: int, end: int, encoding: str, charset: str) -> str:
        """Decode the text of a part, up to the most a message may have."""
        most = self.text_left
        body = self.data[start : min(end, start + 2 * most)]  # base64 needs a third more than its text
        if encoding.startswith("base64"):
            body = decode_base64(body)
        elif encoding.startswith("quoted"):
            body = a2b_qp(body)
        if len(body) > most:
            body = body[:most]
            body = body[: body.rfind(b"\n") + 1] or body  # cut at a line end, not within a character
        self.text_left -= len(body)
        text = decode(body, charset)
        return text.replace("\r\n", "\n") if "\r" in text else text
