"""What an attachment holds for a reader, and how much of a message's attachments is read."""

from __future__ import annotations

# Limits of a message, all its attachments together.
MAX_ATTACHED_BYTES = 4 * 1024 * 1024  # after transfer decoding; what follows is known by its first bytes only
MAX_INFLATED_BYTES = 4 * 1024 * 1024  # of deflated streams; the rest is not inflated
MAX_ATTACHED_TEXT = 1024 * 1024  # characters
MAX_STREAMS = 2000  # deflated, in PDF and ZIP
MAX_ATTACHED_LINKS = 500
MAX_MEMBERS = 1000  # of archives, whose names are evidence
PIECE = 16 * 1024  # bytes inflated at once


class Content:
    """What was found in an attachment."""

    __slots__ = ("is_html", "links", "names", "text")

    def __init__(self, text: str | None = None, is_html: bool = False) -> None:
        self.text = text  # that a person sees, or the source of a page; None if there is none
        self.is_html = is_html
        self.links: list[str] = []
        self.names: list[str] = []  # of the files in an archive


class Allowance:
    """How much more of a message's attachments may be read."""

    def __init__(self) -> None:
        self.input = MAX_ATTACHED_BYTES
        self.inflated = MAX_INFLATED_BYTES
        self.text = MAX_ATTACHED_TEXT
        self.streams = MAX_STREAMS
        self.links = MAX_ATTACHED_LINKS
        self.names = MAX_MEMBERS

    def cut(self, content: Content) -> Content:
        """Leave of a content what is still allowed."""
        content.text = (content.text or "")[: self.text] or None
        self.text -= len(content.text or "")
        content.links = content.links[: self.links]
        self.links -= len(content.links)
        content.names = content.names[: self.names]
        self.names -= len(content.names)
        return content

    def inflate(self, data: bytes, start: int, end: int, window: int = 15) -> bytes:
        """Inflate a stream as far as it is whole and allowed; window: as zlib has it, -15 for ZIP."""
        if self.streams <= 0 or self.inflated <= 0:
            return b""
        from zlib import decompressobj, error

        self.streams -= 1
        stream, pieces, left = decompressobj(window), [], self.inflated
        try:
            for at in range(start, end, PIECE):  # in pieces, so that what comes before damage is kept
                pieces.append(stream.decompress(data[at : min(end, at + PIECE)], left))
                left -= len(pieces[-1])
                if left <= 0 or stream.eof:
                    break
        except error:
            pass
        self.inflated = left
        return b"".join(pieces)
