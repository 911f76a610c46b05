"""Labels of a model: new ones are reported, emptied ones go, any number of them has the same properties."""

from pathlib import Path

import pytest
from helpers.samples import work

from spamnb.exchange.export import exported
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel


def labels_of(path):
    stored = StoredModel.open(path)
    return dict(zip(stored.labels, stored.messages, strict=True))


# New labels


def test_a_new_label_is_added_and_told(spamnb, own, mail):
    """One message of it changes no score, no cutoff, and nearly no verdict. Mistyped, it is renamed away."""
    before = Model.open(own)
    judged = [before.classify(raw) for raw in mail.messages.values()]
    done = spamnb("train", "--model", own, "--label", "wrok=-", stdin=work(1)).succeeds()
    assert "'wrok' is a new label; if it is mistyped: spamnb labels rename wrok NAME" in done.lines
    spamnb("labels", "rename", "wrok", "work", "--model", own).succeeds()
    assert labels_of(own) == {"ham": 14, "spam": 14, "work": 1}
    after = Model.open(own)
    assert before.cutoffs
    assert after.cutoffs
    assert (after.cutoffs.ham, after.cutoffs.spam) == pytest.approx(
        (before.cutoffs.ham, before.cutoffs.spam), abs=1.5
    )
    for verdict, raw in zip(judged, mail.messages.values(), strict=True):
        assert (after.classify(raw).label == "spam") == (verdict.label == "spam")
    known = spamnb("train", "--model", own, "--label", "work=-", stdin=work(2)).succeeds()
    assert known.lines == ["work: 1 learned"]
    assert Path(own + ".journal").exists()


# Emptied labels


@pytest.mark.parametrize("how", ["forget", "move a file"])
def test_an_emptied_label_disappears(spamnb, own, tmp_path, how):
    before = StoredModel.open(own).head["cutoffs"]
    message = tmp_path / "message"
    message.write_bytes(work(1))
    spamnb("train", "--model", own, "--label", "work=-", stdin=work(1)).succeeds()
    words = {"forget": ("forget", "-"), "move a file": ("train", "--ham", str(message))}[how]
    spamnb(*words, "--model", own, stdin=work(1)).succeeds()
    assert labels_of(own) == {"ham": 15 if "move" in how else 14, "spam": 14}
    assert "margin" not in StoredModel.open(own).head
    if "forget" in how:
        assert StoredModel.open(own).head["cutoffs"] == before


# Renaming and removing


def test_a_label_is_renamed(spamnb, three, tmp_path, mail):
    model = str(tmp_path / "model")
    spamnb("merge", model, three).succeeds()
    before = Model.open(model).classify(mail.messages["work"])
    done = spamnb("labels", "--model", model, "rename", "work", "office").succeeds()
    assert done.lines == ["work: 14 now office"]
    assert labels_of(model) == {"ham": 14, "spam": 14, "office": 14}
    after = Model.open(model).classify(mail.messages["work"])
    assert (after.label, after.score) == ("office", before.score)
    assert spamnb("labels", "--model", model).succeeds().lines == ["ham\t14", "spam\t14", "office\t14"]
    add = ("labels", "--model", model, "rename", "office", "ham")
    spamnb(*add).fails(64, "all 14 messages of office become ham, for good", "--yes")
    spamnb(*add, "--yes").succeeds()
    assert labels_of(model) == {"ham": 28, "spam": 14}


def test_a_label_is_removed(spamnb, own, three, tmp_path):
    """What is left is the model that never had it."""
    model = str(tmp_path / "model-of-three")
    spamnb("merge", model, three).succeeds()
    done = spamnb("labels", "--model", model, "remove", "work", "--yes").succeeds()
    assert done.lines == ["work: 14 forgotten"]
    lines = [[line for line in exported(path) if line[:2] in ("t\t", "p\t")] for path in (model, own)]
    assert lines[0] == lines[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("remove spam", "spam cannot be renamed or removed"),
        ("remove ham", "all 14 messages of ham are forgotten, for good"),
        ("remove home", "has no label 'home'; its labels are: ham, spam"),
        ("rename ham unsure", "use `spamnb labels`"),
    ],
)
def test_what_is_refused(spamnb, own, words, said):
    before = Path(own).read_bytes()
    spamnb("labels", "--model", own, *words.split()).fails(64, said)
    assert Path(own).read_bytes() == before


@pytest.mark.parametrize("options", [[], ["--cutoff", "-9,-8"]])
def test_a_model_of_spam_alone_is_unsure_of_everything(spamnb, own, mail, options):
    spamnb("labels", "--model", own, "remove", "ham", "--yes").succeeds()
    for raw in (*mail.messages.values(), b"\n"):
        output = spamnb("classify", "--json", "--model", own, *options, stdin=raw).succeeds().json
        assert (output["verdict"], output["score"], output["probability"]) == ("unsure", 0, 0.5)
    several = spamnb("classify", "--model", own, *options, mail.ham, mail.spam).succeeds().lines
    assert {line.split("\t")[0] for line in several} == {"unsure"}
