"""Listening sockets of one worker: which clients are accepted, and who gives way when there are too many."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from spamnb.serve.connections import GRACE, IDLE_GRACE, Connection, Connections
from spamnb.serve.conversation import Handler

if TYPE_CHECKING:
    import socket

# Seconds for which a new client need not give way to others: on a busy machine, it may not have sent yet.
FIRST_BYTES_WAIT = 0.025
OUT_OF_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Listeners:
    """Accepts clients at listening sockets, each of which has a protocol."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.loop = connections.loop
        self.handlers: dict[socket.socket, Handler] = {}

    def open(self, listener: socket.socket, handler: Handler) -> None:
        listener.setblocking(False)
        self.handlers[listener] = handler
        self.loop.add_reader(listener, self._accept, listener)

    def stop(self) -> None:
        """Accept the clients that wait already, and no others; the loop stops with the last connection."""
        for listener in self.handlers:
            for _ in range(self.connections.limits.connections):
                if not self._accept(listener, even_if_full=True):
                    break
            self.loop.remove_reader(listener)
            listener.close()
        self.handlers.clear()
        self.connections.stopping = True  # not before: the loop would stop with the first client
        for connection in self.connections.reading:
            connection.wait_at_most(GRACE if connection.incoming.data else IDLE_GRACE)
        self.connections.stop_if_done()

    def close_all(self) -> None:
        """Close all sockets, in a forked process; the event loop is its parent's and stays as it is."""
        for listener in self.handlers:
            listener.close()
        self.connections.close_sockets()

    def _accept(self, listener: socket.socket, even_if_full: bool = False) -> bool:
        """Accept a client and read its request, so that it need not give way to the next; False if none."""
        is_full = len(self.connections) >= self.connections.limits.connections
        if is_full and not even_if_full and not self._can_make_room():
            self._pause()
            return False
        try:
            client, _ = listener.accept()
        except OSError as error:
            if error.errno in OUT_OF_HANDLES:
                self._make_room()
                self._pause()
            return False  # another worker was quicker, or the client is gone
        if is_full:
            self._make_room()
        Connection(self.connections, client, self.handlers[listener]).start()
        return True

    def _can_make_room(self) -> bool:
        slowest = self.connections.slowest()
        return slowest is not None and self.loop.time() >= slowest.since + FIRST_BYTES_WAIT

    def _make_room(self) -> None:
        if slowest := self.connections.slowest():
            slowest.give_way()

    def _pause(self) -> None:
        """Accept nobody for a moment."""
        for listener in self.handlers:
            self.loop.remove_reader(listener)
        self.loop.call_later(FIRST_BYTES_WAIT, self._accept_again)

    def _accept_again(self) -> None:
        for listener in self.handlers:
            self.loop.add_reader(listener, self._accept, listener)
