"""Put servers under load: many clients at once that behave badly at random, and one good client.

A seed decides what each client does and when, so that a run can be repeated. Whatever they do, no server may
die or log anything unexpected, and the good client must always get an answer.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from helpers.packets import HELLO, message, packet
from helpers.serving import LOOPBACK, Serving, everything, post, request
from helpers.waiting import PATIENCE
from spamnb.serve.clients import FIRST_BYTES_WAIT

MEGABYTE = 1 << 20
LIMITS: dict[str, Any] = {"max_connections": 80, "timeout": 1.0, "milter_timeout": 1.0, "max_size": MEGABYTE}
AT_ONCE = 24  # clients of this kind or that
CLIENTS = 4  # that ask for long
CROWD = 60  # connections of one client: two such clients are more than a server takes
PAUSE = 0.05  # seconds, on average, between two clients in the same place
GOOD_PAUSE = 0.01
COMMANDS = ("CHECK", "SYMBOLS", "REPORT", "PROCESS", "HEADERS", "PING")
TEACHING = 0.05  # of the requests to learn
GET = b"GET /metrics HTTP/1.0\r\n\r\n"


@dataclass(frozen=True)
class Address:
    """Where a server listens, and a function that makes a valid request for it."""

    host: str
    port: int
    asks: Callable[[random.Random], bytes]

    async def connect(self) -> socket.socket:
        client = socket.socket()
        client.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(client, (self.host, self.port))
        except BaseException:
            client.close()
            raise
        return client


@dataclass
class Outcome:
    """The results of a run: clients by behaviour, and how the good client was served."""

    clients: dict[str, int] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)  # seconds, of the good client
    # What it heard instead of an answer, if it asked at once: a client slow to ask may be dropped.
    refused: list[bytes] = field(default_factory=list)

    def latency(self, share: float) -> float:
        """Return within how many seconds a share of the good client's requests was answered."""
        return sorted(self.latencies)[min(int(share * len(self.latencies)), len(self.latencies) - 1)]


async def hear(client: socket.socket) -> bytes:
    """Return everything that the server sends until it closes the connection."""
    loop, heard = asyncio.get_running_loop(), bytearray()
    async with asyncio.timeout(PATIENCE):
        while piece := await loop.sock_recv(client, 1 << 16):
            heard += piece
    return bytes(heard)


async def say(client: socket.socket, words: bytes) -> None:
    async with asyncio.timeout(PATIENCE):
        await asyncio.get_running_loop().sock_sendall(client, words)


def cut(chance: random.Random, words: bytes) -> bytes:
    return words[: chance.randrange(len(words) + 1)]


Behaviour = Callable[[Address, random.Random], Awaitable[None]]
Kinds = tuple[Behaviour, ...]


async def talk(address: Address, words: bytes, end: bool = False) -> None:
    """Send bytes, close the sending side if `end`, and read the answer to its end."""
    with await address.connect() as client:
        await say(client, words)
        if end:
            client.shutdown(socket.SHUT_WR)
        await hear(client)


async def asks(address: Address, chance: random.Random) -> None:
    await talk(address, address.asks(chance), end=True)


async def is_slow(address: Address, chance: random.Random) -> None:
    """Send a few bytes of a request at a time, up to 50 times; then read the answer."""
    words, step = address.asks(chance), chance.choice((1, 7, 100))
    with await address.connect() as client:
        for at in range(0, min(len(words), 50 * step), step):
            await say(client, words[at : at + step])
            await asyncio.sleep(chance.expovariate(1 / PAUSE))
        await hear(client)


async def breaks_off(address: Address, chance: random.Random) -> None:
    with await address.connect() as client:
        await say(client, cut(chance, address.asks(chance)))


async def stays_half_open(address: Address, chance: random.Random) -> None:
    """Send the beginning of a request, perhaps close the sending side, and read the answer."""
    await talk(address, cut(chance, address.asks(chance)), end=chance.random() < 0.5)


async def resets(address: Address, chance: random.Random) -> None:
    with await address.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await say(client, cut(chance, address.asks(chance)))
        await asyncio.sleep(chance.choice((0.0, 0.001, 0.1)))


async def crowds(address: Address, chance: random.Random) -> None:
    """Open many connections; send the beginning of a request on some of them."""
    clients = []
    try:
        for _ in range(CROWD):
            clients.append(await address.connect())
            if chance.random() < 0.5:
                await say(clients[-1], cut(chance, address.asks(chance)))
        await asyncio.sleep(chance.choice((0.0, 0.02, 1.2)))
    finally:
        for client in clients:
            client.close()


async def is_oversized(address: Address, chance: random.Random) -> None:
    """Send a message that is too large, with no, the true or a huge length; go on after the refusal."""
    length = chance.choice((None, 3 * MEGABYTE, 10**17))
    await talk(address, request("CHECK", b"x" * 3 * MEGABYTE, Content_length=length))


async def pipelines(address: Address, chance: random.Random) -> None:
    await talk(address, b"".join(address.asks(chance) for _ in range(chance.randrange(2, 6))))


async def does_not_listen(address: Address, chance: random.Random) -> None:
    with await address.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await say(client, request("PROCESS", b"Subject: x\n\n" + b"x" * 500_000))
        await asyncio.sleep(chance.choice((0.0, 1.2)))


