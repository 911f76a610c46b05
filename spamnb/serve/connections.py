"""One worker's connections: what each waits for, and how much they may take.

Events and times are asyncio's, the sockets are read and written here: a request of 4 KB that asks nothing
takes 0.10 ms, with asyncio's transports 0.29, with its streams 0.32. uvloop would make it 0.08: most requests
are there as a whole when their connection is accepted (bench/event_loops.py). An event for a socket that was
closed meanwhile reaches nobody: asyncio cancels what is due for a socket once it is no longer watched, and in
`Connection.close` this comes before the socket is closed.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spamnb.serve.conversation import Incoming

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, TimerHandle
    from collections.abc import Callable

    from spamnb.serve.conversation import Readable, Talk

CHUNK = 1 << 16  # bytes read at a time; more would be mapped and unmapped each time
LARGE = 1 << 16  # a request that has sent as much may have to make room
MOST_HELD = 4  # times the largest request allowed: what all of them may hold together
# Seconds that a client has to say something before it may have to make room: one that was accepted before it
# could send, on a busy machine, must not be lost to a crowd.
FIRST_WORD = 0.025
# When the server stops: seconds more for a request that has begun, and for a client that is silent so far.
GRACE, SILENT_GRACE = 5.0, 0.5
OUT_OF_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class ConversationError(Exception):
    """An error of the system that a protocol did not expect."""


class Limits(NamedTuple):
    connections: int
    size: int  # bytes of a request
    seconds: float  # to send a request, and as much to take its answer


class Connections:
    """Serves the clients of some listening sockets, at each with the protocol spoken there."""

    def __init__(self, loop: AbstractEventLoop, limits: Limits, report: Callable[[Exception], None]) -> None:
        self.loop = loop
        self.limits = limits
        self.report = report  # an error that no protocol expects
        self.doors: list[tuple[socket.socket, Talk]] = []
        # Who is waited for, the longest first: to ask, to take the answer, and for something else.
        self.reading: dict[Connection, None] = {}
        self.writing: dict[Connection, None] = {}
        self.waiting: dict[Connection, None] = {}
        self.stopping = False

    def open(self, door: socket.socket, talk: Talk) -> None:
        door.setblocking(False)
        self.doors.append((door, talk))
        self.loop.add_reader(door, self._accept, door, talk)

    def stop(self) -> None:
        """Let in who is at the door, then close it; the loop stops with the last connection."""
        for door, talk in self.doors:
            for _ in range(self.limits.connections):
                if not self._accept(door, talk, patient=False):
                    break
            self.loop.remove_reader(door)
            door.close()
        self.doors.clear()
        self.stopping = True  # not before: who is served at once would be the last
        for connection in self.reading:
            connection.wait_at_most(GRACE if connection.incoming.data else SILENT_GRACE)
        self.stop_if_done()

    def stop_if_done(self) -> None:
        if self.stopping and not len(self):
            self.loop.stop()

    def leave(self) -> None:
        """Close all sockets in a process forked from this one; the loop stays the parent's."""
        for door, _ in self.doors:
            door.close()
        for connection in (*self.reading, *self.writing, *self.waiting):
            connection.socket.close()

    def __len__(self) -> int:
        return len(self.reading) + len(self.writing) + len(self.waiting)

    def _accept(self, door: socket.socket, talk: Talk, patient: bool = True) -> bool:
        """Take one client, and hear it before the next: who has asked does not give way to a crowd."""
        is_full = len(self) >= self.limits.connections
        if is_full and patient and not self._can_make_room():
            self._pause()
            return False
        try:
            client, _ = door.accept()
        except OSError as error:
            if error.errno in OUT_OF_HANDLES:
                self._make_room()
                self._pause()
            return False  # another worker was quicker, or the client is gone
        if is_full:
            self._make_room()
        Connection(self, client, talk).start()
        return True

    def _oldest(self) -> Connection | None:
        """Find who has taken longest to ask, or else to take the answer."""
        return next(iter(self.reading or self.writing), None)

    def _can_make_room(self) -> bool:
        oldest = self._oldest()
        return oldest is not None and self.loop.time() >= oldest.since + FIRST_WORD

    def _make_room(self) -> None:
        if oldest := self._oldest():
            oldest.time_out()

    def _pause(self) -> None:
        """Accept nobody for a moment."""
        for door, _ in self.doors:
            self.loop.remove_reader(door)
        self.loop.call_later(FIRST_WORD, self._accept_again)

    def _accept_again(self) -> None:
        for door, talk in self.doors:
            self.loop.add_reader(door, self._accept, door, talk)

    def hold_less(self) -> None:
        """Drop the oldest of the large requests, once all together hold too much."""
        held = sum(len(connection.incoming.data) for connection in self.reading)
        if held > MOST_HELD * self.limits.size:
            next(c for c in self.reading if len(c.incoming.data) > LARGE).time_out()


