"""`spamnb check`: all that is damaged is said, and a sound model is called so."""

import os
from pathlib import Path

import pytest
from helpers.forging import flip
from helpers.learning import train_bulk
from helpers.tiers import LONG

from spamnb.errors import ModelError
from spamnb.inspection.check import check
from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers import LocalPool

KEYS = "path size columns tokens pairs messages journal journal_size aside damage".split()


def lines(done):
    """What is damaged, a line each."""
    assert (done.code, done.out) == (65, b"")
    said = done.err.decode().splitlines()
    assert all(line.startswith("spamnb: ") for line in said)
    return said


# Sound


def test_a_sound_model(spamnb, own):
    done = spamnb("check", own).succeeds()
    stored = StoredModel.open(own)
    assert done.lines == [
        f"{own}: undamaged",
        f" tokens      {stored.vocabulary:,}",
        f" word pairs  {stored.pair_vocabulary:,}",
        " messages    28",
        " journal     0 messages, 0 bytes",
        f" size        {os.path.getsize(own):,} bytes in {len(stored.head['columns'])} columns",
    ]


def test_as_json_with_a_journal(spamnb, own):
    spamnb("train", "--spam", "-", "--model", own, stdin=b"Subject: one\n\nmore").succeeds()
    found = spamnb("check", "--json", own).succeeds().json
    assert list(found) == KEYS
    assert (found["messages"], found["journal"], found["damage"]) == (28, 1, [])
    assert found["journal_size"] == os.path.getsize(own + ".journal")


# Damaged


def columns_of(path):
    return StoredModel.open(path).columns


def test_any_bit_wrong_and_any_cut_is_found(tmp_path):
    """Of the front every bit, of the rest some."""
    path = train_bulk(tmp_path, [(b"Subject: tea\n\nat noon", "ham"), (b"Subject: pills\n\nbuy now", "spam")])
    whole = Path(path).read_bytes()
    for at in range(len(whole)):
        for bit in range(8) if LONG or at < 60 else [at % 8] if at % 5 == 0 else []:
            flip(path, at, 1 << bit)
            assert len(check(path).damage) == 1, (at, bit)
            flip(path, at, 1 << bit)
    assert check(path).damage == []
    for size in [len(whole) - 1, *reversed(range(0, len(whole), 1 if LONG else 13))]:
        os.truncate(path, size)
        assert len(check(path).damage) == 1, size


def test_who_reads_a_damaged_column_whole_says_so_and_writes_nothing(own, mail):
    """Training reads all of them; a lesson what it is about to change."""
    content = Path(own).read_bytes()
    for name, column in columns_of(own).items():
        flip(own, column.at + column.size // 2)
        with pytest.raises(ModelError, match=f"its column {name} is damaged"):
            training.train(own, {"spam": [mail.work]}, pool=LocalPool(1))
        if name in ("learned", "learned_index", "gram_counters", "grams", "index"):
            with pytest.raises(ModelError, match=f"its column {name} is damaged"):
                learn(own, mail.messages["ham"], "ham")
        assert not os.path.exists(own + ".journal")
        flip(own, column.at + column.size // 2)
        assert Path(own).read_bytes() == content


def test_all_of_it_is_said(spamnb, own):
    """A line for each, not only the first; and of the journal, too, with the days that it is about."""
    for number in range(3):
        learn(own, b"Subject: lesson %d\n\nwords" % number, "spam")
        if number == 0:
            first = os.path.getsize(own + ".journal")
        if number == 1:
            end = os.path.getsize(own + ".journal")
    days = sorted({entry.day for entry in StoredModel.open(own).journal.records})
    assert len(days) <= 2
    columns = columns_of(own)
    for name in ("entries", "index", "learned"):
        flip(own, columns[name].at + 3)
    flip(own + ".journal", first + 40)
    said = lines(spamnb("check", own))
    what = [line.removeprefix(f"spamnb: {own}: ").partition(";")[0] for line in said]
    assert what[:-1] == [f"its column {name} is damaged" for name in ("entries", "index", "learned")]
    assert what[-1].startswith(f"its journal is damaged at bytes {first}-{end - 1}, written from 20")
    assert " to 20" in what[-1]
    assert said[-1].endswith("; learn the messages of that time again")
    done = spamnb("check", "--json", own)
    assert (done.code, done.err) == (65, b"")
    assert [f"spamnb: {own}: {one}" for one in done.json["damage"]] == said


def test_what_is_no_model(spamnb, tmp_path):
    spamnb("check", tmp_path / "none").fails(75, "spamnb train")
    spamnb("check", tmp_path).fails(66, "a folder", "--model")
    (tmp_path / "text").write_text("Dear model,\n")
    spamnb("check", tmp_path / "text").fails(65, "not a spamnb model", "--model")


def test_a_journal_that_was_put_aside_is_named(spamnb, own):
    Path(own + ".journal.damaged").write_bytes(b"x")
    done = spamnb("check", own).succeeds()
    assert done.lines[-1].startswith(f" aside       {own}.journal.damaged: an earlier, damaged journal")
