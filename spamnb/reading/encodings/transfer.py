"""Transfer encodings, undone by what is there: what a message says about itself may be false.

A program never encoded a body that it declares as base64, a gateway decoded it and kept the header, a list
added a footer below. Text has no control characters; what is decoded by the wrong rule soon has some.
"""

from __future__ import annotations

from binascii import Error, a2b_base64, a2b_qp
from codecs import utf_8_decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

BASE64, QUOTED, PLAIN = "base64", "quoted-printable", "8bit"
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
NOT_LETTERS = bytes(set(range(256)) - set(LETTERS))
CONTROLS = bytes({*range(32), 127} - set(b"\t\n\f\r\x0e\x0f\x1b\0"))  # ISO-2022 and UTF-16 have the latter
ASCII = bytes(range(128))
NO_LETTERS = bytes(range(0xC0))  # in most charsets, but for ASCII
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how it begins; half of its bytes may be control characters

MOST_LINES = 200_000  # looked at one by one; what follows is one more line
MOST_BLOCKS = 100_000  # of base64, each with an end of its own
LONG_LINE = 40  # of base64: one character in eight may be none of its letters
SHORT = 24  # letters of declared base64: so few must decode to UTF-8
UNDECLARED = 60  # letters: less are base64 only where it is declared
CERTAIN = 120  # letters: so many hardly ever decode to bytes without control characters by chance


class Undone:
    """A body as it was before it was encoded, how it was encoded, and why not as declared."""

    __slots__ = ("data", "encoding", "why")

    def __init__(self, data: bytes, encoding: str, why: str = "") -> None:
        self.data = data
        self.encoding = encoding
        self.why = why


def undo(data: bytes, declared: str, is_text: bool = True) -> Undone:
    """Undo base64 and quoted-printable where they are, declared as "base64" or "quoted", or as neither."""
    if declared == "base64":
        return _undo_base64(data, is_text)
    if declared == "quoted":
        return _undo_quoted(data, is_text)
    if is_text and data.isascii() and len(data) >= UNDECLARED:
        return _undo_lines(data, PLAIN, BASE64, _is_base64, _undeclared)
    return Undone(data, PLAIN)


def decode_base64(data: bytes) -> bytes:
    """Decode base64 with junk in it, or cut off anywhere."""
    try:
        return a2b_base64(data)
    except Error:
        letters = data.translate(None, NOT_LETTERS)
        used = len(letters) - (len(letters) % 4 == 1)  # a lone last letter holds no byte
        return a2b_base64(letters[:used] + b"==")


def _decode_blocks(data: bytes) -> bytes:
    """Decode base64, perhaps several pieces of it, one after the other."""
    return b"".join(map(decode_base64, data.rstrip().split(b"=\n", MOST_BLOCKS)))


def _undo_base64(data: bytes, is_text: bool) -> Undone:
    if not is_text and data.isascii():
        return Undone(_decode_blocks(data), BASE64)
    others = len(data.translate(None, LETTERS + b"=\r\n"))
    whole = len(data.translate(None, b"\r\n")) % 4 == 0 or len(data) > CERTAIN
    is_prose = is_text and _is_prose(data)
    if whole and not others and not is_prose:
        return Undone(_decode_blocks(data), BASE64)
    few_others = others * 4 <= len(data) and b"=\n" not in data and not is_prose
    if few_others and _is_utf8(decoded := decode_base64(data)):
        return Undone(decoded, BASE64)
    return _undo_lines(data, BASE64, BASE64, _is_base64, _declared) if is_text else Undone(data, PLAIN)


def _undo_quoted(data: bytes, is_text: bool) -> Undone:
    decoded = a2b_qp(data)
    if not is_text or (data.isascii() and _is_quoted(data, decoded)):
        return Undone(decoded, QUOTED)
    return _undo_lines(data, QUOTED, QUOTED, bytes.isascii, _quoted)


