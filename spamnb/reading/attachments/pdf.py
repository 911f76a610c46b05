"""Text and links of PDF files. Text is in the order of the file, without pages: only its words count.

Cross-references are not followed, so that no endless loop is possible. Each byte is read a few times at most:
all repetitions in the patterns are bounded or possessive.
"""

from __future__ import annotations

import re

from spamnb.reading.attachments.contents import Allowance, Content

MAX_DICTIONARY = 4096  # bytes of one
MAX_DICTIONARIES = 4 * 1024 * 1024  # bytes of all of a file
MAX_LISTED = 64 * 1024  # bytes of the numbers that a stream of objects begins with
MAX_TABLES = 1000  # of a font that has its own codes
MAX_TABLE = 64 * 1024  # bytes of one; they have up to 100 letters
MAX_LETTER = 8  # characters that one code stands for
MAX_STRING = 64 * 1024  # bytes; the standard has half of that
STEPS_OF_OBJECT, STEPS_OF_STRING = 5, 3  # as `contents` counts them; a number or an operator is one
DICTIONARY_A_STEP, TABLE_A_STEP = 64, 16  # bytes
WIDE_GAP = -180  # in thousandths of the font's size: so much space between letters separates words

# Strings with three levels of parentheses. One that is never closed ends where that shows: the search goes on
# from there, and not from each parenthesis in it.
_LITERAL = rb"\(((?:[^()\\]++|\\.|\((?:[^()\\]++|\\.|\((?:[^()\\]++|\\.)*+\))*+\))*+)\)?+"
_HEX = rb"<([0-9A-Fa-f\s]*+)>?+"
_OBJECT = re.compile(rb"(?<!\d)(\d{1,8})\s{1,4}\d{1,5}\s{1,4}obj\b")
_STREAM = re.compile(rb"stream(?:\r\n|\n|\r)")
_URI = re.compile(rb"/URI\s{0,8}(?:" + _LITERAL + rb"|" + _HEX + rb")", re.DOTALL)
_REFERENCE = re.compile(rb"/([^\s/<>()\[\]]{1,60})\s{1,8}(\d{1,8})\s{1,4}\d{1,5}\s{1,4}R\b")
_NUMBER_OF_OBJECT = re.compile(rb"(\d{1,8})\s{1,4}(\d{1,8})\s{0,4}")
_OPERATION = re.compile(
    _LITERAL + rb"|" + _HEX + rb"|/([^\s/<>()\[\]]{1,60})|(-?\d{1,6}+)(?:\.\d{0,9})?+(?=[\s(<\]])"
    rb"|([A-Za-z'\"*]{1,12})",
    re.DOTALL,
)
_TO_UNICODE = re.compile(rb"/ToUnicode\s{1,8}(\d{1,8})\s")
_IS_PICTURE = re.compile(rb"/Subtype\s{0,4}/Image\b")
_FIRST = re.compile(rb"/First\s{0,4}(\d{1,8})")
_CODES = re.compile(rb"<([0-9A-Fa-f\s]{0,600}+)>|([\[\]])")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)
_ESCAPED = dict(zip((b"n", b"r", b"t", b"b", b"f"), (b"\n", b"\r", b"\t", b"\b", b"\f"), strict=True))
_ESCAPED |= dict.fromkeys((b"\n", b"\r", b"\r\n"), b"")  # a line that goes on
_UNSEEN = bytes(range(9))
_SHOWN = frozenset((b"Tj", b"TJ", b"'", b'"'))
_MOVED = frozenset((b"Td", b"TD", b"T*", b"Tm", b"ET", b"'", b'"'))


def read_pdf(data: bytes, allowance: Allowance) -> Content:
    """Read the text and the links of a PDF file."""
    pdf = _Pdf(data, allowance)
    content = Content(pdf.text().strip())
    content.links = pdf.links()
    return content


