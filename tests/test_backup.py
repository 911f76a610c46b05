"""A model as text: everything is in it, and comes back byte for byte."""

import gzip
from pathlib import Path

import pytest

from spamnb.bulk import training
from spamnb.counts.store import Stored
from spamnb.learning import learn


def content(path):
    return Path(path).read_bytes()


@pytest.mark.parametrize("source", ["model", "three"])
def test_a_round_trip_gives_the_same_file(spamnb, tmp_path, request, source):
    path = spamnb.model if source == "model" else request.getfixturevalue(source)
    text = spamnb("export", "--model", path).succeeds().out
    back = str(tmp_path / "back")
    spamnb("import", "--model", back, "-", stdin=text).succeeds()
    assert content(back) == content(path)


def test_compressed_from_a_file(spamnb, tmp_path):
    backup = tmp_path / "backup.gz"
    backup.write_bytes(gzip.compress(spamnb("export").succeeds().out))
    back = str(tmp_path / "back")
    answer = spamnb("import", "--model", back, backup).succeeds()
    assert answer.lines == ["ham: 14 messages", "spam: 14 messages", f"model: {back}"]
    assert content(back) == content(spamnb.model)


def test_the_journal_comes_along(spamnb, own, tmp_path):
    tea = b"Subject: tea\n\nat five \xc3\xa9\n"
    learn(own, tea, "ham")
    text = spamnb("export", "--model", own).succeeds().out
    back = str(tmp_path / "back")
    spamnb("import", "--model", back, "-", stdin=text).succeeds()
    assert spamnb("export", "--model", back).succeeds().out == text
    assert Stored.open(back).messages == Stored.open(own).messages == [15, 14]
    assert spamnb("classify", "--model", back, stdin=tea) == spamnb("classify", "--model", own, stdin=tea)


def test_an_empty_model(spamnb, tmp_path):
    path, back = str(tmp_path / "empty"), str(tmp_path / "back")
    training.create(path, "spam")
    text = spamnb("export", "--model", path).succeeds().out
    spamnb("import", "--model", back, "-", stdin=text).succeeds()
    assert content(back) == content(path)


def test_a_model_that_is_there_stays_unless_asked(spamnb, own):
    text = spamnb("export").succeeds().out
    learn(own, b"Subject: tea\n\nat five\n", "ham")
    before = content(own), content(own + ".journal")
    spamnb("import", "--model", own, "-", stdin=text).fails(73, "--fresh")
    assert (content(own), content(own + ".journal")) == before
    spamnb("import", "--fresh", "--model", own, "-", stdin=text).succeeds()
    assert content(own) == content(spamnb.model)


DAMAGE = {
    "cut after the first line": lambda lines: lines[:1],
    "no head": lambda lines: lines[:1] + lines[2:],
    "an unknown kind": lambda lines: [*lines, b"x\t1"],
    "a count below zero": lambda lines: [*lines, b"t\t1\t1\t-1\t0\t1\t0\tword"],
    "a count missing": lambda lines: [*lines, b"t\t1\t1\tword"],
    "no number": lambda lines: [*lines, b"p\tzz\t1\t1\t1"],
    "a label that is none": lambda lines: [*lines, b"m\t00\t7\t0.5"],
    "not UTF-8": lambda lines: [*lines, b"t\t1\t1\t1\t0\t1\t0\t\xff"],
    "a number too large": lambda lines: [*lines, b"p\t" + b"f" * 40 + b"\t1\t1\t1"],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_and_changes_nothing(spamnb, own, damage):
    lines = spamnb("export").succeeds().out.splitlines()
    before = content(own)
    text = b"\n".join(DAMAGE[damage](lines)) + b"\n"
    spamnb("import", "--fresh", "--model", own, "-", stdin=text).fails(65, "line", "damaged")
    assert content(own) == before
