"""`spamnb tune`: the search, its report, and the model it leaves."""

from pathlib import Path

import pytest

from spamnb.cli.tune import options_for
from spamnb.evaluation.candidates import parse_candidate
from spamnb.store.stored_model import StoredModel
from spamnb.tables.loading import load_table
from spamnb.training import train as training
from spamnb.workers.local import LocalPool

OPTIONS = ("--folds", "2", "--jobs", "1")


@pytest.fixture(scope="module")
def tuned(spamnb, mail, tmp_path_factory):
    model = str(tmp_path_factory.mktemp("tuned") / "model")
    return spamnb("tune", "--json", *OPTIONS, "--model", model, mail.ham, mail.spam).succeeds().json


def test_all_is_tried_against_the_default(tuned):
    names = [one["name"] for one in tuned["tried"]]
    assert len(set(names)) == len(names)
    assert names[:4] == ["default", "event=multinomial", "event=binary", "event=bernoulli"]
    assert {"smoothing=0.1", "least-evidence=3.0", "damping=8", "pairs=no"} <= set(names)
    for setting in ("ngrams=2", "headers=no", "case=yes"):  # on top of the best of the others
        assert any(name.endswith(setting) for name in names)
    first = [one["name"] for one in tuned["tried"] if one["against_first"]["verdicts_p"] is None]
    assert first == ["default"]


def test_the_winner_is_no_accident_and_the_model_is_trained_with_it(spamnb, tuned):
    """Twenty-eight messages show nothing beyond chance, so the default stays."""
    assert tuned["winner"] == "default"
    assert tables_of(tuned["model"]) == tables_of(spamnb.model)


def test_a_model_that_is_there_is_kept_unless_asked_otherwise(spamnb, mail, own):
    """It may have learned years of mail. If it has the settings found, nothing is to be changed."""
    spamnb("train", "--model", own, "--spam", mail.work).succeeds()
    before = Path(own).read_bytes()
    *_, chosen, last = spamnb("tune", *OPTIONS, "--model", own, mail.ham, mail.spam).succeeds().lines
    assert chosen.startswith("chosen: default; ")
    assert "this mail" in chosen  # why
    assert last == f"nothing to change: {own} has these settings"
    other = own + ".other"
    spamnb("train", "--ngrams=2", "--model", other, mail.ham, mail.spam).succeeds()
    assert spamnb("tune", *OPTIONS, "--model", other, mail.ham, mail.spam).succeeds().lines[-2:] == [
        f"nothing written: {other} is kept; --fresh replaces it",
        f"to train with these settings: spamnb train --fresh --model {other} HAM SPAM",
    ]
    found = spamnb("tune", "--json", *OPTIONS, "--model", own, mail.ham, mail.spam).succeeds().json
    assert (found["model"], found["options"]) == (None, [])
    assert Path(own).read_bytes() == before
    text = spamnb("tune", "--fresh", *OPTIONS, "--model", own, mail.ham, mail.spam).succeeds().out.decode()
    assert "event=bernoulli" in text
    assert text.endswith(f"\nmodel: {own}\n")
    assert tables_of(own) == tables_of(spamnb.model)


def tables_of(path):
    """All but the cutoffs, which are for another loss of ham."""
    table = load_table(StoredModel.open(path))
    return table.fingerprints.tolist(), table.message_counts.tolist(), table.occurrence_counts.tolist()


@pytest.mark.parametrize(
    "name", ["default", "event=bernoulli", "damping=4,ngrams=2,headers=no,smoothing=0.1,case=yes"]
)
def test_train_takes_what_was_found(spamnb, mail, tmp_path, name):
    """And makes the model that `tune` would."""
    chosen = parse_candidate(name)
    theirs, ours = str(tmp_path / "theirs"), str(tmp_path / "ours")
    sources = {"ham": [mail.ham], "spam": [mail.spam]}
    training.train(theirs, sources, chosen.settings, view=chosen.view, pool=LocalPool(1))
    options = ("--model", ours, "--jobs", "1", *options_for(chosen))
    spamnb("train", *options, mail.ham, mail.spam).succeeds()
    assert Path(ours).read_bytes() == Path(theirs).read_bytes()
    spamnb("train", *options, mail.ham, mail.spam).succeeds()  # once more, with the same settings


