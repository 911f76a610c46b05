"""What a request costs the server beside its work: as it is served, and by what asyncio offers instead.

CPU time of the serving process, which other work on the machine changes less than the time on the clock. A
request is its length, a line, and as many bytes; the answer is short. uvloop is measured if it is installed.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

from tables import table

from spamnb.serve.connections import Connections, Limits
from spamnb.serve.conversation import Conversation, Incoming
from spamnb.serve.listeners import Listeners

LIMITS = Limits(connections=256, size=1 << 20, seconds=30.0)
BACKLOG = 1024
SIZES = {"4 KB": 4096, "100 KB": 100_000}  # bytes of a request
REQUESTS = 2000
TURNS = 5
ANSWER = b"heard\r\n"
NewLoop = Callable[[], asyncio.AbstractEventLoop]


def handle(incoming: Incoming) -> Conversation:
    line = yield from incoming.read_line(100)
    yield from incoming.read_up_to(int(line or b"0"))
    incoming.complete = True
    return ANSWER


class Transported(asyncio.Protocol):
    """The same conversation by asyncio's transports."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.incoming = Incoming()
        self.conversation = handle(self.incoming)
        next(self.conversation)
        self.deadline = asyncio.get_running_loop().call_later(LIMITS.seconds, transport.abort)

    def data_received(self, data: bytes) -> None:
        self.incoming.feed(data)
        try:
            next(self.conversation)
        except StopIteration as end:
            self.transport.write(end.value)
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self.deadline.cancel()


async def streamed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The same by asyncio's streams."""
    async with asyncio.timeout(LIMITS.seconds):
        await reader.readexactly(int(await reader.readline()))
        writer.write(ANSWER)
        await writer.drain()
    writer.close()


def connections(listener: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
    served = Connections(loop, LIMITS, lambda error: print(error, file=sys.stderr))
    Listeners(served).open(listener, handle)


def transports(listener: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
    loop.run_until_complete(loop.create_server(Transported, sock=listener, backlog=BACKLOG))


def streams(listener: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
    loop.run_until_complete(asyncio.start_server(streamed, sock=listener, backlog=BACKLOG))


def cost(serve: Callable[..., None], new_loop: NewLoop, size: int) -> float:
    """Milliseconds of CPU a request."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    process = os.fork()
    if not process:
        loop = new_loop()
        asyncio.set_event_loop(loop)
        serve(listener, loop)
        loop.run_forever()
    with listener:
        address, words = listener.getsockname(), b"%d\r\n" % size + b"x" * size
        for _ in range(REQUESTS):
            with socket.create_connection(address) as client:
                client.sendall(words)
                client.shutdown(socket.SHUT_WR)
                while client.recv(1 << 16):
                    pass
    os.kill(process, 9)
    used = os.wait4(process, 0)[2]
    return 1000 * (used.ru_utime + used.ru_stime) / REQUESTS


def main() -> None:
    loops: dict[str, NewLoop] = {"asyncio": asyncio.new_event_loop}
    try:
        import uvloop

        loops["uvloop"] = uvloop.new_event_loop
    except ImportError:
        print("uvloop is not installed")
    forms = [(serve, name) for serve in (connections, transports, streams) for name in loops]
    rows = []
    for serve, name in forms:
        costs = [median(cost(serve, loops[name], size) for _ in range(TURNS)) for size in SIZES.values()]
        rows.append([f"{serve.__name__}, {name}", *(f"{each:.3f} ms" for each in costs)])
    print(table(["a request of", *SIZES], rows))


if __name__ == "__main__":
    main()
