"""`--base` and `--no-base` of the commands."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def own(spamnb, mail, tmp_path):
    """A model of few messages, on top of one of many."""
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        for name in ("03", "04", "05"):
            (tmp_path / label / name).write_bytes((Path(getattr(mail, label)) / name).read_bytes())
    path = str(tmp_path / "own")
    spamnb("train", "--base", spamnb.model, "--model", path, str(tmp_path / "ham"), str(tmp_path / "spam"))
    spamnb("train", "--ham", "-", "--model", path, stdin=mail.messages["ham"]).succeeds()
    return path


def verdicts(spamnb, mail, *options):
    return [spamnb("classify", *options, stdin=raw).succeeds().lines for raw in mail.messages.values()]


def test_train_and_classify(spamnb, mail, own, tmp_path):
    alone = verdicts(spamnb, mail, "--model", own, "--no-base")
    folders = str(tmp_path / "ham"), str(tmp_path / "spam")
    told = spamnb("train", "--base", "none", "--model", own).succeeds()
    assert any(own in line for line in told.lines)
    assert verdicts(spamnb, mail, "--model", own) == alone
    spamnb("train", "--base", spamnb.model, "--model", own).succeeds()
    os.link(spamnb.model, tmp_path / "kept")
    spamnb("train", "--base", tmp_path / "kept", "--model", own, *folders).succeeds()
    os.unlink(tmp_path / "kept")
    alone = verdicts(spamnb, mail, "--model", own, "--no-base")
    assert verdicts_with_warning(spamnb, mail, own) in (alone, None)


def verdicts_with_warning(spamnb, mail, own):
    """Verdicts of a model whose base is gone, each with a line that says so; None if it did not count."""
    found = [spamnb("classify", "--model", own, stdin=raw) for raw in mail.messages.values()]
    if not any(done.err for done in found):
        return None
    for done in found:
        assert done.code == 0
        assert done.err.count(b"\n") == 1
        assert b"judging without this base" in done.err
    return [done.lines for done in found]
