import pytest
from helpers.mailboxes import ENVELOPE, LINES, MIXED, written
from hypothesis import given
from hypothesis import strategies as st

from spamnb.core.native import Mailbox, is_envelope


def pieces(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


def split(data, size=1 << 20, **limit):
    return list(Mailbox(pieces(data, size), **limit))


@pytest.mark.parametrize(
    "line",
    [
        b"From ann@example.org Sun Nov 15 01:02:03 2026",
        b"From - Sun Nov 15 01:02:03 2026",
        b"From ann@example.org Sun Nov 15 01:02:03 CET 2026",
        b"From ann Sun Nov 15 01:02 EST 1987 remote from host",
        b"From ann@example.org Sun, 15 Nov 2026 01:02:03 +0100",
        b"From ann@example.org Sun Nov 15 01:02:03 2026\r\nSubject: x",
        b"From \nX-Mozilla-Status: 0001\n",  # of Thunderbird
        b"From \r\nReceived: by us\r\n",
    ],
)
def test_an_envelope_line(line):
    assert is_envelope(line)
    assert is_envelope(bytearray(line))


@pytest.mark.parametrize(
    "line",
    [
        b"From ",
        b"From \n\nSubject: x\n",
        b"From: ann@example.org Sun Nov 15 01:02:03 2026",
        b">From ann@example.org Sun Nov 15 01:02:03 2026",
        b"From Sunday on we meet in Nov at 10:30",
        b"From ann@example.org Sun Nov 15 2026",
        b"From ann@example.org\nSun Nov 15 01:02:03 2026",
        b"From " + b"a" * 2000 + b" Sun Nov 15 01:02:03 2026",
    ],
)
def test_no_envelope_line(line):
    assert not is_envelope(line)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b">From here on\n", b"From here on\n"),
        (b">>From here on\n", b">From here on\n"),
        (b"> From here on\n", b"> From here on\n"),
        (b"x >From here on\n", b"x >From here on\n"),
        (b">From a >From b\n>From c\n", b"From a >From b\nFrom c\n"),
        (b"text\nFrom a line in a paragraph\n", b"text\nFrom a line in a paragraph\n"),
        (b"text\n\nFrom now on without a date\n", b"text\n\nFrom now on without a date\n"),
        (b"a\r\n>From b\r\n", b"a\r\nFrom b\r\n"),
        (b"two empty lines\n\n\n", b"two empty lines\n\n"),
    ],
)
def test_what_is_undone_in_a_body(body, read):
    assert split(ENVELOPE + b"Subject: x\n\n" + body) == [b"Subject: x\n\n" + read]


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (ENVELOPE, [b""]),
        (ENVELOPE + b"\n" + ENVELOPE + b"A: b\n", [b"", b"A: b\n"]),
        (ENVELOPE + b"A: b\n" + ENVELOPE + b"C: d\n", [b"A: b\n" + ENVELOPE + b"C: d\n"]),
        (ENVELOPE + b"A: b\n\n" + ENVELOPE + b"C: d\n", [b"A: b\n", b"C: d\n"]),
        (ENVELOPE + b"A: b\r\n\r\n" + ENVELOPE + b"C: d\r\n\r\n", [b"A: b\r\n", b"C: d\r\n"]),
        (ENVELOPE + b"A: b\r\n\n" + ENVELOPE + b"C: d\n\r\n", [b"A: b\r\n", b"C: d\n"]),
        # A Content-Length is a header field like any other.
        (ENVELOPE + b"Content-Length: 10\n\na\n>From b\n\n", [b"Content-Length: 10\n\na\nFrom b\n"]),
    ],
)
def test_boundaries(data, messages):
    assert split(data) == messages


@given(st.lists(st.lists(LINES, min_size=1)), st.sampled_from([b"\n", b"\r\n"]), st.integers(1, 100))
def test_what_was_written_is_read(messages, eol, size):
    messages = [b"A: b" + eol + eol.join(lines) + eol for lines in messages]
    assert split(written(messages, eol), size) == messages


def test_a_message_over_the_limit_is_cut_and_the_next_is_found():
    data = written([b"a" * 5000 + b"\n", b"B: c\n", b"d" * 99 + b"\n", b"e" * 101 + b"\n"])
    assert split(data, 64, limit=100) == [b"a" * 100, b"B: c\n", b"d" * 99 + b"\n", b"e" * 100]


def test_the_size_of_the_blocks_changes_nothing():
    whole = list(Mailbox([MIXED]))
    assert len(whole) > 5
    for size in range(1, 201):
        assert split(MIXED, size) == whole
