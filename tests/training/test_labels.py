"""Labels of a model: new ones are told, emptied ones go, any number of them has the same properties."""

import os
from tempfile import TemporaryDirectory

import pytest
from helpers.generated import examples_times
from helpers.learning import train_bulk
from helpers.samples import work
from hypothesis import given
from hypothesis import strategies as st

import spamnb as library
from spamnb.exchange.export import exported
from spamnb.exchange.merging import merge
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel


def labels_of(path):
    stored = StoredModel.open(path)
    return dict(zip(stored.labels, stored.messages, strict=True))


def content(path):
    with open(path, "rb") as file:
        return file.read()


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


# Three labels


def test_cutoffs_given_decide(spamnb, three, mail):
    """As for two labels; between the others the margin holds."""
    classify = ("classify", "--model", three, "--json")
    for name, cutoffs, verdict in (
        ("spam", "-50,50", "unsure"),
        ("work", "-50", "spam"),
        ("spam", "-50", "spam"),
        ("work", "50", "work"),
        ("ham", "50", "ham"),
    ):
        done = spamnb(*classify, f"--cutoff={cutoffs}", stdin=mail.messages[name]).succeeds()
        assert done.json["verdict"] == verdict, (name, cutoffs)


# Emptied labels


@pytest.mark.parametrize("how", ["forget", "move", "forget a file", "move a file"])
def test_an_emptied_label_disappears(spamnb, own, tmp_path, how):
    before = StoredModel.open(own).head["cutoffs"]
    message = tmp_path / "message"
    message.write_bytes(work(1))
    spamnb("train", "--model", own, "--label", "work=-", stdin=work(1)).succeeds()
    words = {
        "forget": ("forget", "-"),
        "move": ("train", "--ham", "-"),
        "forget a file": ("forget", str(message)),
        "move a file": ("train", "--ham", str(message)),
    }[how]
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
        ("remove home", "has no label 'home'; there are: ham, spam"),
        ("rename ham", "rename OLD NEW, or remove NAME"),
        ("rename ham unsure", "rename OLD NEW, or remove NAME"),
    ],
)
def test_what_is_refused(spamnb, own, words, said):
    before = content(own)
    spamnb("labels", "--model", own, *words.split()).fails(64, said)
    assert content(own) == before


@pytest.mark.parametrize("words", ["remove ham", "rename ham spam"])
@pytest.mark.parametrize("options", [[], ["--settings", "event=multinomial"], ["--cutoff", "-9,-8"]])
def test_a_model_of_spam_alone_is_unsure_of_everything(spamnb, own, mail, words, options):
    spamnb("labels", "--model", own, *words.split(), "--yes").succeeds()
    for raw in (*mail.messages.values(), b"\n"):
        told = spamnb("classify", "--json", "--model", own, *options, stdin=raw).succeeds().json
        assert (told["verdict"], told["score"], told["probability"]) == ("unsure", 0, 0.5)
    several = spamnb("classify", "--model", own, *options, mail.ham, mail.spam).succeeds().lines
    assert {line.split("\t")[0] for line in several} == {"unsure"}


# One label to six: the same properties

NAMES = ("ham", "spam", "work", "home", "lists", "bills")
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
mails = st.lists(
    st.tuples(st.sets(st.sampled_from(WORDS), min_size=1), st.integers(0, 5)), min_size=1, max_size=9
)


def raw_mail(number, words):
    return f"Subject: number{number}\n\n{' '.join(sorted(words))}\n".encode()


def counts_of(path):
    """Messages by label, and the counts of each token by the label's name, without days."""
    stored = StoredModel.open(path)
    lines = [line.split("\t") for line in exported(path)]
    found = {}
    for kind, *fields in lines[1:]:
        if kind in ("t", "p"):
            found[fields[-1 if kind == "t" else 0]] = dict(zip(stored.labels, fields[2:], strict=False))
    used = {
        token: {name: count for name, count in row.items() if count != "0"} for token, row in found.items()
    }
    return {name: count for name, count in labels_of(path).items() if count}, used


@given(st.integers(1, 6), mails, st.randoms())
@examples_times(0.4)
def test_any_number_of_labels(number, mail, chance):
    """Moved, forgotten and merged: the counts of a model that was taught so at once."""
    given = {raw_mail(n, words): NAMES[label % number] for n, (words, label) in enumerate(mail)}
    with TemporaryDirectory() as folder:
        model = train_bulk(folder, given.items(), "model")
        final = dict(given)
        for raw, label in given.items():
            known = StoredModel.open(model).labels
            final[raw] = chance.choice([label, label, None, *known])
            if final[raw] != label:
                library.learn(model, raw, final[raw])
        final = {raw: label for raw, label in final.items() if label is not None}
        if not final:
            assert counts_of(model) == ({}, {})
            return
        expected = counts_of(train_bulk(folder, final.items(), "fresh"))
        assert counts_of(model) == expected
        halves = [dict(list(final.items())[n::2]) for n in (0, 1)]
        parts = [train_bulk(folder, half.items(), f"part{n}") for n, half in enumerate(halves) if half]
        both = os.path.join(folder, "both")
        merge(both, parts)
        assert counts_of(both) == expected
        stored = {path: StoredModel.open(path) for path in (both, model)}
        wanted = (
            stored[both].labels,
            [0.0, 0.0],
        )  # what looks misfiled is told by the scores: those of each half
        alike = [path for path, one in stored.items() if (one.labels, one.head["misfiled"]) == wanted]
        for raw in given:
            verdicts = [Model.open(path).classify(raw) for path in alike]
            for verdict in verdicts:
                assert verdict.score == pytest.approx(verdicts[0].score)
                assert sum(verdict.probabilities.values()) == pytest.approx(1)