def _undo_lines(
    data: bytes,
    declared: str,
    encoding: str,
    may_be: Callable[[bytes], bool],
    decoded: Callable[[bytes], bytes | None],
) -> Undone:
    """Decode the blocks of lines that are encoded; others stay as they are."""
    from itertools import groupby  # takes 0.3 ms to load

    pieces, found = [], {}
    for fits, lines in groupby(data.split(b"\n", MOST_LINES), may_be):
        block = b"\n".join(lines)
        piece = decoded(block) if fits else None
        if block:
            found[PLAIN if piece is None else encoding] = True
        pieces.append(block if piece is None else piece)
    used = " and ".join(found)
    if used == declared:
        return Undone(b"\n".join(pieces), used)
    high = len(data.translate(None, ASCII))
    how_much = "it is" if used == encoding else "a part of it is" if encoding in found else "it is not"
    why = f"{high:,} bytes above 0x7f" if high else f"{how_much} {encoding}"
    return Undone(b"\n".join(pieces), used, why)


def _is_base64(line: bytes) -> bool:
    """Tell whether a line may be base64; some gateways put other characters into long ones."""
    line = line.strip(b" \t\r")
    others = line.translate(None, LETTERS)
    if len(others) <= 2 and others == b"=" * len(others):
        return line.endswith(others) and line != b""
    few = len(line) >= LONG_LINE and len(others) * 8 <= len(line)
    return few and others.isascii() and b" " not in others and b"://" not in line


def _is_prose(data: bytes) -> bool:
    """Tell whether a short text is of words in small letters, perhaps with a capital first."""
    words = data.split() if len(data) < CERTAIN else []
    return words != [] and all(word.isalpha() and word[1:].islower() for word in words)


def _declared(block: bytes) -> bytes | None:
    return None if _is_prose(block) else _text_of_base64(block, SHORT)


def _undeclared(block: bytes) -> bytes | None:
    if len(block) < UNDECLARED or block.islower() or block.isupper():  # hexadecimal digits are in one case
        return None
    *lengths, last = map(len, block.split())
    if len(set(lengths)) > 1 or max(last, LONG_LINE) > max(lengths, default=last):  # words, each on its line
        return None
    return _text_of_base64(block, UNDECLARED)


def _text_of_base64(block: bytes, enough: int) -> bytes | None:
    """Decode what may be base64; None if that gives no text."""
    decoded = _decode_blocks(block)
    if _controls(decoded) * 50 > len(decoded) and not decoded.startswith(UTF_16):
        return None
    return decoded if len(block) >= enough or _is_utf8(decoded) else None


def _quoted(block: bytes) -> bytes | None:
    """Decode quoted-printable; None if there is none. Lines that are none stay as they are."""
    decoded = a2b_qp(block)
    # Raw text has width=20 and id=80: only a soft break, a sign or a letter beyond ASCII is sure.
    if not (b"=\n" in block or b"=3D" in block or b"=20\n" in block or decoded.translate(None, NO_LETTERS)):
        return None
    if not _is_quoted(block, decoded):
        lines = [(line, a2b_qp(line)) for line in block.split(b"\n")]
        decoded = b"\n".join([undone if _is_quoted(line, undone) else line for line, undone in lines])
    return decoded if decoded != block else None


def _is_quoted(data: bytes, decoded: bytes) -> bool:
    """Tell whether "=" begins an escape more often than not, and seldom one of a control character."""
    if decoded.startswith(UTF_16):
        return True
    escapes, controls = data.count(b"="), _controls(decoded)
    signs = decoded.count(b"=") + data.count(b"==") - data.count(b"=3D") - data.count(b"=3d")
    return signs * 2 <= escapes and (controls == 0 or (controls - _controls(data)) * 8 <= escapes)


def _controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, CONTROLS))


def _is_utf8(data: bytes) -> bool:
    """Tell whether bytes are UTF-8 without control characters; the last character may be cut."""
    try:
        utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    return not _controls(data)
