"""What bogofilter learned becomes a base, and mail learned later counts on top of it."""

from io import BytesIO

import pytest
from helpers.textbook import rows_of

from spamnb.exchange.bogofilter import MAX_LINE, WordList
from spamnb.store.stored_model import StoredModel

# A token, its spam, its ham, the day it was last seen.
EXPORT = b"""\
$500 3 0 20260101
.ENCODING 2 0 20260101
.MSG_COUNT 20 10 20260102
.WORDLIST_VERSION 20040500 0 20260101
FREE 6 1 20260103
Free 8 0 20250101
agenda 0 7 20260101
caf\xe9 1 0 20260101
free 9 1 20240101
from:example.org 0 6 20260101
head:Outlook 3 3 20260101
head:X-Mailer 12 4 20260101
mime:text 9 9 20260101
of 20 10 20260101
rcvd:mx.example.org 0 5 20260101
rtrn:ann 0 5 20260101
subj:Money! 7 0 20260101
to:bob 20 10 20260101
url:192.0.2.7 4 0 20260101
www.casino.example 5 0 0
"""
# Ham, spam, and the tokens that have them. `free` are three tokens there.
TOKENS = """\
0 3 $500
2 23 free
7 0 agenda
0 1 café
6 0 from:@example.org from:example from:org
4 12 header:x-mailer
5 0 received:mx.example.org received:.example.org
0 7 subject:money!
10 20 to:bob
0 4 url:number url:192.0. url:192.0.2.7
0 5 www casino example
"""


def test_tokens_get_the_names_they_have_here():
    found = WordList.read("x", BytesIO(EXPORT)).counts
    rows = [line.split() for line in TOKENS.splitlines()]
    expected = {token: [int(ham), int(spam)] for ham, spam, *tokens in rows for token in tokens}
    assert {token: counts[:2] for token, counts in found.items()} == expected
    assert (found["free"][2], found["casino"][2]) == (20_456, 0)  # 3 January 2026, and no date


@pytest.fixture
def model(tmp_path):
    return str(tmp_path / "model.msgpack")


def test_an_export_becomes_a_base_of_an_empty_model(spamnb, model):
    done = spamnb("import", "-", "--model", model, stdin=EXPORT).succeeds()
    assert done.lines[0] == "bogofilter: 10 ham, 20 spam"
    assert done.lines[-2:] == [f"base: {model}.base", f"model: {model}"]
    assert ["words", "7", "1"] in [line.split() for line in done.lines]
    base = StoredModel.open(f"{model}.base")
    assert (base.messages, base.head["cutoffs"]) == ([10, 20], [-0.5, 2.5])
    # No token is in more messages than there are.
    assert {token: row[:2] for token, row in rows_of(base, ("free", "agenda")).items()} == {
        "free": (2, 20),
        "agenda": (7, 0),
    }
    spam = b"Subject: money!\n\nfree $500 casino\n"
    assert spamnb("classify", "--model", model, stdin=spam).out.startswith(b"spam")
    assert spamnb("classify", "--model", model, stdin=b"\nagenda\n").out.startswith(b"ham")
    lines = spamnb("import", "-", "--fresh", "--model", model, stdin=EXPORT).succeeds().lines
    assert lines[0] == "bogofilter: 10 ham, 20 spam"
    assert f"base: {model}.base" in lines
    assert ["Return-Path", "0", "1"] in [line.split() for line in lines]


def test_mail_is_learned_by_the_model_on_top_of_it(spamnb, model, mail):
    spamnb("import", "-", "--model", model, stdin=EXPORT).succeeds()
    with open(f"{model}.base", "rb") as file:
        before = file.read()
    spamnb("train", "--spam", "-", "--model", model, stdin=b"Subject: plugh\n\nagenda xyzzy\n").succeeds()
    assert spamnb("classify", "--model", model, stdin=b"\nagenda\n").out.startswith(b"ham")
    spamnb("train", "--jobs", "1", "--model", model, mail.ham, mail.spam).succeeds()
    assert StoredModel.open(model).messages == [14, 15]
    with open(f"{model}.base", "rb") as file:
        assert file.read() == before


def test_a_model_is_replaced_only_if_asked_for(spamnb, own, tmp_path):
    spamnb("import", "-", "--model", own, stdin=EXPORT).fails(73, own, "--fresh")
    assert min(StoredModel.open(own).messages) > 0
    (tmp_path / "mbox").write_bytes(b"From me\n")
    spamnb("import", "-", "--fresh", "--model", tmp_path / "mbox", stdin=EXPORT).fails(73, "not a model")
    assert (tmp_path / "mbox").read_bytes() == b"From me\n"


LINE = b"free 9 1 20260101\n"
DAMAGED = {
    "no export": (b"Subject: hello\n\nworld\n", "line 1", "bogoutil -d"),
    "below zero": (LINE + b"money -1 1 20260101\n", "line 2"),
    "a count without end": (LINE + b"money " + b"9" * 5000 + b" 1 20260101\n", "line 2"),
    "a line without end": (LINE + b"x" * (MAX_LINE + 1), "line 2"),
    "no messages": (LINE, "number of messages"),
    "nothing carried": (b".MSG_COUNT 1 1 20260101\nrtrn:ann 1 0 20260101\n", "none of the tokens"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_export_is_told_with_its_line(spamnb, model, name):
    export, *words = DAMAGED[name]
    spamnb("import", "-", "--model", model, stdin=export).fails(65, *words)
    spamnb("inspect", "--model", model).fails(75, "no model")


def test_an_export_that_is_missing(spamnb, model, tmp_path):
    spamnb("import", tmp_path / "nosuch", "--model", model).fails(66, "nosuch", "No such file")
