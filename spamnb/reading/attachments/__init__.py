"""Attachments by their content: the first bytes say what one is, whatever its name and declared type.

Mail with nothing but texts does not load this module, and each format has a module of its own.
"""

from __future__ import annotations

from spamnb.core.native import undo_transfer
from spamnb.reading.attachments.contents import Allowance, Content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SNIFFED = 1024  # bytes that are looked at; so far into a file may a PDF begin
MOST_OF_HIGH_BYTES = 0.3  # in a text that is not UTF-8

# As browsers tell HTML from other text: https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
PAGE_STARTS = tuple(
    "<!doctype html,<html,<head,<script,<iframe,<h1,<div,<font,<table,<a,<style,<title,<b,<body,<br,<p,<!--,"
    "<meta,<center,<span,<img".split(",")
)
# No program shows a text that is declared as a picture: good words could be put there.
MEDIA = ("image/", "audio/", "video/", "font/")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how it begins
CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))
HIGH_BYTES = bytes(range(128, 256))


class Start:
    """How an attachment begins: its first bytes, and what they say in lower case if they can be text."""

    __slots__ = ("data", "is_text", "text")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.is_text = is_text(data)
        codec = "utf-16" if data.startswith(UTF_16) else "utf-8"
        self.text = data.decode(codec, "replace").lstrip("\ufeff \t\r\n").lower() if self.is_text else ""


def is_pdf(start: Start) -> bool:
    return start.data.lstrip().startswith(b"%PDF-") or (b"%PDF-" in start.data and b"obj" in start.data)


def is_page(start: Start) -> bool:
    name = start.text[:20].partition(">")[0].partition(" ")[0].partition("\n")[0]
    begins = start.text.startswith(("<!doctype html", "<!--"))
    return begins or name in PAGE_STARTS or "<html" in start.text


def is_words(start: Start) -> bool:
    """Tell whether it is a text for people: not signatures and keys, nor PostScript and RTF."""
    return start.is_text and not start.text.startswith(("-----begin ", "%!ps", "{\\rt"))


def read_pdf(body: bytes, _charset: str, allowance: Allowance) -> Content:
    from spamnb.reading.attachments.pdf import read_pdf

    return read_pdf(body, allowance)


def read_archive(body: bytes, _charset: str, allowance: Allowance) -> Content:
    from spamnb.reading.attachments.archives import read_zip

    return read_zip(body, allowance)


def read_picture(body: bytes, _charset: str, allowance: Allowance) -> Content:
    from spamnb.reading.attachments.qr_codes import read_picture

    return read_picture(body, allowance)


def read_page(body: bytes, charset: str, allowance: Allowance) -> Content:
    return Content(read_text(body, charset, allowance).text, is_html=True)


def read_text(body: bytes, charset: str, allowance: Allowance) -> Content:
    return Content(allowance.decode(body[: allowance.text], charset).replace("\r\n", "\n"))


class AttachmentKind:
    """A kind of attachment: how it begins, and what reads it."""

    __slots__ = ("begins", "is_plain", "name", "read")

    def __init__(
        self,
        name: str,
        begins: Callable[[Start], bool] | bytes,
        read: Callable[[bytes, str, Allowance], Content],
        is_plain: bool = False,
    ) -> None:
        self.name = name
        self.begins = begins
        self.read = read
        self.is_plain = is_plain  # a text, which nobody sees if it is declared as media

    def is_that_of(self, start: Start) -> bool:
        """Tell whether an attachment begins as this kind does."""
        return start.data.startswith(self.begins) if isinstance(self.begins, bytes) else self.begins(start)


# All kinds that are known, in the order in which they are tried. What reads a format has a module of its own.
KINDS = (
    AttachmentKind("pdf", is_pdf, read_pdf),
    AttachmentKind("zip", b"PK\x03\x04", read_archive),
    AttachmentKind("zip", b"PK\x05\x06", read_archive),  # an empty one
    AttachmentKind("picture", b"\x89PNG", read_picture),
    AttachmentKind("picture", b"\xff\xd8\xff", read_picture),
    AttachmentKind("html", is_page, read_page, is_plain=True),
    AttachmentKind("text", is_words, read_text, is_plain=True),
)


class Attachments:
    """Reads the attachments of one message."""

    def __init__(self) -> None:
        self.allowance = Allowance()

    def read(
        self, data: bytes, start: int, end: int, encoding: str, charset: str, content_type: str = ""
    ) -> Content | None:
        """Read the attachment between two offsets; None if there is nothing in it that could be read."""
        head = data[start : min(end, start + 2 * SNIFFED)]
        kind = kind_of(undo_transfer(head, encoding, is_text=False)[0][:SNIFFED])
        if kind is None or (kind.is_plain and content_type.startswith(MEDIA)):
            return None
        if kind.name == "picture" and not self.may_have_codes():
            return None
        allowed = self.allowance.input
        sent = data[start : min(end, start + 2 * allowed)]
        body = undo_transfer(sent, encoding, is_text=False)[0][:allowed]
        self.allowance.input -= len(body)
        content = kind.read(body, charset, self.allowance)
        return self.allowance.cut(content)

    def may_have_codes(self) -> bool:
        from spamnb.reading.attachments.qr_codes import can_read

        self.allowance.pictures -= 1
        return can_read and self.allowance.pictures >= 0


def kind_of(data: bytes) -> AttachmentKind | None:
    """Tell from its first bytes what an attachment is; None if that says nothing."""
    start = Start(data)
    for kind in KINDS:
        if kind.is_that_of(start):
            return kind
    return None


def is_text(head: bytes) -> bool:
    """Tell whether bytes can be the beginning of a text."""
    if head.startswith(UTF_16):
        return True
    if not head or head.translate(None, CONTROLS) != head:
        return False
    try:
        head[: max(1, len(head) - 3)].decode()  # the last character may be cut
    except UnicodeDecodeError as broken:
        plain = head.translate(None, HIGH_BYTES)
        return broken.start >= len(head) - 6 or len(plain) > (1 - MOST_OF_HIGH_BYTES) * len(head)
    return True
