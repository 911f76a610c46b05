"""Input of a connection as it arrives, for protocols that know no sockets.

A protocol is a generator. It yields None to get more input, the number of a file to wait until that can be
read, or bytes to be sent at once; it returns its last answer. For a client that takes too long, a
TimeoutError is thrown in.
"""

from collections.abc import Callable, Generator

MOST_TAKEN = 1 << 16  # bytes that may stay in memory after the protocol has taken them


Conversation = Generator[int | bytes | None, None, bytes]


class Incoming:
    """Bytes received, and how many of them the protocol has taken."""

    __slots__ = ("complete", "data", "ended", "peer", "taken")

    def __init__(self, peer: int | None = None) -> None:
        self.peer = peer  # the user id of a client at a Unix socket; None at a port, where nobody knows it
        self.data = bytearray()
        self.taken = 0
        self.ended = False  # the client will send no more
        self.complete = False  # when the protocol ends, the client has nothing left to send

    def feed(self, piece: bytes) -> None:
        self.data += piece
        self.ended = not piece

    def __len__(self) -> int:
        return len(self.data) - self.taken

    def read_line(self, longest: int) -> Generator[None, None, bytes | None]:
        """Take the next line, without its line end; None if the input stops in it, or it is too long."""
        searched = self.taken
        while (end := self.data.find(b"\n", searched)) < 0:
            if self.ended or len(self) > longest:
                return None
            searched = len(self.data)
            yield
        line = bytes(self.data[self.taken : end])
        self.taken = end + 1
        return line.removesuffix(b"\r") if len(line) <= longest else None

    def read_up_to(self, size: int) -> Generator[None, None, bytes]:
        """Take `size` bytes, or fewer if the client stops sending before."""
        while len(self) < size and not self.ended:
            yield
        with memoryview(self.data) as view:
            data = bytes(view[self.taken : self.taken + size])
        self.taken += len(data)
        return data

    def clear(self) -> None:
        self.data.clear()
        self.taken = 0

    def drop_since(self, start: int) -> None:
        """Free the bytes taken since a position, as if they had never come."""
        del self.data[start : self.taken]
        self.taken = start

    def drop_taken(self) -> None:
        """Free the bytes that were taken, once there are more than MOST_TAKEN."""
        if self.taken > MOST_TAKEN:
            del self.data[: self.taken]
            self.taken = 0

    def rest_of_line_size(self) -> int:
        """Number of bytes received, but not taken, up to the end of their line."""
        end = self.data.find(b"\n", self.taken)
        return (end + 1 if end >= 0 else len(self.data)) - self.taken


Handler = Callable[[Incoming], Conversation]
