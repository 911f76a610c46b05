"""The content of an attachment, and limits on how much of a message's attachments is read."""

from __future__ import annotations

from spamnb.core.native import MessageContext, found_text

# Limits of a message, all its attachments together, and all copies and layers in them.
MAX_UNPACKED_BYTES = 4 * 1024 * 1024  # of streams and members, deflated or stored; the rest is left
MAX_ATTACHED_TEXT = 4 * 1024 * 1024  # characters
MAX_STREAMS = 2000  # deflated, in PDF and ZIP
MAX_ATTACHED_LINKS = 500
MAX_MEMBERS = 1000  # of archives, whose names are evidence
MAX_WORK = 200_000  # steps of about a microsecond: members, tags, objects, strings
MAX_LETTERS = 100_000  # of fonts that have their own codes
MAX_PICTURES = 8  # searched for QR codes
MAX_PIXELS = 4_000_000  # of these pictures
MAX_SEARCHED = 1_000_000  # pixels of them, made smaller, as they are searched
PIECE = 16 * 1024  # bytes inflated at once


class Content:
    """What was found in an attachment: text, links, names of files."""

    __slots__ = ("links", "names", "text")

    def __init__(self, text: str = "") -> None:
        self.text = text  # text that a person sees
        self.links: list[str] = []
        self.names: list[str] = []  # of the files in an archive


class Allowance:
    """Limits on what may still be read of a message's attachments; reading reduces these limits."""

    def __init__(self) -> None:
        self.unpacked = MAX_UNPACKED_BYTES
        self.text = MAX_ATTACHED_TEXT
        self.streams = MAX_STREAMS
        self.links = MAX_ATTACHED_LINKS
        self.names = MAX_MEMBERS
        self.work = MAX_WORK
        self.letters = MAX_LETTERS
        self.pictures = MAX_PICTURES
        self.pixels = MAX_PIXELS
        self.searched = MAX_SEARCHED
        self.context = MessageContext(b"")  # it limits how many charsets are detected

    def decode(self, data: bytes, declared: str = "") -> str:
        """Decode bytes by their charset, which is declared or is found from the bytes."""
        return found_text(data, declared, self.context)[0]

    def cut(self, content: Content) -> Content:
        """Cut the text and the lists of `content` to the size that is still allowed; return `content`."""
        content.text = content.text[: self.text]
        self.text -= len(content.text)
        content.links = content.links[: self.links]
        self.links -= len(content.links)
        content.names = content.names[: self.names]
        self.names -= len(content.names)
        return content

    def inflate(self, data: bytes, start: int, end: int, window: int = 15) -> bytes:
        """Decompress the bytes from `start` to `end`, until damage or a limit; `window` is zlib's `wbits`."""
        if self.streams <= 0 or self.unpacked <= 0:
            return b""
        from zlib import decompressobj, error

        self.streams -= 1
        stream, pieces, left = decompressobj(window), [], self.unpacked
        try:
            for at in range(start, end, PIECE):  # in pieces, so that what comes before damage is kept
                pieces.append(stream.decompress(data[at : min(end, at + PIECE)], left))
                left -= len(pieces[-1])
                if left <= 0 or stream.eof:
                    break
        except error:
            pass
        self.unpacked = left
        return b"".join(pieces)
