"""Connections of one worker: what each waits for, and how much memory they may take.

asyncio waits for events and deadlines; the sockets are read and written here. So a request of 4 KB that asks
nothing takes 0.10 ms; with asyncio's transports 0.29, with its streams 0.32. uvloop would gain little (0.08),
as most requests have arrived whole when their connection is accepted (bench/event_loops.py). No event reaches
a closed socket: `Connection.close` first stops watching it, and asyncio then cancels the events due for it.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from spamnb.serve.conversation import Handler, Incoming
from spamnb.serve.held_bytes import HeldBytes

READ_SIZE = 1 << 16  # bytes; a larger buffer would be mapped and unmapped at each read
LARGE_REQUEST = 1 << 16  # bytes: a request, or an answer, that has more may be dropped to free memory
# Seconds that a stopping server leaves to a request that has begun, and to a client that has sent nothing.
GRACE, IDLE_GRACE = 5.0, 0.5


class ConversationError(Exception):
    """An OSError that comes from a protocol, not from the client's socket."""


class Limits(NamedTuple):
    connections: int
    size: int  # bytes of a request
    seconds: float  # for a client to send its request, and again to take the answer


OVERFLOW_ID = 65534  # of nobody; the kernel's default


def peer_of(client: socket.socket) -> int | None:
    """User id of who has connected to a Unix socket, by the kernel's word; -1 where it does not tell.

    Nor does it in a user namespace (`PrivateUsers=`), where every other user has the id of nobody.
    """
    if client.family != socket.AF_UNIX:
        return None
    if not hasattr(socket, "SO_PEERCRED"):
        return -1
    credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    user: int = struct.unpack("iIi", credentials)[1]
    return -1 if user == OVERFLOW_ID else user


