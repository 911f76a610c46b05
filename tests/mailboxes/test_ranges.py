"""Mailboxes cut at any byte: after `join_ranges` they have the messages they have whole."""

import gzip
import os
import random

import pytest
from helpers.generated import examples_times
from helpers.mailboxes import (
    ENVELOPE,
    INNER,
    LINES,
    MIXED,
    described,
    elsewhere,
    put,
    quoted,
    together,
    written,
)
from hypothesis import given
from hypothesis import strategies as st

from spamnb.mailboxes import sources
from spamnb.mailboxes.chunks import MessageFiles, ReadMessages
from spamnb.mailboxes.formats.mbox import MAX_MESSAGE
from spamnb.mailboxes.ranges import MailboxRange, join_ranges
from spamnb.mailboxes.sources import COMPRESSION
from spamnb.mailboxes.stores import LOCAL, Store
from spamnb.mailboxes.streams import BLOCK


def cut(path, size):
    length = os.path.getsize(path)
    return [
        MailboxRange(LOCAL, path, "mbox", start, min(start + size, length))
        for start in range(0, length, size)
    ]


def whole(path):
    return [described(item) for item in sources.messages([path])]


class Again:
    """Work done again, counted."""

    def __init__(self):
        self.ranges = []

    def __call__(self, chunk, _):
        self.ranges.append(chunk)
        return elsewhere(chunk)


def with_length(message, eol):
    head, _, body = message.partition(eol + eol)
    return b"Content-Length: %d" % len(body) + eol + head + eol + eol + body


@pytest.mark.parametrize(
    "data",
    [
        MIXED,
        MIXED.replace(b"\n", b"\r\n"),
        written([b"A: b\n\ntext\n"] * 9),
        written([b"A: b\n\n" + b"text\n" * 99, b"C: d\n"]),
        ENVELOPE,
        ENVELOPE.strip(),
        ENVELOPE * 3,
        (ENVELOPE + b"\n") * 9,
        (ENVELOPE + b"Content-Length: %d\n\n" % (3 * len(INNER)) + INNER * 3) * 3,
        ENVELOPE + b"A: b\n\n" + b"\nFrom \n" * 50 + b"\n\r\n\r" * 30,
        ENVELOPE + b"Content-Length: 9\n\n" + b"\n" * 2000,
    ],
)
def test_a_mailbox_cut_anywhere_is_the_same_mailbox(tmp_path, data):
    path = put(tmp_path / "box", data)
    sizes = [*range(1, 10), 16, 23, 37, 47, 64, 100, 333, 1000, len(data)]
    for size in sizes:
        assert together(cut(path, size)) == whole(path), size


KINDS = {
    "mboxrd": quoted,
    "mboxo": lambda message, eol: message.replace(eol + b"From ", eol + b">From "),
    "mboxcl": lambda message, eol: with_length(quoted(message, eol), eol),
    "mboxcl2": with_length,
}
LIKE_A_BOUNDARY = b"\n" + ENVELOPE.strip()
BODIES = st.lists(
    st.sampled_from([LIKE_A_BOUNDARY, b"Content-Length: 90"]) | LINES | st.binary(max_size=20), max_size=30
)


@st.composite
def mailboxes(draw):
    data = b""
    for lines in draw(st.lists(BODIES, min_size=1, max_size=8)):
        eol = draw(st.sampled_from([b"\n", b"\r\n"]))
        message = b"A: b" + eol + eol + eol.join(line.replace(b"\n", eol) for line in lines) + eol
        data += ENVELOPE.strip() + eol + KINDS[draw(st.sampled_from(sorted(KINDS)))](message, eol) + eol
        data += draw(st.sampled_from([b"", b"", b"\n", b"garbage", b"\r\n"]))
    return data


@given(mailboxes(), st.integers(1, 400))
@examples_times(0.6)
def test_any_kind_of_mailbox_cut_anywhere_is_the_same_mailbox(tmp_path_factory, data, size):
    path = put(tmp_path_factory.getbasetemp() / "any", data)
    chunks = list(sources.chunks([path], size=size))
    assert together(chunks) == whole(path)
    starts = [getattr(chunk, "start", None) for chunk in chunks]
    assert len(data) * COMPRESSION <= size or starts == [*range(0, len(data), size)]


@given(st.lists(BODIES, max_size=8), st.integers(1, 400))
@examples_times(0.3)
def test_only_a_content_length_makes_work_twice(tmp_path_factory, bodies, size):
    lines = [[line for line in body if not line.startswith(b"Content")] for body in bodies]
    path = put(tmp_path_factory.getbasetemp() / "plain", written([b"\n".join(body) for body in lines]))
    again = Again()
    assert together(cut(path, size), again) == whole(path)
    assert not again.ranges


