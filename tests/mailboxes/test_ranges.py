"""Mailboxes cut at any byte: put together again they have the messages they have whole."""

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
    put,
    quoted,
    together,
    written,
)
from hypothesis import given
from hypothesis import strategies as st

from spamnb.mailboxes import sources
from spamnb.mailboxes.chunks import MessageFiles, ReadMessages
from spamnb.mailboxes.mbox import MAX_MESSAGE
from spamnb.mailboxes.ranges import MailboxRange
from spamnb.mailboxes.sources import COMPRESSION
from spamnb.mailboxes.stores import Store
from spamnb.mailboxes.streams import BLOCK


def cut(path, size):
    length = os.path.getsize(path)
    return [MailboxRange(path, start, min(start + size, length)) for start in range(0, length, size)]


def whole(path):
    return [described(item) for item in sources.messages([path])]


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
        (ENVELOPE + INNER * 3) * 3,
        ENVELOPE + b"A: b\n\n" + b"\nFrom \n" * 50 + b"\n\r\n\r" * 30,
        ENVELOPE + b"\n" * 2000,
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
    "unquoted": lambda message, _eol: message,
}
LIKE_A_BOUNDARY = b"\n" + ENVELOPE.strip()
BODIES = st.lists(st.just(LIKE_A_BOUNDARY) | LINES | st.binary(max_size=20), max_size=30)


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


def test_no_range_reads_much_more_than_itself(tmp_path, monkeypatch):
    """In the middle of a long message: not back to its start, not on to its end."""
    noise = b"a line of a very long message\n" * 400_000  # 12 MB
    path = put(tmp_path / "box", written([b"A: b\n\n" + noise, b"C: d\n", b"E: f\n\n" + noise[:300_000]]))
    taken = []
    whole = Store.read

    def counted(self, path, start=0, expected=0):
        taken.append(0)
        for block in whole(self, path, start, expected):
            taken[-1] += len(block)
            yield block

    monkeypatch.setattr(Store, "read", counted)
    chunks = cut(path, 1 << 20)
    for chunk in chunks:
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
    put(tmp_path / "box", b"X" + one * 9)
    assert together(chunks)[0][1] == "changed while it was read"
    os.unlink(path)
    assert together(chunks) == []


def test_what_can_be_cut_and_what_cannot(tmp_path):
    noise = random.Random(1).randbytes(300_000).hex().encode()
    mail = [b"A: %d\n\n" % n + noise[n : n + 9999] + b"\n" for n in range(0, 500_000, 5000)]
    box = written(mail)
    packed = gzip.compress(box, 1)
    for n, data in enumerate((mail[0][:3000], mail[1][:3000], box, packed, packed[:-99], noise), 1):
        put(tmp_path / str(n), data)
    size = 100_000
    chunks = list(sources.chunks([str(tmp_path)], size=size))
    kinds = [type(chunk) for chunk in chunks]
    ranges, read_here = [MailboxRange] * -(-len(box) // size), [ReadMessages] * kinds.count(ReadMessages)
    assert kinds == [MessageFiles, *ranges, *read_here, MessageFiles]
    assert len(read_here) > 2
    assert sum(chunk.size for chunk in chunks) == sources.total_size([str(tmp_path)])
    found = together(chunks)
    assert found == whole(str(tmp_path))
    assert [os.path.basename(path) for path, *rest in found if "damaged" in str(rest)] == ["5"]
