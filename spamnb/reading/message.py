"""Messages read from raw bytes: MIME structure and decoded texts, in one forward pass and bounded work.

What no standard allows is read so that no text is missed: none is dropped because a boundary is wrong, absent
or never closed, a type is malformed, or the header block ends without a blank line.
"""

from __future__ import annotations

from spamnb.reading.headers import (
    MAX_HEADER_BYTES,
    HeaderBlock,
    Surroundings,
    canonical,
    header_start,
    parameters,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.attachments import Attachments
    from spamnb.reading.attachments.contents import Allowance, Content
    from spamnb.reading.encodings.decoding import Decoding
    from spamnb.reading.headers import Fields

# Limits of a message; the most that 8,000 real ones had was 20 leaves.
MAX_TEXT_BYTES = 4 * 1024 * 1024  # of all texts as they were sent; of longer ones, the largest are cut
MAX_PARTS = 100_000  # multiparts included; what follows is read as one text
ENOUGH_HEADER = 2000  # bytes: with less left of MAX_HEADER_BYTES, too, the rest is one text
MAX_LEAVES = 1000  # texts that are read, and as many others: of more, the largest
MAX_NESTING = 100  # open multiparts, as Postfix has it; one more is read as text
MAX_DELIMITER = 1000  # bytes of a boundary line; the standard allows 74
MAX_DASHED_LINES = 500_000  # lines looked at because they are as long as a boundary and start with "--"

PLAIN = "text/plain"
EMBEDDED = "message/rfc822"
EMBEDDED_TYPES = frozenset((EMBEDDED, "message/global", "message/news"))
# In these, bytes below 0x80 are ASCII; four texts in five are ASCII and declare one of them, or none.
ASCII_CHARSETS = frozenset(("", "us-ascii", "iso-8859-1", "iso-8859-15", "utf-8", "windows-1252"))
# A text with fewer spaces is looked at closely: it may be base64.
MOST_BYTES_A_SPACE, SHORTEST_BASE64 = 20, 60
# How files start that are no text to be read, though they may be declared as one.
FILE_STARTS = ("%PDF-", "PK\x03\x04")
LONGEST_START = 40  # characters with the white space before it


class Leaf:
    """A leaf of the message, or the head of an embedded one.

    An embedded message gives one Leaf of type message/rfc822 whose `headers` are the embedded message's own,
    with no text and size 0, and then its leaves. If it is no multipart, its one leaf has the same headers.
    """

    __slots__ = (
        *("charset", "content", "content_type", "decoding", "disposition", "encoding", "filename"),
        *("headers", "size", "text"),
    )

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
        self.headers = headers  # the leaf's own; in a message that is no multipart, the message's
        self.text = text  # None if the leaf is no text
        self.size = size  # bytes of the undecoded body
        self.charset = charset  # as declared, lower case; "" if not declared
        self.disposition = disposition  # "attachment", "inline", ""
        self.filename = filename
        self.content = content  # of an attachment that could be read, with `text` among it
        self.encoding = ""  # "base64" or "quoted" if so declared
        self.decoding: Decoding | None = None  # how the text was read; None if it is ASCII, as declared


class Message:
    """A message as it was read: its headers, and its leaves."""

    __slots__ = ("allowance", "body", "data", "fields", "headers", "leaves")

    def __init__(
        self, data: bytes, fields: Fields | None, headers: Fields, body: int, leaves: list[Leaf]
    ) -> None:
        self.data = data  # in canonical form
        self.fields = fields  # raw, of the header block; None if there is no such block
        self.headers = headers  # lower-case name, unfolded and decoded value; in order
        self.body = body  # offset in `data`
        self.leaves = leaves  # in order; none if it is a multipart without leaves
        self.allowance: Allowance | None = None  # what its attachments left of it, if it has any

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
        reader.add_leaf("", HeaderBlock(0), len(data), MAX_TEXT_BYTES)
        return Message(data, None, [], 0, reader.leaves)
    block = reader.walk(start)
    reader.add_leaves()
    if block.is_raw and reader.charset and reader.around.finds_left > 0:
        block.decode(reader.around, reader.charset)
    message = Message(data, block.fields, block.headers, block.body, reader.leaves)
    if reader.attachments is not None:
        message.allowance = reader.attachments.allowance
    return message


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


def _may_be_encoded(text: str) -> bool:
    """Tell whether ASCII may stand for other text: base64 has few spaces, ISO-2022 escapes, UTF-16 zeros."""
    size = len(text)
    if size >= SHORTEST_BASE64:
        spaces = text.count(" ", 0, size // 2)  # half of most texts has enough
        if spaces * MOST_BYTES_A_SPACE < size:
            spaces += text.count(" ", size // 2)
            if spaces * MOST_BYTES_A_SPACE < size:
                return True
    return "\x1b" in text or "\0" in text


def shares(sizes: list[int], most: int) -> list[tuple[int, int]]:
    """Share `most` items out among runs of some sizes: which run, and how many of its items.

    If any is cut, the runs come in order of their sizes: a flood in one leaf hides no other.
    """
    total, following = 0, len(sizes)
    for size in sizes:
        total += size
    if total <= most:
        return [(which, sizes[which]) for which in range(following)]
    found = []
    for which in sorted(range(len(sizes)), key=sizes.__getitem__):
        share = min(sizes[which], most // following)
        found.append((which, share))
        most -= share
        following -= 1
    return found


class _MessageReader:
    """One pass over a message. `at` is always the start of a line; the searches only ever move forward."""

    __slots__ = (
        *("around", "attachments", "blank", "blank_crlf", "charset", "dashed_left", "data", "decoding"),
        *("found", "header_left", "levels", "leaves", "sizes", "types"),
    )

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.around = Surroundings(data)
        self.found: list[tuple[str, HeaderBlock, int]] = []  # type, head, end of each leaf; -1: EMBEDDED
        self.leaves: list[Leaf] = []
        self.levels: dict[bytes, int] = {}  # "--boundary" of each open multipart → its depth
        self.sizes: set[int] = set()  # of the lines that can be one of these, or its end
        self.types: list[str] = []  # for each open multipart, the type of its leaves that state none
        self.blank = -1  # offset of the next blank line of LF alone; blank_crlf: of CR LF
        self.blank_crlf = -1
        self.header_left = MAX_HEADER_BYTES
        self.dashed_left = MAX_DASHED_LINES
        self.attachments: Attachments | None = None  # reads them, once there is one
        self.decoding: Decoding | None = None  # of the text read last
        self.charset = ""  # that the first text beyond ASCII was read by

    def walk(self, at: int) -> HeaderBlock:
        """Find all leaves from the header block that starts here, and return this block."""
        outermost: HeaderBlock | None = None
        default = PLAIN
        embedded = False
        left = MAX_PARTS
        while left > 0 and self.header_left > ENOUGH_HEADER and 0 <= at < len(self.data):
            left -= 1
            begin = at
            block = self.header_block(begin)
            if outermost is None:
                outermost = block
            if embedded:
                self.found.append((EMBEDDED, block, -1))
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
                self.found.append((content_type, block, end))
            if len(self.found) > 4 * MAX_LEAVES:
                self.keep_largest()
            if at >= 0:
                default = self.types[-1]
        if 0 <= at < len(self.data):
            self.found.append((PLAIN, HeaderBlock(at), len(self.data)))
        return outermost or HeaderBlock(at)

    def keep_largest(self) -> None:
        """Forget all but the largest texts, and the largest of the other leaves."""
        sizes = [end - block.body for _, block, end in self.found]
        by_size = sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)
        texts = [which for which in by_size if _is_textual(self.found[which][0])][:MAX_LEAVES]
        others = [which for which in by_size if not _is_textual(self.found[which][0])][:MAX_LEAVES]
        self.found = [self.found[which] for which in sorted(texts + others)]

    def add_leaves(self) -> None:
        """Read the leaves that were found. If their texts are too long, the largest are cut."""
        if len(self.found) > MAX_LEAVES:
            self.keep_largest()
        sizes = [max(end - block.body, 0) if _is_textual(kind) else 0 for kind, block, end in self.found]
        allowed = dict(shares(sizes, MAX_TEXT_BYTES))
        for which, (content_type, block, end) in enumerate(self.found):
            self.add_leaf(content_type, block, end, allowed[which])

    def header_block(self, at: int) -> HeaderBlock:
        """Read the header block at an offset."""
        limit = min(len(self.data), at + self.header_left)
        block = HeaderBlock(at)
        block.read(self.around, limit)
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
        self.sizes |= {len(delimiter), len(delimiter) + 2}
        self.types.append(EMBEDDED if content_type == "multipart/digest" else PLAIN)
        return depth

    def close(self, depth: int) -> None:
        """Forget the open multiparts from this depth on."""
        while len(self.types) > depth:
            self.types.pop()
            self.levels.popitem()  # the last one put in

    def next_entity(self, at: int) -> tuple[int, int, int]:
        """Find the end of the body that starts here, the depth of the multipart that a leaf begins in there
        (-1: it was closed, or the message ends), and where the next leaf starts (-1: there is none).

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
        if len(levels) == 1:
            sought = b"\n" + next(iter(levels))
        while levels and self.dashed_left and (dashes := data.find(sought, dashes)) >= 0:
            stop = behind = data.find(b"\n", dashes + 1, dashes + MAX_DELIMITER + 10)
            if stop < 0:
                behind = min(len(data), dashes + MAX_DELIMITER + 10)
            while data[behind - 1] in b" \t\r\f\v":
                behind -= 1
            if behind - dashes - 1 in self.sizes:
                self.dashed_left -= 1
                line = data[dashes + 1 : behind]
                depth = levels.get(line, -1)
                closes = depth < 0 and line.endswith(b"--") and (depth := levels.get(line[:-2], -1)) >= 0
                if depth >= 0:
                    end = dashes - 1 if data[dashes - 1 : dashes] == b"\r" else dashes
                    return max(at, end), stop + 1 or len(data), depth, closes
            dashes += 3
        return len(data), len(data), -1, False

    def add_leaf(self, content_type: str, block: HeaderBlock, end: int, most: int) -> None:
        """Add the leaf with this header block, whose body ends at an offset; `most` bytes of its text."""
        if end < 0:
            self.leaves.append(Leaf(EMBEDDED, block.headers))
            return
        declared = parameters(block.content.get("content-type", ""), self.charset, self.around)
        disposition = block.content.get("content-disposition", "")
        named = parameters(disposition, self.charset, self.around)
        filename = named.get("filename") or declared.get("name", "")
        charset = declared.get("charset", "").strip("'\" ").lower()
        encoding = block.transfer_encoding()
        text, content = None, None
        self.decoding = None
        if _is_textual(content_type):
            text = self.text(block.body, end, most, encoding, charset)
        if text is None or _is_file(text, content_type == PLAIN and filename != ""):
            content = self.content(content_type, block, end, charset)
            if content is not None:
                text, self.decoding = content.text, None
        disposition = disposition.partition(";")[0].strip().lower()
        size = end - block.body
        leaf = Leaf(content_type, block.headers, text, size, charset, disposition, filename, content)
        leaf.encoding, leaf.decoding = encoding, self.decoding
        self.leaves.append(leaf)

    def content(self, content_type: str, block: HeaderBlock, end: int, charset: str) -> Content | None:
        """Read an attachment by what it is, whatever it is declared as."""
        if end <= block.body:
            return None
        if self.attachments is None:
            from spamnb.reading.attachments import Attachments

            self.attachments = Attachments()
        encoding = block.transfer_encoding()
        return self.attachments.read(self.data, block.body, end, encoding, charset, content_type)

    def text(self, start: int, end: int, most: int, encoding: str, charset: str) -> str:
        """Decode the text of a leaf, up to so many bytes."""
        data = self.data
        if end - start > most:  # cut at a line end, not within a character
            end = data.rfind(b"\n", start, start + most) + 1 or start + most
        text = "\xff"
        if not encoding and charset in ASCII_CHARSETS:
            text = data[start:end].decode("latin-1")
        if not text.isascii() or _may_be_encoded(text):
            from spamnb.reading.encodings.decoding import read_text

            self.decoding = read_text(data[start:end], encoding, charset, self.around)
            text = self.decoding.text
            if not self.charset and not text.isascii():
                self.charset = self.decoding.charset
        return text.replace("\r\n", "\n") if text.find("\r") >= 0 else text
