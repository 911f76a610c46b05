"""A request as it comes in, piece by piece, for protocols that know no sockets.

A protocol is a generator: it yields None for more input, a file to wait until it can be read, or an answer
before it goes on; and returns its last answer. A client that takes too long is a TimeoutError thrown into it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol

MUCH = 1 << 16  # bytes


class HasHandle(Protocol):
    def fileno(self) -> int: ...


Readable = HasHandle | int
Conversation = Generator[Readable | bytes | None, None, bytes]


class Incoming:
    """Bytes received and not yet taken."""

    __slots__ = ("complete", "data", "ended", "taken")

    def __init__(self) -> None:
        self.data = bytearray()
        self.taken = 0
        self.ended = False  # the client will send no more
        self.complete = False  # nothing more is expected of it

    def feed(self, piece: bytes) -> None:
        self.data += piece
        self.ended = not piece

    def __len__(self) -> int:
        return len(self.data) - self.taken

    def line(self, most: int) -> Generator[None, None, bytes | None]:
        """The next line without its end; None if it never ends, or is too long."""
        looked = self.taken
        while (end := self.data.find(b"\n", looked)) < 0:
            if self.ended or len(self) > most:
                return None
            looked = len(self.data)
            yield
        line = bytes(self.data[self.taken : end])
        self.taken = end + 1
        return line.removesuffix(b"\r") if len(line) <= most else None

    def up_to(self, size: int) -> Generator[None, None, bytes]:
        """So many bytes, or fewer if the client ends before."""
        while len(self) < size and not self.ended:
            yield
        with memoryview(self.data) as view:
            found = bytes(view[self.taken : self.taken + size])
        self.taken += len(found)
        return found

    def clear(self) -> None:
        self.data.clear()
        self.taken = 0

    def forget(self) -> None:
        """Make room, once much was taken."""
        if self.taken > MUCH:
            del self.data[: self.taken]
            self.taken = 0

    def rest_of_line(self) -> int:
        """How much more has come before the next line."""
        end = self.data.find(b"\n", self.taken)
        return (end + 1 if end >= 0 else len(self.data)) - self.taken


Talk = Callable[[Incoming], Conversation]
