"""One worker's connections, with real sockets: what happens to one is no other's end."""

import asyncio
import fcntl
import socket
import struct
import termios
import threading
from contextlib import ExitStack, contextmanager

import pytest
from helpers.serving import everything
from helpers.waiting import PATIENCE, until

from spamnb.serve.connections import LARGE_REQUEST, Connections, Limits
from spamnb.serve.listeners import Listeners

SIZE = 2 * LARGE_REQUEST  # bytes of a request, at most


class Worker:
    """Connections in a thread, at a socket where some words have a meaning."""

    def __init__(self):
        self.errors: list = []
        self.goes_on = threading.Event()
        self.is_held_up = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.loop = asyncio.new_event_loop()
        self.connections = Connections(self.loop, Limits(20, SIZE, PATIENCE), self.errors.append)

    def handle(self, incoming):
        try:
            line = yield from incoming.read_line(4 * SIZE)
        except TimeoutError:
            return b"late"
        if line in (b"wait", b"stay"):  # the loop stands still, so that the next events come all at once
            self.is_held_up.set()
            self.goes_on.wait(PATIENCE)
        if line == b"stay":
            line = yield from incoming.read_line(4 * SIZE)
        if line == b"fail":
            raise ValueError("a message did this")
        if line == b"disk":
            raise OSError("no socket's fault")
        incoming.complete = True
        return b"heard"

    @contextmanager
    def running(self):
        listeners = Listeners(self.connections)
        listeners.open(self.listener, self.handle)
        thread = threading.Thread(target=self.loop.run_forever)
        thread.start()
        try:
            yield
        finally:
            self.goes_on.set()
            self.loop.call_soon_threadsafe(listeners.stop)
            thread.join(PATIENCE)
            assert not thread.is_alive()
            self.loop.close()

    def connect(self, words=b""):
        client = socket.create_connection(self.address)
        client.settimeout(PATIENCE)
        client.sendall(words)
        return client

    def ask(self, words):
        with self.connect(words) as client:
            return everything(client)


@pytest.fixture
def worker():
    worker = Worker()
    with worker.running():
        yield worker


@pytest.mark.parametrize(("word", "error"), [(b"fail\n", "ValueError"), (b"disk\n", "ConversationError")])
def test_a_conversation_that_fails_ends_alone(worker, word, error):
    with worker.connect(b"half a") as other:
        assert worker.ask(word) == b""
        other.sendall(b" request\n")
        assert everything(other) == b"heard"
    assert [type(each).__name__ for each in worker.errors] == [error]


def test_an_event_of_a_connection_that_another_event_has_closed(worker):
    """Two can be read at once: the first makes the second give way, which must not be read then."""
    largest = b"x" * (SIZE - 1)
    with (
        worker.connect(largest) as oldest,
        worker.connect(largest) as older,
        worker.connect(largest) as old,
        worker.connect(largest) as last,
        worker.connect() as waiting,
    ):
        until(lambda: held(worker) == 4 * (SIZE - 1))
        waiting.sendall(b"wait\n")
        assert worker.is_held_up.wait(PATIENCE)
        for client in (last, oldest):  # in this order they are told to be readable
            client.sendall(b"y" * LARGE_REQUEST)
        until(lambda: arrived(worker) == 2 * LARGE_REQUEST)
        worker.goes_on.set()
        assert everything(waiting) == b"heard"
        with pytest.raises(ConnectionResetError):  # of what it sent, the server has left some
            everything(oldest)
        for client in (older, old, last):
            client.sendall(b"\n")
            assert everything(client) == b"heard"
    assert worker.errors == []


def held(worker):
    """Bytes that were read."""
    return sum(len(each.incoming.data) for each in list(worker.connections.reading))


def arrived(worker):
    """Bytes that can be read."""
    handles = [each.socket.fileno() for each in list(worker.connections.reading)]
    return sum(struct.unpack("i", fcntl.ioctl(handle, termios.FIONREAD, bytes(4)))[0] for handle in handles)


def test_a_crowd_waits_for_those_who_have_just_come(worker):
    """More than there is room for: who has asked is answered, however many come behind it."""
    crowd = [worker.connect() for _ in range(10)]
    good = worker.connect(b"good\n")
    crowd += [worker.connect() for _ in range(60)]
    assert everything(good) == b"heard"
    assert worker.ask(b"another\n") == b"heard"
    for client in (good, *crowd):
        client.close()


def test_who_was_accepted_just_now_does_not_give_way(worker, monkeypatch):
    """It comes before a crowd, and sends after it: on a busy machine anybody may."""
    monkeypatch.setattr("spamnb.serve.listeners.FIRST_BYTES_WAIT", 10.0 * PATIENCE)
    with worker.connect() as good:
        crowd = [worker.connect() for _ in range(60)]
        until(lambda: len(worker.connections) == 20)
        good.sendall(b"good\n")
        assert everything(good) == b"heard"
    for client in crowd:
        client.close()


def test_who_has_asked_by_now_does_not_give_way(worker, monkeypatch):
    """Though the event of a newer client comes first: on a busy machine many come at once."""
    monkeypatch.setattr("spamnb.serve.listeners.FIRST_BYTES_WAIT", 0.0)
    with ExitStack() as stack:
        good, *_, waiting = (stack.enter_context(worker.connect()) for _ in range(20))
        until(lambda: len(worker.connections) == 20)
        waiting.sendall(b"stay\n")
        assert worker.is_held_up.wait(PATIENCE)
        stack.enter_context(worker.connect())
        good.sendall(b"good\n")
        until(lambda: arrived(worker) == 5)
        worker.goes_on.set()
        assert everything(good) == b"heard"
