"""`spamnb tune`: the search, its report, and the model it leaves."""

import shutil
from pathlib import Path

import pytest

OPTIONS = ("--folds", "2", "--jobs", "1")


@pytest.fixture(scope="module")
def tuned(spamnb, mail, tmp_path_factory):
    model = str(tmp_path_factory.mktemp("tuned") / "model")
    return spamnb("tune", "--json", *OPTIONS, "--model", model, mail.ham, mail.spam).succeeds().json


def test_all_is_tried_against_the_default(tuned):
    names = [one["name"] for one in tuned["tried"]]
    assert len(set(names)) == len(names)
    assert names[:4] == ["default", "event=multinomial", "event=binary", "event=bernoulli"]
    assert {"smoothing=0.1", "least-evidence=3.0", "silent=8", "pairs=no"} <= set(names)
    for setting in ("ngrams=2", "headers=no", "case=yes"):  # on top of the best of the others
        assert any(name.endswith(setting) for name in names)
    first = [one["name"] for one in tuned["tried"] if one["against_first"]["verdicts_p"] is None]
    assert first == ["default"]


def test_the_winner_is_no_accident(tuned):
    """Twenty-eight messages show nothing beyond chance, so the default stays."""
    assert tuned["winner"] == "default"


def test_the_model_is_trained_with_the_winner(spamnb, tuned):
    assert Path(tuned["model"]).read_bytes() == Path(spamnb.model).read_bytes()


def test_the_table_and_what_was_chosen(spamnb, mail, own):
    """A model that is there is replaced."""
    spamnb("train", "--model", own, "--spam", mail.work).succeeds()
    text = spamnb("tune", *OPTIONS, "--model", own, mail.ham, mail.spam).succeeds().out.decode()
    assert "event=bernoulli" in text
    assert text.endswith(f"chosen: default\nmodel: {own}\n")
    assert Path(own).read_bytes() == Path(spamnb.model).read_bytes()


def test_a_language_is_tried_too(spamnb, mail):
    pytest.importorskip("Stemmer", reason="without the extra `languages`")
    pytest.importorskip("stop_words", reason="without the extra `languages`")
    try_out = ("tune", "--json", "--dry-run", *OPTIONS, mail.ham, mail.spam, "--language")
    names = [one["name"] for one in spamnb(*try_out, "english").succeeds().json["tried"]]
    assert any("stem=english" in name for name in names)
    assert any("stop-words=english" in name for name in names)
    spamnb(*try_out, "klingon").fails(64, "english")


def test_trying_only(spamnb, mail, tmp_path):
    model = tmp_path / "model"
    try_out = ("tune", "--dry-run", *OPTIONS, "--model", model, mail.ham, mail.spam)
    assert spamnb(*try_out).succeeds().lines[-1] == "nothing written"
    assert spamnb(*try_out, "--json").succeeds().json["model"] is None
    assert not model.exists()


def test_usage(spamnb, mail, tmp_path):
    spamnb("tune").fails(64, "spam/")
    spamnb("tune", mail.ham).fails(64, "--spam")
    spamnb("tune", "--ham", mail.ham).fails(64, "ham and spam")
    spamnb("tune", mail.ham, mail.ham).fails(64, mail.ham)
    spamnb("tune", "--folds", "1", mail.ham, mail.spam).fails(64, "--folds")
    spamnb("tune", "--folds", "15", mail.ham, mail.spam).fails(65, "15 folds")
    spamnb("tune", mail.ham, "/nosuch").fails(66, "/nosuch")
    box = tmp_path / "inbox"
    shutil.copy(f"{mail.ham}/01", box)
    spamnb("tune", *OPTIONS, "--model", box, mail.ham, mail.spam).fails(73, str(box), "is no model")
