"""Attachments made to cost as much as they can: a family is a function from a size in bytes to files."""

from __future__ import annotations

import base64
import struct
import zlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FILE = b"\n--b\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n"
TYPES = b"[Content_Types].xml"


def attached(files: Iterable[bytes], text: bytes = b"Subject: x\n\n") -> bytes:
    """A message with a text and files."""
    head, _, body = text.partition(b"\n\n")
    start = head + b"\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n" + body
    return start + b"".join(FILE + base64.encodebytes(file) for file in files) + b"--b--\n"


def copies(size: int, file: bytes) -> list[bytes]:
    return [file] * max(1, size * 3 // 4 // len(file))


@cache
def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(data) + packer.flush()


def many_names(data: bytes, names: Iterable[bytes], packed: bool = False) -> bytes:
    """An archive with one member, which its directory has under many names."""
    method, held = 0, data
    if packed:
        method, held = 8, deflated(data)
    sizes = struct.pack("<H8xII", method, len(held), len(data))
    member = b"PK\3\4\x14\0\0\0" + sizes + b"\1\0\0\0a" + held
    entries = [
        b"PK\1\2\x14\0\x14\0\0\0" + sizes + struct.pack("<H", len(name)) + bytes(16) + name for name in names
    ]
    directory = b"".join(entries)
    counts = struct.pack("<HHII", len(entries), len(entries), len(directory), len(member))
    return member + directory + b"PK\5\6\0\0\0\0" + counts + b"\0\0"


def documents(count: int) -> list[bytes]:
    return [TYPES, *(b"word/document%d.xml" % n for n in range(count))]


def pdf(*objects: bytes) -> bytes:
    return b"%PDF-1.4\n" + b"".join(
        b"%d 0 obj\n%b\nendobj\n" % (n, each) for n, each in enumerate(objects, 1)
    )


def stream(data: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(data, 9)
    return b"<</Length %d/Filter/FlateDecode%b>>\nstream\n%b\nendstream" % (len(packed), more, packed)


def png(width: int, height: int, pixels: bytes, more: bytes = b"") -> bytes:
    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    size = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    ends = chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + more + b"".join(ends)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def finder_patterns(side: int) -> bytes:
    """A picture of nothing but the squares that a QR code has in three of its corners."""
    lines = "1111111 1000001 1011101 1011101 1011101 1000001 1111111 0000000".split()
    rows = [(line.ljust(8, "0") * (side // 8)).translate({48: 255, 49: 0}) for line in lines]
    return png(side, side, "".join(rows * (side // 8)).encode("latin-1"))


PROFILE = chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(1 << 20), 9))
TAGS, PARENTHESES = b"<a><b>" * (1 << 16), b"BT " + b"(" * (1 << 18)
LETTERS = pdf(
    b"<</F 2 0 R>>",
    b"<</ToUnicode 3 0 R>>",
    stream(b"beginbfchar<41><" + b"00410042" * 4 + b">endbf"),
    stream(b"BT /F 1 Tf (" + b"A" * (1 << 20) + b")Tj ET"),
)
FILES: dict[str, Callable[[int], list[bytes]]] = {
    "a document under many names": lambda size: [many_names(TAGS[:size], documents(60))],
    "a packed document under many names": lambda size: copies(size, many_names(TAGS, documents(60), True)),
    "names in no charset": lambda size: [many_names(b"", [b"%d \xe9\xff" % n for n in range(size // 128)])],
    "parentheses in PDFs": lambda size: copies(size, pdf(stream(PARENTHESES))),
    "fonts of one map": lambda size: [
        pdf(stream(b"beginbfchar" * (1 << 16)), *[b"<</ToUnicode 1 0 R>>"] * (size // 64))
    ],
    "tables of a font": lambda size: copies(
        size, pdf(stream(b"beginbfrange[" + b"<00>" * (1 << 18)), b"/ToUnicode 1 0 R ")
    ),
    "lists of objects": lambda size: copies(
        size, pdf(stream(b"1 0 " * (1 << 16), b"/Type/ObjStm/First %d" % (1 << 16)))
    ),
    "letters of one string": lambda size: copies(size, LETTERS),
    "pictures of patterns": lambda size: copies(size, finder_patterns(1024)),
    "profiles of a picture": lambda size: [png(9, 9, b"\xff" * 81, PROFILE * (size // 2048))],
}