def test_a_language_as_options():
    pytest.importorskip("Stemmer", reason="without the extra `languages`")
    pytest.importorskip("stop_words", reason="without the extra `languages`")
    chosen = parse_candidate("stem=english,pairs=no,stop-words=english")
    assert options_for(chosen) == ["--stem", "english", "--stop-words", "english", "--view", "pairs=no"]


@pytest.mark.parametrize(
    "settings", ["ngrams=2", "speed=9", "smoothing=-1", "damping=nan", "least-evidence=inf", "prior=x", ""]
)
def test_a_view_that_is_none(spamnb, mail, tmp_path, settings):
    model = tmp_path / "model"
    spamnb("train", "--view", settings, "--model", model, mail.ham, mail.spam).fails(64, "least-evidence")
    assert not model.exists()


def test_what_cannot_be_read_is_told(spamnb, mail, damaged, tmp_path):
    """By name and by the exit code, as `train` does; the model is there all the same."""
    for skip, code in ((), 65), (("--skip-unreadable",), 0):
        model = tmp_path / f"model{code}"
        done = spamnb("tune", "--json", *skip, *OPTIONS, "--model", model, damaged, mail.spam)
        assert done.code == code
        assert done.err.decode().startswith(f"spamnb: {damaged}/cut.gz: ")
        assert done.err.count(b"\n") == 1  # though it was read many times
        assert [one["path"] for one in done.json["unreadable"]] == [f"{damaged}/cut.gz"]
        assert tables_of(str(model)) == tables_of(spamnb.model)


@pytest.mark.parametrize("model", ["ham/01/model", "ham/01/new/model"])
def test_a_model_that_cannot_be_written_is_told_first(spamnb, mail, damaged, tmp_path, model):
    """Before any mail is read: else what cannot be read of it would be told as well."""
    spamnb("tune", *OPTIONS, "--model", tmp_path / model, damaged, mail.spam).fails(73, model, "another file")


def test_what_was_found_is_shown_though_training_fails(spamnb, mail, tmp_path):
    model = tmp_path / "model"
    (tmp_path / "model.training").mkdir()  # where the lock would be
    done = spamnb("tune", *OPTIONS, "--model", model, mail.ham, mail.spam)
    assert done.code == 73
    assert done.err.decode().startswith(f"spamnb: {model}.training: ")
    assert "event=bernoulli" in done.out.decode()
    assert done.lines[-3].startswith("chosen: default; ")
    assert done.lines[-2] == "nothing written"


def test_a_language_is_tried_too(spamnb, mail):
    pytest.importorskip("Stemmer", reason="without the extra `languages`")
    pytest.importorskip("stop_words", reason="without the extra `languages`")
    try_out = ("tune", "--json", "--dry-run", *OPTIONS, mail.ham, mail.spam, "--language")
    found = spamnb(*try_out, "english").succeeds().json
    assert found["model"] is None
    names = [one["name"] for one in found["tried"]]
    assert any("stem=english" in name for name in names)
    assert any("stop-words=english" in name for name in names)
    spamnb(*try_out, "klingon").fails(64, "english")


def test_trying_only(spamnb, mail, tmp_path):
    model = tmp_path / "model"
    try_out = ("tune", "--dry-run", *OPTIONS, "--model", model, mail.ham, mail.spam)
    assert spamnb(*try_out).succeeds().lines[-2:] == [
        "nothing written",
        f"to train with these settings: spamnb train --model {model} HAM SPAM",
    ]
    assert not model.exists()


def test_usage(spamnb, mail):
    spamnb("tune", mail.ham).fails(64, "--spam")
    spamnb("tune", "--ham", mail.ham).fails(64, "ham and spam")
    spamnb("tune", mail.ham, mail.ham).fails(64, mail.ham)
    spamnb("tune", "--folds", "1", mail.ham, mail.spam).fails(64, "--folds")
    spamnb("tune", "--folds", "15", mail.ham, mail.spam).fails(65, "15 folds")