class Font:
    """The table of a font, read from `source`: the letters that each code stands for."""

    def __init__(self, source: bytes, allowance: Allowance) -> None:
        self.letters: dict[int, str] = {}
        self.size = 2  # bytes of a code
        for piece in source.split(b"beginbf", MAX_TABLES)[1:]:
            step = 2 if piece.startswith(b"char") else 3
            table = piece[:MAX_TABLE].partition(b"endbf")[0]
            allowance.work -= 1 + len(table) // TABLE_A_STEP
            if allowance.work <= 0:
                return
            for first, *last, target in map_entries(table, step):
                self.size = 1 if len(first) == 1 else 2
                low = int.from_bytes(first, "big")
                if len(last) > 1:  # a list: what the first code stands for, the second, and so on
                    targets = [utf_16(each) for each in (*last[1:], target)]
                else:
                    high = int.from_bytes(last[0], "big") if last else low
                    text = utf_16(target)[:MAX_LETTER] or " "
                    count = min(high - low + 1, allowance.letters)
                    targets = [text[:-1] + chr(min(ord(text[-1]) + at, 0xFFFF)) for at in range(count)]
                allowance.letters -= len(targets) + 1
                if allowance.letters <= 0:
                    return
                self.letters |= zip(range(low, low + len(targets)), targets, strict=True)

    def text(self, data: bytes) -> str:
        codes = (
            data if self.size == 1 else [data[at] << 8 | data[at + 1] for at in range(0, len(data) - 1, 2)]
        )
        return "".join([self.letters.get(code, "") for code in codes])


class _Pdf:
    """The objects of a PDF: dictionaries by their numbers, and decompressed streams in file order."""

    def __init__(self, data: bytes, allowance: Allowance) -> None:
        self.data = data
        self.allowance = allowance
        self.objects: dict[int, bytes] = {}
        self.streams: dict[int, bytes] = {}  # texts and maps of fonts
        self.packed: list[bytes] = []  # streams of objects
        self.dictionaries_left = MAX_DICTIONARIES
        self._find_objects()
        self.fonts = self._find_fonts()

    def _find_objects(self) -> None:
        data, at = self.data, 0
        while self.allowance.work > 0 and (found := _OBJECT.search(data, at)):
            at = found.end()
            stream = _STREAM.search(data, at, at + MAX_DICTIONARY)
            end = data.find(b"endobj", at, stream.start() if stream else at + MAX_DICTIONARY)
            if end < 0 and stream:
                number, start = int(found[1]), stream.end()
                dictionary = data[at : stream.start()]
                self._add_dictionary(number, dictionary)
                at = data.find(b"endstream", start)
                if at < 0:
                    at = len(data)
                self._add_stream(number, dictionary, start, at)
            else:
                end = end if end >= 0 else at + MAX_DICTIONARY
                self._add_dictionary(int(found[1]), data[at:end])
                at = end  # none begins within another

    def _add_dictionary(self, number: int, dictionary: bytes) -> None:
        self.allowance.work -= STEPS_OF_OBJECT + len(dictionary) // DICTIONARY_A_STEP
        if self.dictionaries_left > 0:
            self.dictionaries_left -= len(dictionary)
            self.objects[number] = dictionary

    def _add_stream(self, number: int, dictionary: bytes, start: int, end: int) -> None:
        """Store a stream that may have text, objects, or a font's letters; skip pictures and font files."""
        if _IS_PICTURE.search(dictionary) or b"/Length1" in dictionary or b"/XRef" in dictionary:
            return
        if b"/ASCII85Decode" in dictionary or b"/A85" in dictionary:
            return
        if b"/Fl" in dictionary:  # FlateDecode
            found = self.allowance.inflate(self.data, start, end)
        elif b"/Filter" not in dictionary:
            found = self.data[start:end]
        else:
            return
        if b"/ObjStm" in dictionary:
            self.packed.append(found)
            self._unpack(dictionary, found)
        elif number not in self.streams or len(found) > len(self.streams[number]):
            self.streams[number] = found

    def _unpack(self, dictionary: bytes, found: bytes) -> None:
        """Store the dictionaries of a stream of objects; the stream starts with their numbers and offsets."""
        first = _FIRST.search(dictionary)
        if not first:
            return
        begin = int(first[1])
        listed = _NUMBER_OF_OBJECT.finditer(found, 0, min(begin, MAX_LISTED))
        pairs = [(int(one[1]), begin + int(one[2])) for one in listed]
        ends = [start for _, start in pairs[1:]] + [len(found)] * bool(pairs)
        for (number, start), end in zip(pairs, ends, strict=True):
            if self.allowance.work > 0:
                self._add_dictionary(number, found[start : min(end, start + MAX_DICTIONARY)])

    def _find_fonts(self) -> dict[bytes, Font]:
        """Return the fonts that have a table of letters, by name."""
        found: dict[int, Font] = {}
        maps: dict[int, Font] = {}  # by the numbers of their streams
        for number, dictionary in self.objects.items():
            reference = _TO_UNICODE.search(dictionary)
            mapped = int(reference[1]) if reference else -1
            if mapped in self.streams:
                if mapped not in maps:
                    maps[mapped] = Font(self.streams[mapped], self.allowance)
                found[number] = maps[mapped]
        fonts: dict[bytes, Font] = {}
        for dictionary in self.objects.values() if found else ():
            for name, number in _REFERENCE.findall(dictionary):
                if int(number) in found:
                    fonts.setdefault(name, found[int(number)])
        return fonts

    def links(self) -> list[str]:
        """Return the addresses of all links, as many as are allowed."""
        found: list[str] = []
        for place in (self.data, *self.packed):
            for one in _URI.finditer(place):
                link = unescaped(one[1]) if one[1] is not None else from_hex(one[2])
                found.append(self.allowance.decode(link[:2000]).strip())
                if len(found) >= self.allowance.links:
                    return found
        return found

    def text(self) -> str:
        """Return the text that the PDF shows."""
        out: list[str] = []
        room = self.allowance.text
        for stream in self.streams.values():
            if b"BT" not in stream:
                continue
            font: Font | None = None
            name = b""
            pending: list[str] = []
            for one in _OPERATION.finditer(stream):
                self.allowance.work -= 1
                if self.allowance.work <= 0 or room <= 0:
                    break
                which = one.lastindex
                if which is None or which <= 2:
                    self.allowance.work -= STEPS_OF_STRING - 1
                    string = (one[which or 2] or b"")[:MAX_STRING]
                    pending.append(shown(unescaped(string) if which == 1 else from_hex(string), font))
                    room -= len(pending[-1])
                elif which == 3:
                    name = one[3]
                elif which == 4:
                    if pending and int(one[4]) < WIDE_GAP:
                        pending.append(" ")
                else:
                    operator = one[5]
                    if operator == b"Tf":
                        font = self.fonts.get(name)
                    if operator in _MOVED:
                        out.append("\n")
                    if operator in _SHOWN:
                        out += pending
                    pending = []
            out.append("\n")
        return "".join(out)


