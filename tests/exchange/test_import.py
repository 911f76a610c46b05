"""What other filters learned is carried over, and what is not is said."""

import gzip
import subprocess

import pytest
from helpers.programs import needs
from helpers.textbook import rows_of
from hypothesis import given
from hypothesis import strategies as st

from spamnb.exchange.importing.exports import LONGEST_LINE, Lines
from spamnb.exchange.importing.imported import read_export
from spamnb.store.stored_model import StoredModel

# bogofilter: spam, then ham; SpamBayes and spamprobe: ham, then spam.
BOGOFILTER = b"""\
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
SPAMBAYES = b"""\
10,20
free,1,9
"hi,there",0,3
subject:Money,0,7
"subject:
",5,5
from:addr:example.org,6,0
from:name:ann example,6,0
to:2**0,10,20
header:Received:1,3,4
header:Received:2,5,6
content-type:text/html,2,11
skip:w 10,1,2
url:cart,0,4
proto:http,5,19
message-id:@example.org,6,0
bi:buy now,0,5
"""
SPAMPROBE = b"""\
1,9,8861,"free"
10,20,8861,"__COUNT__"
0,500,8861,"money"
0,5,8861,"buy now"
0,5,8861,"www.casino.example"
0,7,8861,"Hsubject_money"
0,4,8861,"Hsubject_make money"
6,0,8861,"Hfrom_example.org"
6,0,8861,"Hfrom_ann example.org"
5,0,8861,"Hrecv_mx.example.org"
0,4,8861,"U_cart"
0,4,8861,"U_casino.example"
3,3,8861,"CS_utf-8"
1,0,8861,"__MD5__d41d8cd98f00b204e9800998ecf8427e"
1,1,8861,"caf\\303\\251"
0,2,8861,"Igif_image_0_width_1"
"""
EXPORTS = {"bogofilter": BOGOFILTER, "spambayes": SPAMBAYES, "spamprobe": SPAMPROBE}


def imported(export, name=None):
    return read_export(Lines("x", [export]), name)


# Ham, spam, and the tokens that have them; a pair has a + between its words. bogofilter's `free` are three
# tokens there: a model has no more of it than there are messages.
TOKENS = {
    "bogofilter": """\
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
""",
    "spambayes": """\
1 9 free
0 3 there
0 7 subject:money
6 0 from:@example.org from:org from:ann message-id:@example.org
12 0 from:example
8 10 header:received
2 11 type:text/html
0 4 url:/cart
0 5 buy+now
""",
    "spamprobe": """\