class Connection:
    """One client: at any time it is waited for by one group of its worker's connections, or closed."""

    __slots__ = (
        "conversation",
        "deadline",
        "group",
        "incoming",
        "of_worker",
        "outgoing",
        "since",
        "socket",
        "watched",
    )

    def __init__(self, of_worker: Connections, client: socket.socket, talk: Talk) -> None:
        client.setblocking(False)
        self.of_worker = of_worker
        self.socket = client
        self.incoming = Incoming()
        self.conversation = talk(self.incoming)
        self.outgoing = memoryview(b"")
        self.group: dict[Connection, None] | None = None  # none: closed
        self.since = 0.0  # when it joined this group
        self.deadline: TimerHandle | None = None
        self.watched = False

    def start(self) -> None:
        self._join(self.of_worker.reading)
        self._do(self._begin)

    def close(self) -> None:
        self._unwatch()
        if self.deadline:
            self.deadline.cancel()
        if self.group is not None:
            del self.group[self]
            self.group = None
        self.socket.close()
        self.of_worker.stop_if_done()

    def time_out(self) -> None:
        self._do(self._give_up)

    def wait_at_most(self, seconds: float) -> None:
        if self.deadline:
            self.deadline.cancel()
        if self.of_worker.stopping:
            seconds = min(seconds, GRACE)
        self.deadline = self.of_worker.loop.call_later(seconds, self.time_out)

    def _do(self, step: Callable[[], None]) -> None:
        """Take a step; whatever goes wrong in it ends this conversation and no other."""
        try:
            step()
        except OSError:  # from the socket: the client is gone
            self.close()
        except Exception as error:
            self.close()
            self.of_worker.report(error)

    def _resume(self, error: Exception | None = None) -> Readable | bytes | None:
        """Go on in the protocol up to where it waits for something, which is returned."""
        try:
            return self.conversation.throw(error) if error else next(self.conversation)
        except OSError as failure:
            raise ConversationError from failure  # not to be taken for the socket's

    def _join(self, group: dict[Connection, None]) -> None:
        """Be the last of those that are waited for likewise."""
        if self.group is not None:
            del self.group[self]
        self.group = group
        self.since = self.of_worker.loop.time()
        group[self] = None

    def _watch_reading(self, step: Callable[[], None]) -> None:
        self._unwatch()
        self.of_worker.loop.add_reader(self.socket, self._do, step)
        self.watched = True

    def _watch_writing(self, step: Callable[[], None]) -> None:
        self._unwatch()
        self.of_worker.loop.add_writer(self.socket, self._do, step)
        self.watched = True

    def _unwatch(self) -> None:
        if self.watched:
            self.of_worker.loop.remove_reader(self.socket)
            self.of_worker.loop.remove_writer(self.socket)
            self.watched = False

    def _begin(self) -> None:
        """Hear what is there already; most clients have asked by now."""
        self._resume()
        self._read()
        if self.group is self.of_worker.reading:
            self._wait_for_more()

    def _wait_for_more(self) -> None:
        self.wait_at_most(self.of_worker.limits.seconds)
        self._watch_reading(self._read)

    def _read(self) -> None:
        try:
            piece = self.socket.recv(CHUNK)
        except BlockingIOError:
            return
        self.incoming.feed(piece)
        if len(self.incoming.data) > LARGE:
            self.of_worker.hold_less()
        if self.group is self.of_worker.reading:
            self._go_on()

    def _go_on(self) -> None:
        try:
            while isinstance(awaited := self._resume(), bytes):
                self._say(awaited)
        except StopIteration as end:
            self._answer(end.value)
            return
        if awaited is not None:
            self._wait_for(awaited)

    def _say(self, answer: bytes) -> None:
        """Send an answer before the next request. A client without room for it does not listen."""
        if self.socket.send(answer) < len(answer):
            raise ConnectionAbortedError
        self._join(self.of_worker.reading)
        self.wait_at_most(SILENT_GRACE if self.of_worker.stopping else self.of_worker.limits.seconds)

    def _wait_for(self, awaited: Readable) -> None:
        """Wait until something else can be read; nothing is read of the client meanwhile."""
        self._join(self.of_worker.waiting)
        self._unwatch()
        if self.deadline:
            self.deadline.cancel()
        self.of_worker.loop.add_reader(awaited, self._do, partial(self._come_back, awaited))

    def _come_back(self, awaited: Readable) -> None:
        self.of_worker.loop.remove_reader(awaited)
        self._join(self.of_worker.reading)
        self._wait_for_more()
        self._go_on()

    def _answer(self, answer: bytes) -> None:
        self._join(self.of_worker.writing)
        self.outgoing = memoryview(answer)
        self._write()
        if self.group is self.of_worker.writing and self.outgoing:
            self.wait_at_most(self.of_worker.limits.seconds)
            self._watch_writing(self._write)

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.outgoing = self.outgoing[self.socket.send(self.outgoing) :]
        if not self.outgoing:
            self._hang_up()

    def _hang_up(self) -> None:
        """Close, but not on a client that still sends: the answer it has not read yet would be lost."""
        if self.incoming.complete or self.incoming.ended:
            self.close()
            return
        self.socket.shutdown(socket.SHUT_WR)
        self.wait_at_most(self.of_worker.limits.seconds)
        self._watch_reading(self._ignore)

    def _ignore(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if not self.socket.recv(CHUNK):
                self.close()

    def _give_up(self) -> None:
        """Tell the protocol that its client takes too long; it may have a last word."""
        try:
            if self.group is self.of_worker.reading:
                self._resume(TimeoutError())
        except StopIteration as end:
            self.socket.send(end.value)
        self.close()
