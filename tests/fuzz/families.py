"""Messages made to cost as much as they can: a family is a function from a size in bytes to a message."""

from __future__ import annotations

import base64
import bz2
import gzip
import lzma
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


def random_words(size: int) -> bytes:
    letters = random.Random(size).choices(b"abcdefghijklmnopqrstuvwxyz    ", k=size)
    return b"Subject: words\n\n" + bytes(letters)


def random_base64(size: int) -> bytes:
    return _head("text/plain", "base64") + base64.encodebytes(noise(size * 3 // 4))


def bomb(pack: Callable[[bytes], bytes], size: int) -> bytes:
    """What unpacks to this size: zeros, hundreds to thousands of times as much as it is."""
    return pack(ENVELOPE + b"\n" + bytes(size))


def members(pack: Callable[[bytes], bytes], size: int) -> bytes:
    """A file of very many compressed nothings."""
    return repeated(pack(ENVELOPE), pack(b""), b"", size)


E = "\N{COMBINING ACUTE ACCENT}".encode()
UNSEEN = "\N{ZERO WIDTH SPACE}".encode()
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
        "semicolons": header("Content-Type", b"; ", b"text/plain"),
        "parameters": partial(numbered, b"Content-Type: text/plain", b"; a%d=b", b"\n\nbody"),
        "parameters in sections": partial(numbered, b"Content-Type: a/b", b"; name*%d*=x", b"\n\nbody"),
        "escaped quotes": header("Content-Type", b'\\"', b'text/plain; name="'),
        "open quotes": header("Content-Type", b'; a="b', b"text/plain"),
        "raw parameters": partial(numbered, b"Content-Type: a/b", b'; a%d="\xcf\xf0\xe8"', b"\n\nbody"),
        "raw parameters in sections": partial(
            numbered, b"Content-Type: a/b; name*0*=x''%E9", b"; name*%d=\xcf\xf0", b"\n\nbody"
        ),
        "raw fields": partial(numbered, b"Subject: x\n", b"X%d: \xcf\xf0\xe8\xe2\xe5\xf2\n", b"\nbody"),
        "raw parts of parameters": partial(
            repeated,
            b"Content-Type: multipart/mixed; boundary=b\n\n",
            b"--b\nContent-Type: a/b; name=\xe9\n\n",
            b"",
        ),
        "raw encoded words": partial(numbered, b"Subject: ", b"=?c%d?q?=CF=F0=E8?= ", b"\n\nbody"),
        "encoded words": header("Subject", b"=?utf-8?q?a?= "),
        "open encoded words": header("Subject", b"=?utf-8?q?"),
        "encoded words of no kind": header("Subject", b"=?x?x?"),
        "encoded words in many charsets": partial(numbered, b"Subject: ", b"=?c%d?b?4pyT?= ", b"\n\nbody"),
        "addresses": header("To", b"<a@b.example>, "),
        "international addresses": header("From", "用户@例子.中国, ".encode()),
        "hosts": partial(numbered, b"Received: ", b"from h%d.example ", b"\n\nbody"),
        "colons in hosts": header("Received", b"a:b.c:"),
        "identifiers": header("References", b"<a@b> "),
        "folded lines": lines(b" folded\n"),
        "many headers": partial(numbered, b"Subject: x\n", b"X-H%d: y\n", b"\nbody"),
        "forged verdicts": lines(b"X-Spamnb: ham\n folded\n"),
        "a long name": partial(repeated, b"", b"a", b": x\n\nbody"),
    },
    BODY: {
        "noise": noise,
        "random words": random_words,
        "one word": text(b"a"),
        "numbers": numbered_text(b"%d "),
        "carriage returns": text(b"\r"),
        "NULs": text(b"\0"),
        "quoted words": text(b"''a''"),
        "hyphens": text("-д".encode()),
        "combining marks": text(b"a" + E * 40),
        "non-joiners": text("می\u200c".encode()),
        "unseen characters": text(UNSEEN),
        "look-alikes": text("vіаgrа ".encode()),
        "ligatures": text("ﷺ".encode()),
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
        "names of charsets": text(b"\xe9charset=", NOTHING_DECLARED),
        "raw pages": text(b"<\xcf\xf0", "text/html"),
        "raw parts": multipart(b"--b\n\n\xcf\xf0\xe8\xe2\xe5\xf2\n"),
        "zeros in turn": text(b"a\0", NOTHING_DECLARED),
        "escapes that no charset has": text(b"\x1b.J\x1bN\x1b$B", NOTHING_DECLARED),
        "Chinese as Big5": text("漢字".encode("gb18030"), "text/plain; charset=big5"),
        "soft line breaks": text(b"=\n", encoding="quoted-printable"),
        "utf-7": text(b"+2AA-", "text/plain; charset=utf-7"),
        "escapes of charsets": text(b"\x1b$B\x1b(B", "text/plain; charset=iso-2022-jp"),
        "boundaries that match nothing": multipart(b"--c\n"),
        "parts": multipart(b"--b\n\nx\n"),
        "parts without end of headers": multipart(b"--b\nA: 1\n"),
        "types of parts": partial(
            numbered, b"Content-Type: multipart/mixed; boundary=b\n\n", b"--b\nContent-Type: a/t%d\n\n", b""
        ),
        "nested parts": partial(numbered, b"", NESTED, b""),
        "messages in messages": partial(repeated, b"", b"Content-Type: message/rfc822\n\n", b""),
        "forwarded subjects": multipart(b"--b\nContent-Type: message/rfc822\n\nSubject: a b c\n\n"),
        "pages": multipart(b"--b\nContent-Type: text/html\n\n<p>x\n"),
        "open brackets": page(b"<"),
        "open tags": page(b"<a "),
        "open end tags": page(b"</a "),
        "open comments": page(b"<!--"),
        "almost ends of comments": page(b"<!-- --"),
        "open quotes in tags": page(b'<a href="'),
        "quotes that end in the next tag": page(b'<a href=">'),
        "quotes and equals signs": page(b"<a b=' =>"),
        "brackets in quotes": page(b"<a b='>'>"),
        "attributes": tag(b' a="b"'),
        "attributes without a name": tag(b" ="),
        "styles of one tag": tag(b" style='color:red'"),
        "nested elements": page(b"<div>"),
        "open paragraphs": page(b"<p>a"),
        "crossed elements": page(b"<b><i><div></b></i>"),
        "fonts across blocks": page(b"<div><font color=red></div>"),
        "distinct elements": numbered_page(b"<x%d>"),
        "distinct styles": numbered_page(b"<p style='font-size:%dpx'>a"),
        "one long style": tag(b"color:red;", b" style='", b"'"),
        "comments in a style": tag(b"/*", b" style='", b"'"),
        "style sheets": page(b"<style>p{color:red}</style>a"),
        "rules": partial(repeated, _head("text/html", "8bit") + b"<style>", b"p.a,b .c{color:red}", b""),
        "variables": page(b"<p style='--a:var(--a)'>"),
        "classes and rules": numbered_page(b"<style>.a%d{color:red}</style><p class=a%d>"),
        "hidden and shown": page(b"<p style='display:none'>a</p>b"),
        "scripts without end": page(b"<script>"),
        "scripts that nearly end": page(b"<script></scrip"),
        "entities": page(b"&amp;"),
        "ampersands": page(b"&"),
        "unknown entities": page(b"&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "numbers of characters": page(b"&#65;"),
        "one long number": partial(repeated, _head("text/html", "8bit") + b"&#", b"9", b";"),
        "links of a page": numbered_page(b"<a href='http://h%d.example/'>a</a>"),
        "pictures": page(b"<img src=a alt='b c'>"),
    },
    BOX: {
        "gzip": partial(bomb, partial(gzip.compress, mtime=0)),
        "xz": partial(bomb, lzma.compress),
        "bzip2": partial(bomb, bz2.compress),
        "bzip2 of many members": partial(members, bz2.compress),
        "envelope lines": partial(repeated, b"", ENVELOPE, b""),
        "empty messages": partial(repeated, b"", ENVELOPE + b"\n", b""),
        "envelope lines without a date": partial(repeated, ENVELOPE, b"\nFrom here on\n", b""),
        "long envelope lines": partial(repeated, ENVELOPE, b"\nFrom " + b"Mon " * 300 + b"\n", b""),
        "lengths that do not fit": partial(repeated, b"", ENVELOPE + b"Content-Length: 999999\n\nx\n\n", b""),
        "quoted lines": partial(repeated, ENVELOPE + b"\n", b">From ", b""),
        "messages": partial(numbered, b"", ENVELOPE + b"Subject: %d\n\nbody\n\n", b""),
    },
}