class Connections:
    """All connections of a worker, by what they wait for."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        limits: Limits,
        report: Callable[[Exception], None],
        held: HeldBytes | None = None,
    ) -> None:
        self.loop = loop
        self.limits = limits
        self.held = held or HeldBytes(limits.size)
        self.report = report  # called with an error that no protocol expects
        # Connections that wait for a request, for room to write, or for another file; the oldest first.
        self.reading: dict[Connection, None] = {}
        self.writing: dict[Connection, None] = {}
        self.waiting: dict[Connection, None] = {}
        self.stopping = False

    def __len__(self) -> int:
        return len(self.reading) + len(self.writing) + len(self.waiting)

    def stop_if_done(self) -> None:
        if self.stopping and not len(self):
            self.loop.stop()

    def close_sockets(self) -> None:
        for connection in (*self.reading, *self.writing, *self.waiting):
            connection.socket.close()

    def slowest(self) -> Connection | None:
        """Connection whose client has taken longest to send its request, or else to take the answer."""
        return next(iter(self.reading or self.writing), None)

    def limit_held_bytes(self) -> None:
        """Drop who takes longest to send a large request or read a large answer, while too much is held."""
        while self.held.are_too_many:
            large = [c for c in (*self.reading, *self.writing) if c.counted > LARGE_REQUEST]
            if not large:
                return
            min(large, key=lambda connection: connection.since).time_out()


class Connection:
    """Connection to one client: at any time it is in one group of its worker's connections, or closed."""

    def __init__(self, connections: Connections, client: socket.socket, handler: Handler) -> None:
        client.setblocking(False)
        self.connections = connections
        self.socket = client
        self.incoming = Incoming(peer_of(client))
        self.conversation = handler(self.incoming)
        self.outgoing = memoryview(b"")
        self.counted = 0  # bytes of request and answer that count as held
        self.group: dict[Connection, None] | None = None  # None once the connection is closed
        self.since = 0.0  # time at which it joined its group
        self.deadline: TimerHandle | None = None
        self.watched = False

    def start(self) -> None:
        self._join(self.connections.reading)
        self._guard(self._begin)

    def close(self) -> None:
        self._unwatch()
        if self.deadline:
            self.deadline.cancel()
        if self.group is not None:
            del self.group[self]
            self.group = None
        self.socket.close()
        self._count(0)
        self.connections.stop_if_done()

    def _count(self, size: int) -> None:
        self.connections.held.change(size - self.counted)
        self.counted = size

    def time_out(self) -> None:
        self._guard(self._give_up)

    def give_way(self) -> None:
        """End for a newer client, unless the rest of the request has come by now."""
        if self.group is self.connections.reading:
            self._guard(self._read)
        if self.connections.slowest() is self:
            self.time_out()

    def wait_at_most(self, seconds: float) -> None:
        if self.deadline:
            self.deadline.cancel()
        if self.connections.stopping:
            seconds = min(seconds, GRACE)
        self.deadline = self.connections.loop.call_later(seconds, self.time_out)

    def _guard(self, step: Callable[[], None]) -> None:
        """Call a method; whatever goes wrong in it ends this conversation and no other."""
        try:
            step()
        except OSError:  # from the socket: the client is gone
            self.close()
        except Exception as error:
            self.close()
            self.connections.report(error)

    def _resume(self, error: Exception | None = None) -> int | bytes | None:
        """Run the protocol until it waits, and return what it yields, as described in `conversation`."""
        try:
            return self.conversation.throw(error) if error else next(self.conversation)
        except OSError as failure:
            raise ConversationError from failure  # `_guard` takes an OSError for the socket's

    def _join(self, group: dict[Connection, None]) -> None:
        """Move to the end of a group."""
        if self.group is not None:
            del self.group[self]
        self.group = group
        self.since = self.connections.loop.time()
        group[self] = None

    def _when_readable(self, step: Callable[[], None]) -> None:
        self._watch(self.connections.loop.add_reader, step)

    def _watch(self, add: Callable[..., None], step: Callable[[], None]) -> None:
        self._unwatch()
        add(self.socket, self._guard, step)
        self.watched = True

    def _unwatch(self) -> None:
        if self.watched:
            self.connections.loop.remove_reader(self.socket)
            self.connections.loop.remove_writer(self.socket)
            self.watched = False

    def _begin(self) -> None:
        """Read what is there already: most clients have sent their request by now."""
        self._resume()
        self._read()
        if self.group is self.connections.reading:
            self._wait_for_more()

    def _wait_for_more(self) -> None:
        self.wait_at_most(self.connections.limits.seconds)
        self._when_readable(self._read)

    def _read(self) -> None:
        try:
            piece = self.socket.recv(READ_SIZE)
        except BlockingIOError:
            return
        self.incoming.feed(piece)
        self._count(len(self.incoming.data))
        if self.counted > LARGE_REQUEST:
            self.connections.limit_held_bytes()
        if self.group is self.connections.reading:
            self._advance()
            if self.group is self.connections.reading or self.group is self.connections.waiting:
                self._count(len(self.incoming.data))

    def _advance(self) -> None:
        try:
            while isinstance(awaited := self._resume(), bytes):
                self._send(awaited)
        except StopIteration as end:
            self._send_last(end.value)
            return
        if awaited is not None:
            self._wait_for(awaited)

    def _send(self, answer: bytes) -> None:
        """Send an answer that is not the last; a client without room for it does not read, and is dropped."""
        if self.socket.send(answer) < len(answer):
            raise ConnectionAbortedError
        self._join(self.connections.reading)
        self.wait_at_most(IDLE_GRACE if self.connections.stopping else self.connections.limits.seconds)

    def _wait_for(self, awaited: int) -> None:
        """Wait until another file can be read; nothing is read from the client meanwhile."""
        self._join(self.connections.waiting)
        self._unwatch()
        if self.deadline:
            self.deadline.cancel()
        self.connections.loop.add_reader(awaited, self._guard, partial(self._stop_waiting, awaited))

    def _stop_waiting(self, awaited: int) -> None:
        self.connections.loop.remove_reader(awaited)
        self._join(self.connections.reading)
        self._wait_for_more()
        self._advance()

    def _send_last(self, answer: bytes) -> None:
        self._join(self.connections.writing)
        self.incoming.clear()
        self.outgoing = memoryview(answer)
        self._count(len(answer))
        self._write()
        if self.outgoing:
            self.connections.limit_held_bytes()
        if self.group is self.connections.writing and self.outgoing:
            self.wait_at_most(self.connections.limits.seconds)
            self._watch(self.connections.loop.add_writer, self._write)

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.outgoing = self.outgoing[self.socket.send(self.outgoing) :]
        if not self.outgoing:
            self._hang_up()

    def _hang_up(self) -> None:
        """Close, but not on a client that still sends: the answer it has not read yet would be lost."""
        self.outgoing = memoryview(b"")
        self._count(0)
        if self.incoming.complete or self.incoming.ended:
            self.close()
            return
        self.socket.shutdown(socket.SHUT_WR)
        self.wait_at_most(self.connections.limits.seconds)
        self._when_readable(self._discard_input)

    def _discard_input(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if not self.socket.recv(READ_SIZE):
                self.close()

    def _give_up(self) -> None:
        """Tell the protocol that its client takes too long, and send its last answer if it has one."""
        try:
            if self.group is self.connections.reading:
                self._resume(TimeoutError())
        except StopIteration as end:
            self.socket.send(end.value)
        self.close()
