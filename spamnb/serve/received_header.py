"""The Received header that a mail server will add to a message, written before it does."""

from __future__ import annotations


class ReceivedHeader:
    """Received header, made of what the mail server says about a client: no milter sees the server's.

    The header names the only host that no sender can invent, and mail that was trained on has the header: so
    it is written here, as far as it is evidence. All its parts come from strangers, and stay bytes.
    """

    def __init__(self) -> None:
        self.client = b""  # as `name [address]`
        self.server = b""
        self.helo = b""  # what the client calls itself
        self.recipients: set[bytes] = set()

    def read_macros(self, content: bytes) -> None:
        """Read a macro packet: the letter of an event, then names and values in turn."""
        strings = content[1:].split(b"\0")
        for name, value in zip(strings[::2], strings[1::2], strict=False):
            if name == b"_":
                self.client = value
            elif name == b"j":
                self.server = value

    def read_helo(self, content: bytes) -> None:
        self.helo = content.partition(b"\0")[0]

    def read_recipient(self, content: bytes) -> None:
        """Read a recipient packet: an address, then options."""
        self.recipients.add(content.partition(b"\0")[0])

    def clear_recipients(self) -> None:
        self.recipients.clear()

    def as_bytes(self) -> bytes:
        """Bytes as Postfix writes them, with the recipient if there is only one; empty without a client."""
        if not self.client:
            return b""
        name = self.helo or self.client.partition(b" ")[0]
        recipient = b"\n\tfor " + b"".join(self.recipients) if len(self.recipients) == 1 else b""
        return b"Received: from %s (%s)\n\tby %s%s; \n" % (name, self.client, self.server, recipient)
