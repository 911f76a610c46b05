"""Connections to clients, with limits on the time of each client and on the memory of all together.

A task of asyncio serves each client. To drop a client, the server shortens its timeout: the task then ends
with a TimeoutError, as for a client that is too slow.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from spamnb.serve.options import Options

READ_SIZE = 1 << 16  # bytes
LARGE = 1 << 16  # bytes: a client that holds more may be dropped to free memory
MAX_HELD = 4  # all clients together may hold this many messages of the largest size
# Seconds that a stopping server allows a request that has begun, and a client that has sent nothing.
GRACE, IDLE_GRACE = 5.0, 0.5
STOP_TIMEOUT = 45.0  # seconds for all clients to end; learning may wait 30 of them for a lock
# Seconds before a new client has to give way to others: on a busy machine, its first bytes may be late.
FIRST_BYTES_WAIT = 0.010
PAUSE = 0.001  # seconds, in which the loop reads what has arrived
ENOUGH = 0.005  # seconds from one such pause to the next
OVERFLOW_ID = 65534  # the user `nobody`; the kernel's default for unknown users


class Gone(Exception):
    """The client has closed the connection, or the network failed."""


class HeldBytes:
    """A count of the bytes of mail in memory: requests, unsent answers, messages to be learned."""

    def __init__(self, largest: int) -> None:
        self.most = MAX_HELD * largest
        self.now = 0

    @property
    def are_too_many(self) -> bool:
        return self.now > self.most

    def change(self, size: int) -> None:
        self.now += size

    def take(self, size: int) -> bool:
        """Add `size` to the count, unless the total would be too large; return whether `size` was added."""
        if self.now + size > self.most:
            return False
        self.now += size
        return True


class Clients:
    """The clients that are connected to the server."""

    def __init__(self, options: Options, report: Callable[[Exception], None]) -> None:
        self.options = options
        self.held = HeldBytes(options.largest)
        self.report = report  # called with an unexpected error
        self.tasks: set[asyncio.Task[None]] = set()
        self.waited_for: dict[Connection, None] = {}  # clients the server waits for, the longest wait first
        self.stopping = False
        self.paused_at = 0.0  # when a full server last took time to read what had arrived

    def start(self, client: socket.socket, handler: Handler) -> None:
        task = asyncio.create_task(self._serve(client, handler))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _serve(self, client: socket.socket, handler: Handler) -> None:
        """Serve a client until the conversation ends; an error ends this conversation, but not the server."""
        connection = Connection(self, client)
        try:
            await connection.end(await handler(connection))
        except (Gone, TimeoutError):
            pass
        except Exception as error:
            self.report(error)
        finally:
            client.close()
            connection.clear()  # after an error, the connection may live until garbage is collected

    @property
    def are_full(self) -> bool:
        return len(self.tasks) >= self.options.max_connections

    async def make_room(self) -> None:
        """Wait until one more client can be accepted; a slow client may be dropped to make room."""
        loop = asyncio.get_running_loop()
        while self.are_full:
            if loop.time() > self.paused_at + ENOUGH:
                await asyncio.sleep(PAUSE)
                self.paused_at = loop.time()
            if self.drop_slowest():
                return
            await asyncio.sleep(PAUSE)

    def drop_slowest(self) -> bool:
        """Drop the client that the server waits for longest; return False if no wait is long enough."""
        slowest = next(iter(self.waited_for), None)
        if slowest is None or slowest.since + FIRST_BYTES_WAIT > slowest.loop.time():
            return False
        slowest.give_way()
        return True

    def limit_held_bytes(self) -> None:
        """While too much memory is held, drop the slowest client that has a large request or answer."""
        while self.held.are_too_many:
            large = (connection for connection in self.waited_for if connection.held > LARGE)
            if (slowest := next(large, None)) is None:
                return
            slowest.give_way()

    async def stop(self) -> None:
        """Give clients GRACE seconds to finish begun requests, others IDLE_GRACE; wait until all are gone."""
        self.stopping = True
        for connection in self.waited_for:
            connection.shorten_to(connection.grace)
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=STOP_TIMEOUT)


class Connection:
    """The connection to one client; protocols read and write through it."""

    def __init__(self, clients: Clients, client: socket.socket) -> None:
        client.setblocking(False)
        self.loop = asyncio.get_running_loop()
        self.clients = clients
        self.socket = client
        self.peer = peer_of(client)
        self.data = bytearray()  # received, but not read yet
        self.held = 0  # bytes counted in HeldBytes
        self.begun = False  # whether a request has begun and is not answered yet
        self.ended = False  # whether the client will send no more
        self.complete = False  # whether nothing needs to be read from the client after the last answer
        self.since = 0.0  # when the server began to wait for the client
        self.timeout: asyncio.Timeout

    @property
    def grace(self) -> float:
        return GRACE if self.begun else IDLE_GRACE

    @asynccontextmanager
    async def waiting(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Limit the time of a `with` block in which the server waits for this client, and may drop it."""
        self.since = self.loop.time()
        self.clients.waited_for[self] = None
        seconds = seconds or self.clients.options.timeout
        try:
            async with asyncio.timeout(
                min(seconds, self.grace) if self.clients.stopping else seconds
            ) as limit:
                self.timeout = limit
                yield
        finally:
            self.clients.waited_for.pop(self, None)

    def give_way(self) -> None:
        """Drop this client, to make room for others."""
        del self.clients.waited_for[self]
        self.shorten_to(0.0)
        self.hold(0)

    def shorten_to(self, seconds: float) -> None:
        """Make the server wait for this client for at most `seconds` from now."""
        end = self.loop.time() + seconds
        if not self.timeout.expired():
            self.timeout.reschedule(min(self.timeout.when() or end, end))

    def hold(self, size: int) -> None:
        """Note how many bytes this client holds; if all clients together hold too many, drop slow ones."""
        self.clients.held.change(size - self.held)
        self.held = size
        if size > LARGE:
            self.clients.limit_held_bytes()

    def clear(self) -> None:
        self.data.clear()
        self.hold(0)

    async def receive(self) -> bytes:
        """Return the next bytes that the client sends; b"" if the client will send no more."""
        await asyncio.sleep(0)  # so that a client that sends endlessly leaves time to the others
        try:
            piece = await self.loop.sock_recv(self.socket, READ_SIZE)
        except OSError as error:
            raise Gone from error
        self.begun, self.ended = True, not piece
        return piece

    async def _receive_more(self) -> None:
        self.data += await self.receive()
        self.hold(len(self.data))

    async def read_line(self, longest: int) -> bytes | None:
        """Return the next line without its line end; None if it is too long, or if its end never comes."""
        searched = 0
        while (end := self.data.find(b"\n", searched)) < 0:
            if self.ended or len(self.data) > longest:
                return None
            searched = len(self.data)
            await self._receive_more()
        line = bytes(self.data[:end])
        del self.data[: end + 1]
        return line.removesuffix(b"\r") if len(line) <= longest else None

    async def read_up_to(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer if the client stops sending."""
        while len(self.data) < size and not self.ended:
            await self._receive_more()
        with memoryview(self.data) as view:
            data = bytes(view[:size])
        del self.data[:size]
        return data

    async def send(self, answer: bytes) -> None:
        """Send the answer to a request."""
        async with self.waiting():
            self.hold(len(answer))
            await self.write(answer)
        self.hold(0)
        self.begun = False

    async def write(self, data: bytes) -> None:
        try:
            await self.loop.sock_sendall(self.socket, data)
        except OSError as error:
            raise Gone from error

    async def end(self, answer: bytes) -> None:
        """Send the last answer, then ignore further input; to close at once could lose the answer."""
        await self.send(answer)
        if self.complete or self.ended:
            return
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            raise Gone from error
        async with self.waiting():
            while await self.receive():
                pass


Handler = Callable[[Connection], Awaitable[bytes]]  # returns the last answer


async def readable(file: int | socket.socket) -> None:
    """Wait until a file, or a listening socket, has something to read."""
    loop = asyncio.get_running_loop()
    event = asyncio.Event()
    loop.add_reader(file, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(file)


def peer_of(client: socket.socket) -> int | None:
    """Return the user id of the client of a Unix socket, as the kernel reports it; None for a TCP client.

    Return -1 if the id is unknown: in a user namespace, for example, all other users look like `nobody`.
    """
    if client.family != socket.AF_UNIX:
        return None
    if not hasattr(socket, "SO_PEERCRED"):
        return -1
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user: int = struct.unpack("iIi", credentials)[1]
    return -1 if user == OVERFLOW_ID else user
