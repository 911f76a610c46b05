"""`spamnb serve` speaks spamd's protocol, and says what `spamnb classify` says."""

import re
import zlib

import pytest
from helpers.serving import request


def test_every_command_in_every_version(server, mail):
    """As spamd answers them."""
    spam, ham = mail.messages["spam"], mail.messages["ham"]
    assert server.ask(b"PING SPAMC/1.2\r\n", end=False) == b"SPAMD/1.5 0 PONG\r\n"
    assert server.ask(b"SKIP SPAMC/1.5\r\n\r\n") == b""
    assert server.ask(b"CHECK SPAMC/1.0\r\n" + spam).startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: True ; ")
    assert server.ask(request("PROCESS", spam, "1.1")).startswith(b"SPAMD/1.0 0 EX_OK\r\nX-Spamnb: spam; ")
    assert server.ask(request("REPORT", spam, "1.2")).startswith(b"SPAMD/1.1 0 EX_OK\r\n")
    for version in ("1.3", "1.5"):
        for command in ("CHECK", "SYMBOLS", "REPORT", "REPORT_IFSPAM", "PROCESS", "HEADERS"):
            head, _, body = server.ask(request(command, spam, version)).partition(b"\r\n\r\n")
            assert head.startswith(b"SPAMD/1.1 0 EX_OK\r\n")
            assert re.search(rb"\r\nSpam: (True|Yes) ; ", head)
            assert bool(body) == (command != "CHECK")
            if b"Content-length" in head:
                assert b"\r\nContent-length: %d\r\n" % len(body) in head + b"\r\n"
        assert server.ask(request("REPORT_IFSPAM", ham, version)).endswith(b"\r\n\r\n")


BAD = "76 Bad header line: "
UNAVAILABLE = "69 Service Unavailable: "
CHECK = b"CHECK SPAMC/1.5\r\n"
PACKED = CHECK + b"Compress: zlib\r\nContent-length: 5\r\n\r\n"
ERRORS = {
    "for a terminal": (b"\x1b[2J\xff SPAMC/1.5\r\n\r\n", BAD + r"\x1b[2J\xff SPAMC/1.5"),
    "other digits": (
        CHECK + "Content-length: ٣\r\n\r\nabc".encode(),
        BAD + "(Content-Length contains non-numeric bytes)",
    ),
    "an endless header": (CHECK + b"A: " + b"b" * 10_000, BAD + "(line too long)"),
    "an endless command": (b"b" * 10_000, BAD + "(line too long)"),
    "packed and torn": (
        PACKED + zlib.compress(b"x" * 99)[:5],
        UNAVAILABLE + "zlib: failed to find end of zlib stream",
    ),
    "not packed": (
        PACKED + b"abcde",
        UNAVAILABLE + "zlib: Error -3 while decompressing data: incorrect header check",
    ),
    "teaching": (
        request("TELL", b"x", Message_class="spam", Set="local"),
        UNAVAILABLE + "TELL commands are not enabled, set the --allow-tell switch.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(server, name):
    asked, answer = ERRORS[name]
    assert server.ask(asked) == f"SPAMD/1.0 {answer}\r\n".encode()
    server.wait_for(answer.partition(": ")[2])  # and in the log, nothing raw
    assert server.log.replace("\n", "").isprintable()


def test_other_ways_to_ask_the_same(server, mail):
    raw = mail.messages["spam"]
    whole = server.ask(request("CHECK", raw))
    assert server.ask(request("CHECK", raw), end=False) == whole
    assert server.ask(request("CHECK", raw, Content_length=None)) == whole
    assert server.ask(request("CHECK", raw) + b"\r\nmore") == whole  # what follows the last line is not read
    assert server.ask(request("CHECK", raw).replace(b"Content-length", b"content-LENGTH")) == whole
    assert server.ask(request("CHECK", zlib.compress(raw), Compress="zlib")) == whole