def test_a_body_that_looks_like_a_mailbox(tmp_path):
    body = b"forwarded:\n\n" + written([b"inner: %d\n\ntext\n" % n for n in range(50)])
    outer = ENVELOPE + b"Content-Length: %d\n\n" % len(body) + body + b"\n"
    path = put(tmp_path / "box", outer + written([b"A: b\n"]) + outer + written([b"C: d\n"]))
    again = Again()
    chunks = cut(path, 1000)
    assert sum(len(list(chunk.messages())) for chunk in chunks) > 50  # taken for messages
    assert together(chunks, again) == whole(path)
    assert len(whole(path)) == 4
    assert [chunk.exact for chunk in again.ranges] == [True] * len(again.ranges)
    assert 1 <= len(again.ranges) <= 3  # and not those that lie within


def test_no_range_reads_much_more_than_itself(tmp_path):
    """In the middle of a long message: not back to its start, not on to its end."""
    noise = b"a line of a very long message\n" * 400_000  # 12 MB
    path = put(tmp_path / "box", written([b"A: b\n\n" + noise, b"C: d\n", b"E: f\n\n" + noise[:300_000]]))
    taken = []

    class Counted(Store):
        def read(self, path, start=0, expected=0):
            taken.append(0)
            for block in super().read(path, start, expected):
                taken[-1] += len(block)
                yield block

    chunks = cut(path, 1 << 20)
    for chunk in chunks:
        chunk.store = Counted()
        for _ in chunk.messages():
            pass
    assert len(taken) == len(chunks)
    assert taken[0] > 12_000_000  # the message is its own
    assert max(taken[1:]) < (1 << 20) + 2 * BLOCK


def test_a_record_over_the_limit_and_over_many_ranges(tmp_path):
    long = b"A: b\n\n" + b"0123456789 " * ((MAX_MESSAGE + (1 << 20)) // 11) + b"\n"
    path = put(tmp_path / "box", written([b"C: d\n", long, b"E: f\n"]))
    found = together(cut(path, 5_000_000))
    assert [(index, len(data)) for _, index, data in found] == [(0, 5), (1, MAX_MESSAGE), (2, 5)]


def test_a_mailbox_that_grows_shrinks_or_goes(tmp_path):
    one = written([b"A: b\n\ntext\n"])
    path = put(tmp_path / "box", one * 9)
    chunks = cut(path, 100)
    before = whole(path)
    put(tmp_path / "box", one * 12)
    assert together(chunks) == before
    put(tmp_path / "box", one * 3)
    assert together(chunks) == before[:3]
    os.unlink(path)
    assert together(chunks) == []


def test_behind_one_that_fails_the_next_is_taken_as_it_is(tmp_path):
    one = written([b"A: b\n\ntext\n"])
    path = put(tmp_path / "box", one * 9)
    first, second, third = cut(path, 3 * len(one))
    # As if it had changed.
    broken = MailboxRange(LOCAL, path, "mbox", second.start + 1, second.stop, exact=True)
    changed = ["changed while it was read"]
    for again, expected in ((Again(), ["mail"] * 3), (lambda *_: elsewhere(broken), changed)):
        kept = join_ranges(map(elsewhere, [first, broken, third]), again)
        whys = [getattr(item, "why", "mail") for found, _ in kept for item in found]
        assert whys == ["mail"] * 3 + expected + ["mail"] * 3


def test_what_can_be_cut_and_what_cannot(tmp_path):
    noise = random.Random(1).randbytes(3 << 20).hex().encode()
    mail = [b"A: %d\n\n" % n + noise[n : n + 9999] + b"\n" for n in range(0, 6 << 20, 50_000)]
    box, small = written(mail), gzip.compress(written(mail[:9]), 1)
    large = gzip.compress(ENVELOPE + b"A: b\n\n" + noise + noise[::-1] + b"\n\n" + box, 1)
    assert len(small) < 4 << 20 < len(large)
    files = (mail[0][:3000], mail[1][:3000], box, small, large, large[:-99], small[:-99], noise)
    for n, data in enumerate(files, 1):
        put(tmp_path / str(n), data)
    size = 100_000
    chunks = list(sources.chunks([str(tmp_path)], size=size, max_packed=4 << 20))
    kinds = [type(chunk) for chunk in chunks]
    read_here = kinds.count(ReadMessages)
    assert kinds == [
        MessageFiles,
        *[MailboxRange] * -(-len(box) // size),
        MessageFiles,
        *[ReadMessages] * read_here,
        MessageFiles,
        MessageFiles,
    ]
    assert read_here > 2
    assert [os.path.basename(item.path) for item in chunks[0].messages()] == ["1", "2"]
    assert sum(chunk.size for chunk in chunks) == sources.total_size([str(tmp_path)])
    found = together(chunks)
    assert found == whole(str(tmp_path))
    damaged = [os.path.basename(path) for path, *rest in found if "damaged" in str(rest)]
    assert damaged == ["6", "7"]
