"""Mailboxes cut at any byte: put together again they have the messages they have whole."""

import gzip
import os
import random

import pytest
from helpers.mailboxes import ENVELOPE, MIXED, described, put, together, written

from spamnb.mailboxes import sources
from spamnb.mailboxes.chunks import MessageFiles, ReadMessages
from spamnb.mailboxes.ranges import MailboxRange


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
        (ENVELOPE + b"\n") * 9,
        ENVELOPE + b"A: b\n\n" + b"\nFrom \n" * 50 + b"\n\r\n\r" * 30,
    ],
)
def test_a_mailbox_cut_anywhere_is_the_same_mailbox(tmp_path, data):
    path = put(tmp_path / "box", data)
    for size in (*range(1, 10), 16, 23, 37, 64, 100, 333, 1000, len(data)):
        assert together(cut(path, size)) == whole(path), size


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
