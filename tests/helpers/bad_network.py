"""A bad network between a client and a server on this machine: a proxy that cuts or stalls connections.

with BadNetwork(server.port, Weather(cut_at=b"UID MOVE", cut_when="half")) as network:
    ...  # connect to network.port
"""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from helpers.waiting import PATIENCE, until

HOST = "127.0.0.1"
MAX_LINE = 1 << 26


@dataclass(frozen=True)
class Weather:
    """What the proxy does to one connection; with no arguments, it only passes everything on."""

    stall_received: int | None = None  # after so many bytes of the server nothing more comes, for good
    cut_at: bytes | None = None  # end it at a command, for instance b"UID MOVE", b"": at any; not through TLS
    # lost: the server never sees it; silent: it does, but nothing of its answer comes; half: all of that but
    # the tagged line; answered: just after that line
    cut_when: Literal["lost", "silent", "half", "answered"] = "silent"
    nth: int = 1  # at which of such commands
    reset: bool = False  # end it by a reset, not by an end of file


FAIR = Weather()


class BadNetwork:
    """A proxy that listens at `port`; a test may change `weather`, which holds for new connections."""

    def __init__(self, server_port: int, weather: Weather = FAIR):
        self.server_port = server_port
        self.weather = weather
        self.connections = 0  # so far
        self.before_cut: Callable[[], None] = lambda: None  # called just before one is ended by its weather
        self._open: set[asyncio.Task] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._server = self._wait_for(asyncio.start_server(self._serve, HOST, 0, limit=MAX_LINE))
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._server.close)
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self):
        """Cut all open connections at once, whatever they are doing."""
        self._wait_for(self._cut())

    async def _cut(self):
        ending = list(self._open)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def _wait_for(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=PATIENCE)

    async def _serve(self, from_client, to_client):
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self._open.add(task)
        connection = Connection(self.weather, lambda: self.before_cut())
        from_server, to_server = await asyncio.open_connection(HOST, self.server_port, limit=MAX_LINE)
        with suppress(OSError, asyncio.CancelledError):
            await first_of(connection.up(from_client, to_server), connection.down(from_server, to_client))
        await connection.end(to_client)
        with suppress(OSError, asyncio.CancelledError, asyncio.TimeoutError):
            to_server.write_eof()
            await asyncio.wait_for(from_server.read(), PATIENCE)  # it has done all it was asked
        await connection.end(to_server)
        self._open.discard(task)

    def settle(self):
        """Wait until no connection is open, so that the server has finished its work."""
        until(lambda: not self._open)


async def first_of(*coroutines):
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Connection:
    """One connection through the proxy, and what its weather does to it."""

    def __init__(self, weather: Weather, before_cut: Callable[[], None]):
        self.weather = weather
        self.before_cut = before_cut
        self.seen = 0  # of the commands to cut at
        self.tag: bytes | None = None  # of the one it is cut at

    async def up(self, reader, writer):
        await self._pump(reader, writer, self._command)

    async def down(self, reader, writer):
        await self._pump(reader, writer, self._answer, self.weather.stall_received)
        if self.weather.stall_received is not None:
            await asyncio.Event().wait()

    async def end(self, writer):
        with suppress(OSError, asyncio.CancelledError):
            if self.weather.reset:
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.close()
            await asyncio.wait_for(writer.wait_closed(), 1)
        writer.transport.abort()

    async def _pump(self, reader, writer, change, left=None):
        """Pass each piece of data through `change` and on, up to `left` bytes (None: no limit) or a cut."""
        by_line = self.weather.cut_at is not None
        while left != 0:
            data = await (reader.readline() if by_line else reader.read(1 << 16))
            if not data:
                return
            data, last = change(data[:left])
            writer.write(data)
            await writer.drain()
            left = 0 if last else left and left - len(data)
        self.before_cut()

    def _command(self, line):
        tag, _, command = line.partition(b" ")
        if self.weather.cut_at is not None and command.upper().startswith(self.weather.cut_at):
            self.seen += 1
            if self.seen == self.weather.nth:
                self.tag = tag
        lost = self.tag is not None and self.weather.cut_when == "lost"
        return (b"" if lost else line), lost

    def _answer(self, line):
        if self.tag is None:
            return line, False
        if line.startswith(self.tag + b" "):
            return (line if self.weather.cut_when == "answered" else b""), True
        return (b"" if self.weather.cut_when == "silent" else line), False
