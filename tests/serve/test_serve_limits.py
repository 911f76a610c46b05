"""Slow and greedy clients hurt nobody; test_serve_load.py has those that break off, reset or never listen."""

import socket
import time
import zlib
from contextlib import ExitStack, suppress

import pytest
from helpers.load import MEGABYTE, resident
from helpers.serving import everything, request
from helpers.waiting import PATIENCE

OK = b"SPAMD/1.1 0 EX_OK\r\n"


@pytest.fixture(scope="module")
def server(serving):
    """An hour to ask, and a megabyte to say."""
    return serving(max_connections=40, timeout=3600.0, max_size=MEGABYTE)


@pytest.fixture
def check(mail):
    return request("CHECK", mail.messages["spam"])


def answered(server, check):
    """Long before the others have had their time, however busy the machine is: no client waits so long."""
    assert server.ask(check).startswith(OK)


def test_who_dawdles_is_timed_out(serving):
    """One byte at a time: a time limit for each byte would never end."""
    server = serving(timeout=1.0)
    start, said = time.monotonic(), b""
    with server.connect() as client:
        client.settimeout(0.05)
        for _ in range(20 * PATIENCE):
            with suppress(ConnectionError):  # it may have been answered and hung up on
                client.sendall(b"x")
            with suppress(TimeoutError):
                said = client.recv(1000)
                break
    assert said == b"SPAMD/1.0 79 Timeout: (1 second timeout reading input from client)\r\n"
    assert time.monotonic() - start > 0.9


def test_silent_clients_make_room(server, check):
    """A thousand, where forty may be connected: the one silent for longest goes."""
    with ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(1000)]
        answered(server, check)
        assert everything(clients[0]).startswith(b"SPAMD/1.0 79 ")
    answered(server, check)


def test_messages_that_are_too_large(server):
    """Refused by their length before they are read; and the client hears why, though it goes on sending."""
    large = b"x" * (20 * MEGABYTE)
    said = b"SPAMD/1.0 69 Service Unavailable: the message has %d bytes, at most %d are allowed\r\n"
    assert server.ask(request("CHECK", large), end=False) == said % (len(large), MEGABYTE)
    assert server.ask(request("CHECK", b"x", Content_length=10**17)) == said % (10**17, MEGABYTE)
    said = b"SPAMD/1.0 69 Service Unavailable: the message has more than %d bytes\r\n"
    assert server.ask(request("CHECK", large, Content_length=None)) == said % MEGABYTE
    just = b"Subject: just\n\n".ljust(MEGABYTE, b"x")
    assert server.ask(request("CHECK", just)).startswith(OK)


def test_a_zip_bomb(server):
    bomb = zlib.compress(b"\n" * (100 * MEGABYTE))
    assert len(bomb) < MEGABYTE
    before = resident(server.process.pid)
    answer = server.ask(request("CHECK", bomb, Compress="zlib"))
    assert answer.endswith(b"the message has more than %d bytes\r\n" % MEGABYTE)
    assert resident(server.process.pid) - before < 20 * MEGABYTE


def test_many_large_requests_do_not_fill_the_memory(server, check):
    """Each is allowed, and none ends; together they may hold four megabytes, and a little each."""
    before = resident(server.process.pid)
    part = request("CHECK", b"y" * 900_000, Content_length=1_000_000)
    with ExitStack() as stack:
        for _ in range(30):
            client = stack.enter_context(server.connect())
            with suppress(ConnectionError):  # it may have to make room
                client.sendall(part)
        answered(server, check)
        assert resident(server.process.pid) - before < 15 * MEGABYTE


def test_answers_that_nobody_reads_do_not_fill_the_memory(serving, tmp_path, check):
    """The kernel takes some of each answer; the client that has not read for longest is dropped."""
    options = {"timeout": 3600.0, "max_size": MEGABYTE, "max_connections": 100}
    server = serving(listen=(f"unix:{tmp_path}/socket",), **options)
    answered(server, check)
    before = resident(server.process.pid)
    large = request("PROCESS", b"Subject: x\n\n".ljust(900_000, b"y"))
    with ExitStack() as stack:
        deaf = []
        for _ in range(60):
            deaf.append(stack.enter_context(server.connect()))
            deaf[-1].sendall(large)
            assert deaf[-1].recv(1, socket.MSG_PEEK)
        answered(server, check)
        assert resident(server.process.pid) - before < 15 * MEGABYTE
        assert len(everything(deaf[0])) < 900_000 < len(everything(deaf[-1]))


def test_a_message_cannot_write_into_the_log(server):
    raw = b"Subject: x\nMessage-ID: <\x1b]0;owned\x07\r fake line=ham \xff>\n\nbody\n"
    server.ask(request("CHECK", raw, User="joe ham -99 \u202e\u00e9"))
    line = server.wait_for("owned")
    assert r"id=<\x1b]0;owned\x07\x0d\x20fake\x20line=ham\x20\xff>" in line
    assert r"user=joe\x20ham\x20-99\x20\xe2\x80\xae\xc3\xa9 " in line
    assert line.isascii()


def test_nothing_was_unexpected(server):
    assert "spamnb: unexpected" not in server.log
