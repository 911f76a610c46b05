"""`spamnb train --base`."""

from pathlib import Path

import pytest


@pytest.fixture
def own(spamnb, mail, tmp_path):
    """A model of few messages, on top of one of many."""
    for label in ("ham", "spam"):
        (tmp_path / label).mkdir()
        for name in ("03", "04", "05"):
            (tmp_path / label / name).write_bytes((Path(getattr(mail, label)) / name).read_bytes())
    path, base = str(tmp_path / "own"), tmp_path / "base"
    base.write_bytes(Path(spamnb.model).read_bytes())
    spamnb("train", "--base", base, "--model", path, tmp_path / "ham", tmp_path / "spam").succeeds()
    return path


def test_with_a_base_without_it_and_when_it_is_gone(spamnb, mail, own, tmp_path):
    def verdicts():
        return [spamnb("classify", "--model", own, stdin=raw) for raw in mail.messages.values()]

    together = verdicts()
    (tmp_path / "base").rename(tmp_path / "gone")
    without = verdicts()
    spamnb("train", "--base", "none", "--model", own).succeeds()
    alone = verdicts()
    assert [done.out for done in alone] != [done.out for done in together]
    for done, expected in zip(without, alone, strict=True):
        assert (done.code, done.out, done.err.count(b"\n")) == (0, expected.out, 1)
        assert b"judging without this base" in done.err
    spamnb("train", "--base", tmp_path / "gone", "--model", own).succeeds()
    assert verdicts() == together
