"""Messages that mail programs show no longer, and keep in the mailbox until it is compacted."""

import pytest
from helpers.mailboxes import ENVELOPE, described, maildir, put, together
from helpers.samples import ham, spam

from spamnb.core.native import is_deleted
from spamnb.mailboxes import sources

THUNDERBIRD = b"X-Account-Key: account1\nX-Mozilla-Status: %s\nX-Mozilla-Status2: 00000000\n"
KEPT, DELETED = THUNDERBIRD % b"0001", THUNDERBIRD % b"0009"


def box(*messages):
    return b"".join(ENVELOPE + message + b"\n" for message in messages)


@pytest.fixture
def inbox(tmp_path):
    """Five of ham, and ten of spam that were moved to Junk."""
    moved, kept = [DELETED + spam(n) for n in range(10)], [KEPT + ham(n) for n in range(5)]
    put(tmp_path / "Junk", box(*[KEPT + spam(n) for n in range(10)]))
    return put(tmp_path / "Inbox", box(*moved, *kept))


@pytest.mark.parametrize(
    ("head", "deleted"),
    [
        (b"X-Mozilla-Status: 0009\r\n", True),
        (b"X-Mozilla-Status: 1019\n", True),
        (b"X-Mozilla-Status: 0001\n", False),
        (b"X-Mozilla-Status2: 00000009\n", False),
        (b"Received: by us\nX-Mozilla-Status: 0009\n", False),  # by the sender, who would not be learned
        (b"Received: by us\nX-Status: AD\n", True),
        (b"Received: by us\nX-Status: A\nX-Keywords: D\n", False),
        (b"Received: by us\n\nX-Status: D\n", False),
        (b"", False),
    ],
)
def test_the_mark_of_a_mailbox(head, deleted):
    assert is_deleted(head + b"Subject: hello\n\nX-Status: D\n") is deleted


@pytest.mark.parametrize("size", [1 << 20, 500, 1])
def test_deleted_messages_of_a_mailbox_are_counted_and_the_others_keep_their_numbers(inbox, size):
    found = together(sources.chunks([inbox], size=size))
    assert [item for item in found if len(item) == 3] == [(inbox, 10 + n, KEPT + ham(n)) for n in range(5)]
    whys = [item[1] for item in found if len(item) == 2]
    assert sum(int(why.split()[0]) for why in whys) == 10
    assert all("deleted message" in why for why in whys)


def test_a_deleted_message_that_is_named_by_its_number_is_read(inbox):
    assert [described(raw) for raw in sources.messages([f"{inbox}:3"])] == [(inbox, 3, DELETED + spam(3))]


def test_deleted_messages_of_a_maildir(tmp_path):
    folder = maildir(tmp_path / "box")
    kept = [put(folder / "cur" / "1:2,S", ham(1)), put(folder / "new" / "2", ham(2))]
    gone = put(folder / "cur" / "3:2,ST", spam(3))
    plain = put(tmp_path / "plain" / "4:2,T", ham(4))  # in no Maildir: a name like any other
    found = [described(raw) for raw in sources.messages([str(tmp_path)])]
    assert {item[0] for item in found if len(item) == 3} == {*kept, plain}
    assert (gone, "1 deleted message") in found
    assert [described(raw) for raw in sources.messages([gone])] == [(gone, None, spam(3))]


def test_commands_say_how_many_they_skip(spamnb, own, inbox, tmp_path):
    train = ("train", "--jobs", "1", "--model", tmp_path / "model", inbox, tmp_path / "Junk")
    done = spamnb(*train).succeeds()
    assert done.lines[:2] == ["ham: 5 learned", "spam: 10 learned"]
    assert done.lines[-1].startswith("skipped 10 message")
    assert b"skipped 10 message" in spamnb("classify", inbox, "--model", own).err
    for how in (("--folds", "2"), ("--online",), ("--model", own)):
        done = spamnb("evaluate", "--jobs", "1", *how, inbox, tmp_path / "Junk")
        assert (done.code, b"skipped 10 message" in done.err) == (0, True)
