"""Where a message comes from, in the header that the mail server will write about it."""

from __future__ import annotations


class Trace:
    """A mail server adds a Received header to what it delivers, but shows it to no milter.

    It names the only host that no sender can invent, and mail that was trained on has it: so it is written
    here, as far as it is evidence. All in it comes from strangers, and is bytes.
    """

    def __init__(self) -> None:
        self.client = b""  # name [address]
        self.server = b""
        self.helo = b""  # what the client calls itself
        self.recipients: set[bytes] = set()

    def macros(self, content: bytes) -> None:
        """Behind the letter of an event, names and values in turn."""
        strings = content[1:].split(b"\0")
        for name, value in zip(strings[::2], strings[1::2], strict=False):
            if name == b"_":
                self.client = value
            elif name == b"j":
                self.server = value

    def greeting(self, content: bytes) -> None:
        self.helo = content.partition(b"\0")[0]

    def recipient(self, content: bytes) -> None:
        """An address; what was said beside it follows."""
        self.recipients.add(content.partition(b"\0")[0])

    def new_message(self) -> None:
        self.recipients.clear()

    def header(self) -> bytes:
        """As Postfix writes it: the recipient is named if there is no other."""
        if not self.client:
            return b""
        name = self.helo or self.client.partition(b" ")[0]
        recipient = b"\n\tfor " + b"".join(self.recipients) if len(self.recipients) == 1 else b""
        return b"Received: from %s (%s)\n\tby %s%s; \n" % (name, self.client, self.server, recipient)