1 9 free
0 500 money
0 5 buy+now
0 7 subject:money
0 4 subject:make+subject:money url:/cart url:casino.example url:example
6 0 from:@example.org from:example from:org
5 0 received:mx.example.org received:.example.org
3 3 charset:utf-8
1 1 café
""",
}


@pytest.mark.parametrize("name", EXPORTS)
def test_tokens_get_the_names_they_have_here(name):
    found = {}
    for token, (ham, spam, _) in imported(EXPORTS[name]).counts.items():
        found["+".join([token] if isinstance(token, str) else token)] = (ham, spam)
    rows = [line.split() for line in TOKENS[name].splitlines()]
    assert found == {token: (int(ham), int(spam)) for ham, spam, *tokens in rows for token in tokens}


@pytest.fixture
def model(tmp_path):
    return str(tmp_path / "imported.msgpack")


def known(model, *tokens):
    """Ham and spam of some tokens."""
    return {token: tuple(row[:2]) for token, row in rows_of(StoredModel.open(model), tokens).items()}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_becomes_a_model(spamnb, model, name):
    done = spamnb("import", "-", "--model", model, stdin=EXPORTS[name]).succeeds()
    assert done.lines[0] == f"{name}: 10 ham, 20 spam"
    assert f"model: {model}" in done.lines
    # No token is in more messages than there are, though spamprobe counts every occurrence.
    counts = {"bogofilter": {"free": (2, 20)}, "spamprobe": {"free": (1, 9), "money": (0, 20)}}
    assert known(model, "free", "money") == counts.get(name, {"free": (1, 9)})
    stored = StoredModel.open(model)
    assert stored.messages == [10, 20]
    assert stored.head["cutoffs"] == [-0.5, 2.5]


def test_the_day_a_token_was_last_seen_is_kept():
    rows = imported(BOGOFILTER).counts
    assert rows["free"][2] == 20_456  # 3 January 2026
    assert rows["casino"][2] == 0
    assert imported(SPAMPROBE).counts["free"][2] == 20_772  # 15 November 2026


def test_what_is_carried_and_what_is_not_is_said(spamnb, model):
    done = spamnb("import", "-", "--model", model, stdin=BOGOFILTER).succeeds()
    said = done.out.decode()
    rows = {line[:18].strip(): line[18:].strip().split(None, 2) for line in done.lines}
    assert rows["words"][:2] == ["7", "1"]
    assert rows["other headers"] == ["1", "1", "its header is unknown"]
    assert rows["Return-Path"] == ["0", "1", "no evidence here: it is written at delivery"]
    answer = spamnb("import", "-", "--fresh", "--json", "--model", model, stdin=BOGOFILTER).succeeds().json
    assert (answer["model"], answer["from"]) == (model, "bogofilter")
    assert answer["messages"] == {"ham": 10, "spam": 20}
    assert {"kind": "Subject", "carried": 1, "dropped": 0, "why": ""} in answer["kinds"]
    for word in ("no new ones", "counts twice", "cutoffs are fixed", "spamnb train --fresh --model"):
        assert word in said


def test_imports_add_up(spamnb, model):
    spamnb("import", "-", "--model", model, stdin=BOGOFILTER).succeeds()
    spamnb("import", "-", "--model", model, stdin=SPAMBAYES).succeeds()
    assert known(model, "free", "subject:money!") == {"free": (3, 29), "subject:money!": (0, 7)}
    spamnb("import", "-", "--model", model, "--fresh", stdin=SPAMBAYES).succeeds()
    assert known(model, "free") == {"free": (1, 9)}


def test_nothing_is_added_to_a_model_that_knows_more(spamnb, own, three):
    spamnb("import", "-", "--model", own, stdin=BOGOFILTER).fails(65, own, "trained on mail", "--fresh")
    spamnb("import", "-", "--model", three, stdin=BOGOFILTER).fails(65, "ham, spam, work", "--fresh")


def test_no_other_file_is_replaced(spamnb, tmp_path):
    (tmp_path / "mbox").write_bytes(b"From me\n")
    spamnb("import", "-", "--fresh", "--model", tmp_path / "mbox", stdin=BOGOFILTER).fails(73, "not a model")
    spamnb("import", "-", "--model", tmp_path / "mbox", stdin=BOGOFILTER).fails(65, "mbox")
    assert (tmp_path / "mbox").read_bytes() == b"From me\n"


NEW = b"Subject: plugh\n\nfree xyzzy agenda\n"


@pytest.mark.parametrize("bulk", [False, True])
def test_no_new_tokens_are_learned_and_those_there_are_can_be_forgotten(spamnb, model, tmp_path, bulk):
    spamnb("import", "-", "--model", model, stdin=BOGOFILTER).succeeds()
    (tmp_path / "message").write_bytes(NEW)
    which = str(tmp_path / "message") if bulk else "-"
    spamnb("train", "--spam", which, "--model", model, stdin=NEW).succeeds()
    assert known(model, "free", "agenda") == {"free": (2, 21), "agenda": (7, 1)}
    assert known(model, "xyzzy", "subject:plugh") == {}
    spamnb("train", "--ham", which, "--model", model, stdin=NEW).succeeds()
    assert known(model, "free", "agenda", "xyzzy") == {"free": (3, 20), "agenda": (8, 0)}
    spamnb("forget", "--ham", which, "--model", model, stdin=NEW).succeeds()
    assert known(model, "free", "agenda") == {"free": (2, 20), "agenda": (7, 0)}


def test_what_is_learned_later_does_not_move_the_cutoffs(spamnb, model, mail):
    spamnb("import", "-", "--model", model, stdin=BOGOFILTER).succeeds()
    spamnb("train", "--jobs", "1", "--model", model, mail.ham, mail.spam).succeeds()
    assert StoredModel.open(model).messages == [24, 34]
    assert StoredModel.open(model).head["cutoffs"] == [-0.5, 2.5]
    assert b"imported counts" in spamnb("inspect", "--model", model).succeeds().out


DAMAGED = {
    "nothing": (b"", "empty"),
    "no export": (b"Subject: hello\n\nworld\n", "line 1", "bogofilter, spambayes, spamprobe"),
    "a database": (b"\0\0\0\0bdb\0\0\n", "bogoutil -d"),
    "no token": (b"free 9 1 20260101\n 3\n", "line 2", "a token"),
    "no count": (b"free 9 1 20260101\nmoney x 1 20260101\n", "line 2", "'x'"),
    "below zero": (b"free 9 1 20260101\nmoney -1 1 20260101\n", "line 2", "'-1'"),
    "a fraction": (b"10,20\nmoney,0.5,1\n", "line 2", "'0.5'"),
    "digits of others": (b"10,20\nmoney,\xd9\xa1,1\n", "line 2", "count"),
    "a count without end": (b"free 9 1 20260101\nmoney " + b"9" * 5000 + b" 1 20260101\n", "line 2", "count"),
    "a terminal's": (b"free 9 1 20260101\nmoney \x1b[2J 1 20260101\n", "line 2", "x1b"),
    "cut short": (b"10,20\nfree,1,9\nmon", "line 3", "a word"),
    "a quote not closed": (b'10,20\n"free,1,9\n', "line 2", "quotes"),
    "a quote never closed": (b'10,20\n"free\n' + 200_000 * b"x\n", "quotes"),
    "another term": (b'1,9,8861,"free"\n1,9,8861,free\n', "line 2", "a term"),
    "a line without end": (b"free 9 1 20260101\n" + b"x" * (LONGEST_LINE + 1), "line 2", "longer than"),
    "a first line without end": (b"x" * 1_000_000 + b"\n", "line 1", "longer than"),
    "no messages": (b"free 9 1 20260101\n", "how many messages"),
    "zero messages": (b"0,0\nfree,1,9\n", "how many messages"),
    "too many messages": (b"10,99999999999\nfree,1,9\n", "line 1", "messages"),
    "nothing carried": (b".MSG_COUNT 1 1 20260101\nrtrn:ann 1 0 20260101\n", "nothing in it"),
    "fingerprints only": (b'1,1,8861,"__COUNT__"\n1,0,8861,"I0xbbffa08e"\n', "nothing in it"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_export_is_told_with_its_line(spamnb, model, name):
    export, *words = DAMAGED[name]
    spamnb("import", "-", "--model", model, stdin=export).fails(65, *words)
    spamnb("inspect", "--model", model).fails(75, "no model")


def test_a_filter_can_be_named(spamnb, model):
    def done(name, export=BOGOFILTER):
        return spamnb("import", "-", "--from", name, "--model", model, stdin=export)

    done("spamprobe").fails(65, "line 1", "a term")
    done("bogus").fails(64, "--from", "bogofilter")
    done("bogofilter", b".ROBX .5 1\n" + BOGOFILTER).fails(65, "line 1", "'.5'")
    done("bogofilter").succeeds()


def test_what_is_not_there(spamnb, model, tmp_path):
    spamnb("import", tmp_path / "nosuch", "--model", model).fails(66, "nosuch", "no such file")
    spamnb("import", tmp_path, "--model", model).fails(66, "directory")
    (tmp_path / "torn.gz").write_bytes(gzip.compress(BOGOFILTER)[:-20])
    spamnb("import", tmp_path / "torn.gz", "--model", model).fails(65, "torn.gz", "compression")


@given(st.sampled_from([*EXPORTS]), st.integers(1, 50))
def test_blocks_are_cut_anywhere(name, size):
    export = EXPORTS[name]
    blocks = [export[at : at + size] for at in range(0, len(export), size)]
    assert read_export(Lines("x", blocks)).counts == imported(export).counts


@needs("spamprobe")
def test_the_export_of_spamprobe(spamnb, model, mail, tmp_path):
    """That of bogofilter is in its page, which is tested."""
    for word, folder in (("good", mail.ham), ("spam", mail.spam)):
        paths = [f"{folder}/{n:02}" for n in range(14)]
        subprocess.run(["spamprobe", "-c", "-d", tmp_path, word, *paths], check=True)
    export = subprocess.run(["spamprobe", "-d", tmp_path, "export"], check=True, capture_output=True).stdout
    done = spamnb("import", "-", "--model", model, stdin=export).succeeds()
    assert done.lines[0] == "spamprobe: 14 ham, 14 spam"
    for label in ("ham", "spam"):
        said = spamnb("classify", "--model", model, stdin=mail.messages[label]).succeeds()
        assert said.out.startswith(label.encode())
