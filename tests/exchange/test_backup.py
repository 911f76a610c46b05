"""A model as text: everything is in it, and comes back byte for byte."""

import gzip
import os
from hashlib import sha256
from pathlib import Path
from pwd import getpwuid

import pytest
from fuzz.sealing import sealed_backup
from helpers.paths import ROOT
from helpers.recipes import recipes

from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.training.learn import learn


def content(path):
    return Path(path).read_bytes()


@pytest.mark.parametrize("source", ["model", "three", "empty"])
@pytest.mark.parametrize("changed", [bytes, gzip.compress, lambda text: text.replace(b"\n", b"\r\n")])
def test_a_round_trip_gives_the_same_file(spamnb, tmp_path, request, source, changed):
    """From a file, compressed or not, with line ends of any system."""
    path = str(tmp_path / "empty")
    if source == "empty":
        training.create(path, "spam")
    else:
        path = spamnb.model if source == "model" else request.getfixturevalue(source)
    (tmp_path / "backup").write_bytes(changed(spamnb("export", "--model", path).succeeds().out))
    back = str(tmp_path / "back")
    answer = spamnb("import", "--model", back, tmp_path / "backup").succeeds()
    if source == "model":
        assert answer.lines == ["ham: 14 messages", "spam: 14 messages", f"model: {back}"]
    assert content(back) == content(path)


def test_the_journal_comes_along(spamnb, own, tmp_path):
    tea = b"Subject: tea\n\nat five \xc3\xa9\n"
    learn(own, tea, "ham")
    text = spamnb("export", "--model", own).succeeds().out
    back = str(tmp_path / "back")
    spamnb("import", "--model", back, "-", stdin=text).succeeds()
    assert spamnb("export", "--model", back).succeeds().out == text
    assert StoredModel.open(back).messages == StoredModel.open(own).messages == [15, 14]
    assert spamnb("classify", "--model", back, stdin=tea) == spamnb("classify", "--model", own, stdin=tea)


def test_a_model_that_is_there_stays_unless_asked(spamnb, own):
    text = spamnb("export").succeeds().out
    learn(own, b"Subject: tea\n\nat five\n", "ham")
    before = content(own), content(own + ".journal")
    spamnb("import", "--model", own, "-", stdin=text).fails(73, "--fresh")
    assert (content(own), content(own + ".journal")) == before
    spamnb("import", "--fresh", "--model", own, "-", stdin=text).succeeds()
    assert content(own) == content(spamnb.model)


def refused(spamnb, path, text, *words):
    """Whether a backup is refused in one line, and the model that it would replace stays as it is."""
    before = content(path)
    spamnb("import", "--fresh", "--model", path, "-", stdin=text).fails(65, "-", *words)
    return content(path) == before


def test_cut_short_at_any_line(spamnb, own):
    lines = spamnb("export").succeeds().out.splitlines(keepends=True)
    kinds = [line.partition(b"\t")[0] for line in lines]
    ends = {0, 1, 2, len(lines) - 1, *(kinds.index(kind) + 1 for kind in (b"t", b"p", b"m"))}
    for end in sorted(ends):
        assert refused(spamnb, own, b"".join(lines[:end]))
        assert refused(spamnb, own, b"".join(lines[:end]) + lines[end][: len(lines[end]) // 2])
    assert refused(spamnb, own, b"".join(lines)[:-2])  # the last line feed alone is no loss
    spamnb("import", "--fresh", "--model", own, "-", stdin=b"".join(lines)[:-1]).succeeds()


def test_the_last_line_can_be_checked_by_hand(spamnb):
    text, end, digest = spamnb("export").succeeds().out.rpartition(b"end\t")
    assert end
    assert digest == sha256(text).hexdigest().encode() + b"\n"


def test_in_a_locale_that_lacks_the_letters(spamnb, own, tmp_path):
    learn(own, "Subject: grüße\n\nпривет\n".encode(), "ham")
    plain = {**spamnb.environment, "PYTHONIOENCODING": "ascii"}
    text = spamnb.afresh("export", "--model", own, env=plain).succeeds().out
    assert text == spamnb("export", "--model", own).succeeds().out
    assert "\tпривет\n".encode() in text
    spamnb("import", "--model", tmp_path / "back", "-", stdin=text).succeeds()


DAMAGE = {
    "cut after the first line": lambda lines: lines[:1],
    "no head": lambda lines: lines[:1] + lines[2:],
    "an unknown kind": lambda lines: [*lines, b"x\t1"],
    "a count below zero": lambda lines: [*lines, b"t\t1\t1\t-1\t0\t1\t0\tword"],
    "a count missing": lambda lines: [*lines, b"t\t1\t1\tword"],
    "no number": lambda lines: [*lines, b"p\tzz\t1\t1\t1"],
    "a label that is none": lambda lines: [*lines, b"m\t00\t7\t0.5"],
    "not UTF-8": lambda lines: [*lines, b"t\t1\t1\t1\t0\t1\t0\t\xff"],
    "a counter that is none": lambda lines: [*lines, b"g\t262144\t1\t1"],
    "a number too large": lambda lines: [*lines, b"p\t" + b"f" * 40 + b"\t1\t1\t1"],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_told_and_changes_nothing(spamnb, own, damage):
    lines = spamnb("export").succeeds().out.splitlines()
    assert refused(spamnb, own, sealed_backup(b"\n".join(DAMAGE[damage](lines))), "line", "damaged")


@pytest.mark.slow
def test_backup_and_restore_by_the_page(spamnb, own, tmp_path):
    """As docs/operation.md has the commands: model and journal are as they were, and so is what it knows."""
    page, copies = ROOT / "docs" / "operation.md", tmp_path / "backup"
    copies.mkdir()

    def run(heading):
        text = recipes(page, heading, "sh")[0].replace("/backup/", f"{copies}/")
        text = text.replace("/var/lib/spamnb", str(tmp_path)).replace(
            "chown spamnb:", f"chown {getpwuid(os.getuid()).pw_name}:"
        )
        path = f"{os.path.dirname(spamnb.program)}:{os.environ['PATH']}"
        return spamnb.run(["sh", "-e", "-c", text], env={**os.environ, "PATH": path})

    learn(own, b"Subject: tea\n\nat five\n", "ham")
    before = content(own), content(own + ".journal")
    run("Backup").succeeds()
    learn(own, b"Subject: coffee\n\nat six\n", "spam")
    Path(own).write_bytes(b"")
    run("Restore").succeeds()
    assert (content(own), content(own + ".journal")) == before
    assert StoredModel.open(own).messages == [15, 14]