async def talks_nonsense(address: Address, chance: random.Random) -> None:
    words = bytearray(address.asks(chance))
    for _ in range(chance.randrange(1, 9)):
        words[chance.randrange(len(words))] = chance.randrange(256)
    await talk(address, bytes(words), end=True)


BEHAVIOURS: Kinds = (
    asks, is_slow, breaks_off, stays_half_open, resets, crowds, is_oversized, pipelines, does_not_listen,
    talks_nonsense,
)  # fmt: skip


class Load:
    """A server of each protocol, and addresses for: spamd, the milter, rspamd and metrics."""

    def __init__(self, start: Callable[..., Serving], model: str, messages: list[bytes]) -> None:
        """Start the servers with a model that clients may change."""
        self.messages = messages
        options = {"model": model, **LIMITS}
        self.spamd = start(http=(LOOPBACK,), allow_tell=True, **options)
        self.milter = start(milter=True, **options)
        self.addresses = (
            self._address(self.spamd.address, self._request),
            self._address(self.milter.address, self._session),
            self._address(self.spamd.http, self._post),
            self._address(self.spamd.http, lambda _: GET),
        )

    @staticmethod
    def _address(address: str, asks: Callable[[random.Random], bytes]) -> Address:
        host, _, port = address.rpartition(":")
        return Address(host, int(port), asks)

    def _request(self, chance: random.Random) -> bytes:
        raw, version = chance.choice(self.messages), chance.choice(("1.2", "1.5"))
        if chance.random() < TEACHING:
            return request("TELL", raw, Set="local", Message_class=chance.choice(("ham", "spam")))
        return request(chance.choice(COMMANDS), raw, version)

    def _post(self, chance: random.Random) -> bytes:
        raw = chance.choice(self.messages)
        if chance.random() < TEACHING:
            return post(chance.choice(("/learnspam", "/learnham")), raw)
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(raw), raw)
        in_chunks = post("/checkv2", chunks, Content_Length=None, Transfer_Encoding="chunked")
        return chance.choice((post("/checkv2", raw), in_chunks, b"GET /metrics HTTP/1.0\r\n\r\n"))

    def _session(self, chance: random.Random) -> bytes:
        shown = (message(chance.choice(self.messages)) for _ in range(chance.randrange(1, 3)))
        return HELLO + b"".join(shown) + packet(b"Q")

    def run(self, seconds: float, seed: int, most: int = sys.maxsize, kinds: Kinds = BEHAVIOURS) -> Outcome:
        """Run clients for some seconds, or until `most` have been started; return the results."""
        outcome = Outcome()
        with self._good_client(outcome, random.Random(seed)):
            asyncio.run(self._all(seconds, seed, most, kinds, outcome))
        return outcome

    async def _all(self, seconds: float, seed: int, most: int, kinds: Kinds, outcome: Outcome) -> None:
        end = time.monotonic() + seconds

        async def one_after_the_other(place: int) -> None:
            chance = random.Random(f"{seed} {place}")
            while time.monotonic() < end and sum(outcome.clients.values()) < most:
                behaves, address = chance.choice(kinds), chance.choices(self.addresses, (6, 3, 3, 1))[0]
                name = behaves.__name__
                outcome.clients[name] = outcome.clients.get(name, 0) + 1
                with suppress(ConnectionError):  # the server may have hung up on it
                    await behaves(address, random.Random(chance.random()))
                await asyncio.sleep(chance.expovariate(1 / PAUSE))

        async with asyncio.TaskGroup() as group:
            for place in range(AT_ONCE):
                group.create_task(one_after_the_other(place))

    @contextmanager
    def _good_client(self, outcome: Outcome, chance: random.Random) -> Iterator[None]:
        """Run the good client in a thread during the `with` block: it asks as spamc does, without retries."""
        stop = threading.Event()

        def ask() -> None:
            while not stop.wait(GOOD_PAUSE):
                raw = chance.choice(self.messages)
                begun = asked = time.perf_counter()
                try:
                    with self.spamd.connect() as client:
                        try:
                            client.sendall(request("CHECK", raw))
                        finally:
                            asked = time.perf_counter()
                        heard = everything(client)
                except OSError as error:
                    heard = repr(error).encode()
                outcome.latencies.append(time.perf_counter() - begun)
                is_answered = heard.startswith(b"SPAMD/1.1 0 EX_OK\r\n")
                if not is_answered and asked - begun < FIRST_BYTES_WAIT:
                    outcome.refused.append(heard)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def ask_often(self, requests: int) -> None:
        """Send valid requests only, by several clients at once."""

        def ask(number: int) -> None:
            chance = random.Random(number)
            for _ in range(requests // CLIENTS):
                self.spamd.ask(self._request(chance))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def end(self) -> None:
        self.spamd.end()
        self.milter.end()

    def assert_unhurt(self) -> None:
        for server in (self.spamd, self.milter):
            assert "spamnb: unexpected" not in server.log
            assert server.process.poll() is None

    def resident(self) -> int:
        """Return the bytes that both servers have in memory, in total."""
        return sum(resident(server.process.pid) for server in (self.spamd, self.milter))


def resident(process: int) -> int:
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
