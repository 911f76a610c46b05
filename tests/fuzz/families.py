"""Messages made to cost as much as they can: a family is a function from a size in bytes to a message."""

from __future__ import annotations

import base64
import bz2
import gzip
import random
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Family = Callable[[int], bytes]

HEADERS, BODY, BOX = "headers", "body", "mailbox"
ENVELOPE = b"From a@b Mon Nov 16 01:02:03 2026\n"
NESTED = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n"


def repeated(before: bytes, unit: bytes, after: bytes, size: int) -> bytes:
    return before + unit * ((size - len(before) - len(after)) // len(unit)) + after


def numbered(before: bytes, unit: bytes, after: bytes, size: int) -> bytes:
    """The unit with a number in it, another each time."""
    made = bytearray(before)
    number = 0
    while len(made) < size - len(after):
        made += unit.replace(b"%d", b"%d" % number)
        number += 1
    return bytes(made + after)


def header(name: str, unit: bytes, start: bytes = b"") -> Family:
    """One header that never seems to end."""
    return partial(repeated, b"%b: %b" % (name.encode(), start), unit, b"\n\nbody")


def lines(unit: bytes) -> Family:
    """A header block of many lines."""
    return partial(repeated, b"Subject: x\n", unit, b"\nbody")


def text(unit: bytes, kind: str = "text/plain; charset=utf-8", encoding: str = "8bit") -> Family:
    return partial(repeated, _head(kind, encoding), unit, b"")


def numbered_text(unit: bytes, kind: str = "text/plain; charset=utf-8") -> Family:
    return partial(numbered, _head(kind, "8bit"), unit, b"")


page = partial(text, kind="text/html; charset=utf-8")
numbered_page = partial(numbered_text, kind="text/html; charset=utf-8")


def tag(unit: bytes, start: bytes = b"", end: bytes = b"") -> Family:
    """One tag that never seems to end."""
    return partial(repeated, _head("text/html", "8bit") + b"<p" + start, unit, end + b">a")


def _head(kind: str, encoding: str) -> bytes:
    return f"Content-Type: {kind}\nContent-Transfer-Encoding: {encoding}\n\n".encode()


def multipart(unit: bytes) -> Family:
    return partial(repeated, b"Content-Type: multipart/mixed; boundary=b\n\n", unit, b"")


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def random_base64(size: int) -> bytes:
    return _head("text/plain", "base64") + base64.encodebytes(noise(size * 3 // 4))


def bomb(pack: Callable[[bytes], bytes], size: int) -> bytes:
    """What unpacks to this size: zeros, hundreds to thousands of times as much as it is."""
    return pack(ENVELOPE + b"\n" + bytes(size))


def members(pack: Callable[[bytes], bytes], size: int) -> bytes:
    """A file of very many compressed nothings."""
    return repeated(pack(ENVELOPE), pack(b""), b"", size)


E = "\N{COMBINING ACUTE ACCENT}".encode()
NOTHING_DECLARED = "text/plain"  # its charset must be found
ENCODINGS = "7bit", "base64", "quoted-printable"
# Lines of bodies that are not, or not all, encoded as declared.
DOUBTFUL_LINES = {
    "tiny lines": b"QQ\n",
    "almost base64": b"QUJD" * 15 + b"!-!\n",
    "lines in turn": b"QUJD" * 20 + b"\nno code, =no =41 code\n",
    "one line": b"QUJD",
    "controls in base64": base64.b64encode(bytes(range(1, 9)) * 6) + b"\n",
}
FAMILIES: dict[str, dict[str, Family]] = {
    HEADERS: {
        "parameters": partial(numbered, b"Content-Type: text/plain", b"; a%d=b", b"\n\nbody"),
        "escaped quotes": header("Content-Type", b'\\"', b'text/plain; name="'),
        "raw fields": partial(numbered, b"Subject: x\n", b"X%d: \xcf\xf0\xe8\xe2\xe5\xf2\n", b"\nbody"),
        "raw encoded words": partial(numbered, b"Subject: ", b"=?c%d?q?=CF=F0=E8?= ", b"\n\nbody"),
        "encoded words in many charsets": partial(numbered, b"Subject: ", b"=?c%d?b?4pyT?= ", b"\n\nbody"),
        "international addresses": header("From", "用户@例子.中国, ".encode()),
        "hosts": partial(numbered, b"Received: ", b"from h%d.example ", b"\n\nbody"),
        "folded lines": lines(b" folded\n"),
        "many headers": partial(numbered, b"Subject: x\n", b"X-H%d: y\n", b"\nbody"),
        "forged verdicts": lines(b"X-Spamnb: ham\n folded\n"),
        "a long name": partial(repeated, b"", b"a", b": x\n\nbody"),
    },
    BODY: {
        "noise": noise,
        "numbers": numbered_text(b"%d "),
        "combining marks": text(b"a" + E * 40),
        "look-alikes": text("vіаgrа ".encode()),
        "Chinese": text("漢字".encode()),
        "links": numbered_text(b"http://h%d.example/p/%41 "),
        "one long link": partial(repeated, _head("text/plain", "8bit") + b"http://", b"a.", b""),
        "base64": random_base64,
        **{
            f"{what} as {encoding}": text(unit, encoding=encoding)
            for what, unit in DOUBTFUL_LINES.items()
            for encoding in ENCODINGS
        },
        "high bytes": text(bytes(range(128, 256)), NOTHING_DECLARED),
        "raw parts": multipart(b"--b\n\n\xcf\xf0\xe8\xe2\xe5\xf2\n"),
        "escapes that no charset has": text(b"\x1b.J\x1bN\x1b$B", NOTHING_DECLARED),
        "Chinese as Big5": text("漢字".encode("gb18030"), "text/plain; charset=big5"),
        "boundaries that match nothing": multipart(b"--c\n"),
        "parts": multipart(b"--b\n\nx\n"),
        "nested parts": partial(numbered, b"", NESTED, b""),
        "messages in messages": partial(repeated, b"", b"Content-Type: message/rfc822\n\n", b""),
        "open tags": page(b"<a "),
        "open comments": page(b"<!--"),
        "open quotes in tags": page(b'<a href="'),
        "quotes that end in the next tag": page(b'<a href=">'),
        "attributes": tag(b' a="b"'),
        "nested elements": page(b"<div>"),
        "open paragraphs": page(b"<p>a"),
        "fonts across blocks": page(b"<div><font color=red></div>"),
        "distinct elements": numbered_page(b"<x%d>"),
        "distinct styles": numbered_page(b"<p style='font-size:%dpx'>a"),
        "one long style": tag(b"color:red;", b" style='", b"'"),
        "rules": partial(repeated, _head("text/html", "8bit") + b"<style>", b"p.a,b .c{color:red}", b""),
        "classes and rules": numbered_page(b"<style>.a%d{color:red}</style><p class=a%d>"),
        "scripts without end": page(b"<script>"),
        "entities": page(b"&amp;"),
        "unknown entities": page(b"&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "links of a page": numbered_page(b"<a href='http://h%d.example/'>a</a>"),
    },
    BOX: {
        "gzip": partial(bomb, partial(gzip.compress, mtime=0)),
        "bzip2 of many members": partial(members, bz2.compress),
        "envelope lines": partial(repeated, b"", ENVELOPE, b""),
        "empty messages": partial(repeated, b"", ENVELOPE + b"\n", b""),
        "long envelope lines": partial(repeated, ENVELOPE, b"\nFrom " + b"Mon " * 300 + b"\n", b""),
        "lengths that do not fit": partial(repeated, b"", ENVELOPE + b"Content-Length: 999999\n\nx\n\n", b""),
        "messages": partial(numbered, b"", ENVELOPE + b"Subject: %d\n\nbody\n\n", b""),
    },
}