def shown(data: bytes, font: Font | None) -> str:
    """Return the letters that the codes in a string stand for; "" if that depends on an unknown font."""
    if font:
        return font.text(data)
    if data.startswith(b"\xfe\xff"):
        return utf_16(data[2:])
    return data.decode("cp1252", "replace") if data.translate(None, _UNSEEN) == data else ""


def utf_16(data: bytes) -> str:
    return data.decode("utf_16_be", "replace")


def unescaped(data: bytes) -> bytes:
    """Return the bytes of a PDF string in parentheses, with its backslash escapes replaced."""
    if b"\\" not in data:
        return data
    return _ESCAPE.sub(lambda found: _unescaped(found[1]), data)


def _unescaped(char: bytes) -> bytes:
    return bytes((int(char, 8) & 255,)) if char[:1].isdigit() and char < b"8" else _ESCAPED.get(char, char)


def from_hex(digits: bytes) -> bytes:
    digits = b"".join(digits.split())
    return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())


def map_entries(table: bytes, step: int) -> list[list[bytes]]:
    """Return the entries of a font's table: each has a code, or the ends of a range, then the letters."""
    entries: list[list[bytes]] = []
    entry: list[bytes] = []
    in_list = False
    for one in _CODES.finditer(table):
        if one[2]:
            in_list = one[2] == b"["
        else:
            entry.append(from_hex(one[1]))
        if len(entry) >= step and not in_list:
            entries.append(entry)
            entry = []
    return entries
