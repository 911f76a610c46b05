"""Tags and comments of a page: where they end, and the attributes that are read of a tag.

A page is scanned as bytes, one for each character; those beyond Latin 1 are "?" or a space.
"""

from __future__ import annotations

from spamnb.html.elements import ATTRIBUTES, CLASS, IS_HIDDEN
from spamnb.html.entities import unescape

MAX_TAG = 4096  # characters of one tag that are read; a quote not closed by then was never meant

LONGEST_ATTRIBUTE = max(map(len, ATTRIBUTES))

_QUOTE, _APOSTROPHE, _SLASH, _EQUALS, _GREATER = b"\"'/=>"
# By byte, what ends there: the name of an element, of an attribute, an unquoted value; or it is a space.
_NAME_END, _WORD_END, _VALUE_END, _SPACE = 1, 2, 4, 8
_ENDING = {_SLASH: _NAME_END | _WORD_END, _EQUALS: _WORD_END, _GREATER: _NAME_END | _WORD_END | _VALUE_END}
_CLASSES = bytes([15 if chr(byte).isspace() else _ENDING.get(byte, 0) for byte in range(256)])


class Scanner:
    """A page as text and as bytes, and the attributes of the tag that was read last."""

    __slots__ = ("amp", "data", "html", "seen", "size", "unquoted", "values", "with_classes")

    def __init__(self, html: str) -> None:
        self.html = html
        self.data = _as_bytes(html)
        if b"\0" in self.data:  # browsers drop NULs, too
            self.html = html.replace("\0", "")
            self.data = self.data.replace(b"\0", b"")
        self.size = len(self.data)
        self.amp = -1  # offset of the first "&" behind the text read last
        self.unquoted = 0  # offset: a quote opened before is known to have no end
        self.seen = 0  # attributes of a tag, as bits by their numbers
        self.values = [""] * len(ATTRIBUTES)  # by number, of those seen
        self.with_classes = False  # whether classes and ids are read, which only style sheets ask for

    def value(self, number: int) -> str:
        """Return the value of an attribute by its number; nothing if the tag does not have it."""
        return self.values[number] if self.seen >> number & 1 else ""

    def text(self, start: int, end: int, attribute: bool) -> str:
        """Return a text of the page with its references replaced."""
        if self.amp < start:
            self.amp = self.html.find("&", start)
            if self.amp < 0:
                self.amp = self.size
        text = self.html[start:end]
        return unescape(text, attribute) if self.amp < end else text

    def skip_past_gt(self, at: int) -> int:
        """Return the offset behind the next ">"."""
        data, size = self.data, self.size
        while at < size and data[at] != _GREATER:
            at += 1
        return at + 1 if at < size else size

    def skip_comment(self, at: int) -> int:
        """Return the offset behind a comment; it may be as short as <!-->."""
        end = self.html.find("-->", at - 2)
        return end + 3 if end >= 0 else self.size

    def skip_name(self, at: int, limit: int) -> int:
        """Return the offset behind the name of an element."""
        data, classes = self.data, _CLASSES
        while at < limit and not classes[data[at]] & _NAME_END:
            at += 1
        return at

    def find_end_tag(self, name: str, start: int) -> int:
        """Return where the end tag of an element stands that holds no markup; at the end if it has none."""
        html, end_tag = self.html, "</" + name
        end = html.find("</", start)
        while end >= 0:
            behind = end + len(end_tag)
            if html[end:behind].lower() == end_tag:
                char = html[behind] if behind < self.size else ">"
                if char in " \t\n\r\f/><":
                    return end
            end = html.find("</", end + 1)
        return self.size

    def read_attributes(self, at: int, start: int, limit: int) -> int:
        """Read the attributes of the tag at an offset, which start behind its name; return where it ends.

        That is behind the first ">" that is not in quotes; if a quote does not end within MAX_TAG, behind the
        first of all.
        """
        if at >= self.unquoted:
            end = self._scan(start, limit)
            if end >= 0:
                return end + 1
            end = self.html.find(">", start)
            if end < 0 or end >= limit:
                return end + 1 if end >= 0 else self.size
            self.unquoted = self.html.find("<", at + MAX_TAG)
            if self.unquoted < 0:
                self.unquoted = self.size
        else:
            end = self.html.find(">", start)
            if end < 0:
                end = self.size
        self.amp = -1  # as the search goes back
        self._scan(start, min(end, limit))
        return min(end + 1, self.size)

    def _scan(self, at: int, limit: int) -> int:
        """Note the attributes up to a ">" that is not in quotes; return its offset, -1 if there is none."""
        data, classes = self.data, _CLASSES
        self.seen = 0
        name = name_end = at  # of the last word
        while at < limit:
            char = data[at]
            if char == _GREATER:
                break
            if char == _EQUALS:
                at += 1
                while at < limit and classes[data[at]] & _SPACE:
                    at += 1
                char = data[at] if at < limit else _GREATER
                start = at
                if char in (_QUOTE, _APOSTROPHE):
                    start = at = at + 1
                    while at < limit and data[at] != char:
                        at += 1
                    self._note(name, name_end, start, at)
                    if at == limit:
                        return -1
                    at += 1
                else:
                    while at < limit and not classes[data[at]] & _VALUE_END:
                        at += 1
                    self._note(name, name_end, start, at)
                name = name_end = at
            elif classes[char]:
                at += 1
            else:
                self._note_bare(name, name_end)
                name = at
                at += 1
                while at < limit and not classes[data[at]] & _WORD_END:
                    at += 1
                name_end = at
        self._note_bare(name, name_end)
        return at if at < limit else -1

    def _note(self, name: int, name_end: int, start: int, end: int) -> None:
        """Note the value of an attribute, if it is one that is read and the first of its name."""
        if name_end - name > LONGEST_ATTRIBUTE:
            return
        number = ATTRIBUTES.get(self.data[name:name_end].lower(), -1)
        if number >= 0 and not self.seen >> number & 1 and (number < CLASS or self.with_classes):
            self.seen |= 1 << number
            self.values[number] = self.text(start, end, True)

    def _note_bare(self, name: int, name_end: int) -> None:
        """Note an attribute without a value: of those that are read, only "hidden" needs none."""
        if name_end - name == 6 and self.data[name:name_end].lower() == b"hidden":
            self.seen |= 1 << IS_HIDDEN


def _as_bytes(html: str) -> bytes:
    try:
        return html.encode("latin-1")
    except UnicodeEncodeError:
        data = bytearray(len(html))
        target = data
        for at, char in enumerate(html):
            code = ord(char)
            target[at] = code if code < 256 else 32 if char.isspace() else 63
        return bytes(data)
