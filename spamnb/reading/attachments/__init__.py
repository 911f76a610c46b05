"""Attachments by their content: the first bytes say what a part is, whatever its name and declared type.

Mail with nothing but texts does not load this module, and each format has a module of its own.
"""

from __future__ import annotations

from spamnb.reading.attachments.contents import Allowance, Content
from spamnb.reading.decoding import decode, without_transfer_encoding

SNIFFED = 1024  # bytes that are looked at; so far into a file may a PDF begin
MOST_PICTURES = 8  # of one message, searched for QR codes
MOST_OF_HIGH_BYTES = 0.3  # in a text that is not UTF-8

MAGIC = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # an empty one
    (b"{\\rt", "rtf"),
    (b"\xd0\xcf\x11\xe0", "ole"),  # Office files before 2007
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"GIF8", "picture"),
    (b"Rar!\x1a", "rar"),
    (b"7z\xbc\xaf", "7z"),
    (b"\x7fELF", "exe"),
)
# As browsers tell HTML from other text: https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
PAGE_STARTS = tuple(
    "<!doctype html,<html,<head,<script,<iframe,<h1,<div,<font,<table,<a,<style,<title,<b,<body,<br,<p,<!--,"
    "<meta,<center,<span,<img".split(",")
)
# No program shows a text that is declared as a picture: good words could be put there.
MEDIA = ("image/", "audio/", "video/", "font/")
UNSEEN_IN_MEDIA = ("text", "html", "xml", "calendar")
CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))
HIGH_BYTES = bytes(range(128, 256))


class Attachments:
    """Reads the attachments of one message."""

    def __init__(self) -> None:
        self.allowance = Allowance()
        self.pictures_left = MOST_PICTURES

    def read(
        self, data: bytes, start: int, end: int, encoding: str, charset: str, content_type: str = ""
    ) -> Content | None:
        """Read the part between two offsets; None if there is nothing in it that could be read."""
        head = data[start : min(end, start + 2 * SNIFFED)]
        kind = kind_of(without_transfer_encoding(head, encoding)[:SNIFFED])
        if not kind or (kind in UNSEEN_IN_MEDIA and content_type.startswith(MEDIA)):
            return None
        if kind == "picture" and not self.may_have_codes():
            return None
        allowed = self.allowance.input
        body = without_transfer_encoding(data[start : min(end, start + 2 * allowed)], encoding)[:allowed]
        self.allowance.input -= len(body)
        content = self.content(kind, body, charset)
        if kind not in ("text", "picture", "zip"):
            content.tokens.insert(0, "attached:" + kind)
        return self.allowance.cut(content)

    def may_have_codes(self) -> bool:
        from spamnb.reading.attachments.qr_codes import can_read

        self.pictures_left -= 1
        return can_read and self.pictures_left >= 0

    def content(self, kind: str, body: bytes, charset: str) -> Content:
        """Read a whole attachment of a kind."""
        if kind == "pdf":
            from spamnb.reading.attachments.pdf import read_pdf

            return read_pdf(body, self.allowance)
        if kind == "zip":
            from spamnb.reading.attachments.archives import read_zip

            return read_zip(body, self.allowance)
        if kind == "rtf":
            from spamnb.reading.attachments.rich_text import read_rtf

            return read_rtf(body[: self.allowance.text])
        if kind == "picture":
            from spamnb.reading.attachments.qr_codes import read_picture

            return read_picture(body)
        content = Content()
        if kind == "ole":
            if "_VBA_PROJECT".encode("utf-16-le") in body:
                content.tokens.append("attached:macros")
        elif kind in ("text", "html", "xml", "svg", "calendar"):
            text = decode_text(body[: self.allowance.text], charset).replace("\r\n", "\n")
            if kind == "calendar":
                from spamnb.reading.attachments.invitations import read_calendar

                return read_calendar(text)
            content = Content(text, kind == "html")
            if kind in ("svg", "xml"):
                read_xml(content, text)
        return content


def kind_of(head: bytes) -> str:
    """Tell from its first bytes what a file is; "" if that says nothing."""
    if head.lstrip().startswith(b"%PDF-") or (b"%PDF-" in head and b"obj" in head):
        return "pdf"
    for magic, kind in MAGIC:
        if head.startswith(magic):
            return kind
    if not is_text(head):
        if head.startswith(b"BM") or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
            return "picture"
        return "exe" if head.startswith(b"MZ") else ""
    start = decode_text(head, "").lstrip("\ufeff \t\r\n").lower()
    if start.startswith("begin:vcalendar"):
        return "calendar"
    if "<svg" in start and start.startswith(("<?xml", "<svg", "<!--", "<!doctype svg")):
        return "svg"
    name = start[:20].partition(">")[0].partition(" ")[0].partition("\n")[0]
    if start.startswith(("<!doctype html", "<!--")) or name in PAGE_STARTS or "<html" in start:
        return "html"
    if start.startswith("<?xml"):
        return "xml"
    return "" if start.startswith(("-----begin ", "%!ps")) else "text"  # signatures and keys, PostScript


def is_text(head: bytes) -> bool:
    """Tell whether bytes can be the beginning of a text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    if not head or head.translate(None, CONTROLS) != head:
        return False
    try:
        head[: max(1, len(head) - 3)].decode()  # the last character may be cut
    except UnicodeDecodeError as broken:
        plain = head.translate(None, HIGH_BYTES)
        return broken.start >= len(head) - 6 or len(plain) > (1 - MOST_OF_HIGH_BYTES) * len(head)
    return True


def decode_text(data: bytes, charset: str) -> str:
    """Decode a text by its byte order mark, its charset, or a guess."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        charset = "utf-16"
    return decode(data, charset)


def read_xml(content: Content, source: str) -> None:
    """Read text and links of SVG, or of another XML file."""
    from spamnb.html.page import render

    page = render(source.replace("xlink:href", "href"))
    content.text = page.text
    content.links = page.links + page.images
    lower = source.lower()
    if "<script" in lower or " onload=" in lower or "javascript:" in lower:
        content.tokens.append("attached:script")


def smuggles(source: str, links: list[str]) -> bool:
    """Tell whether a page builds a file or holds it in a link, so that no filter on the way sees it."""
    lower = source.lower()
    if "mssaveblob" in lower or "mssaveoropenblob" in lower:
        return True
    offered = "download" in lower or "createobjecturl" in lower
    built = "new blob" in lower or "new file(" in lower or "atob(" in lower or "fromcharcode" in lower
    return offered and (built or any(link.startswith("data:") for link in links))
