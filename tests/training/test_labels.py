"""Labels of a model: new ones are asked for, emptied ones go, any number of them has the same properties."""

import os
import shlex
import sys
from tempfile import TemporaryDirectory

import pytest
from helpers.generated import examples_times
from helpers.learning import train_bulk
from helpers.programs import needs
from helpers.samples import work
from helpers.terminal import Terminal
from hypothesis import given
from hypothesis import strategies as st

import spamnb as library
from spamnb.errors import DataError, UsageError
from spamnb.exchange.backup import exported, restore
from spamnb.exchange.importing.exports import Lines
from spamnb.exchange.merging import merge
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.training.labels import differs_by_one_letter, with_mail


def labels_of(path):
    stored = StoredModel.open(path)
    return dict(zip(stored.labels, stored.messages, strict=True))


def content(path):
    with open(path, "rb") as file:
        return file.read()


# New labels


@pytest.mark.parametrize("options", [[], ["--dry-run"], ["--json"], ["--new-label", "other"]])
@pytest.mark.parametrize("name", ["work", "spma"])
def test_a_new_label_is_asked_for(spamnb, own, mail, name, options):
    before = content(own)
    train = ("train", "--model", own, "--jobs", "1", *options)
    said = "'work' is a new label; there are: ham, spam" if name == "work" else "'spam' by one letter"
    spamnb(*train, "--label", f"{name}=-", stdin=work(1)).fails(64, said, "Nothing was changed")
    spamnb(*train, "--label", f"{name}={mail.work}").fails(64, said)
    assert content(own) == before


@pytest.mark.parametrize("options", [["--new-label", "work"], ["--yes"]])
def test_it_is_added_if_it_is_meant(spamnb, own, mail, options):
    """One message of it changes no score, no cutoff, and nearly no verdict."""
    before = Model.open(own)
    judged = [before.classify(raw) for raw in mail.messages.values()]
    spamnb("train", "--model", own, "--label", "work=-", *options, stdin=work(1)).succeeds()
    assert labels_of(own) == {"ham": 14, "spam": 14, "work": 1}
    after = Model.open(own)
    assert before.cutoffs
    assert after.cutoffs
    assert (after.cutoffs.ham, after.cutoffs.spam) == pytest.approx(
        (before.cutoffs.ham, before.cutoffs.spam), abs=1.5
    )
    for verdict, raw in zip(judged, mail.messages.values(), strict=True):
        assert (after.classify(raw).label == "spam") == (verdict.label == "spam")
    spamnb("train", "--model", own, "--label", "work=-", stdin=work(2)).succeeds()  # known from now on
    assert labels_of(own)["work"] == 2


def test_a_name_of_one_letters_difference_is_added_by_its_name_only(spamnb, own, mail):
    train = ("train", "--model", own, "--jobs", "1", "--label", f"spma={mail.work}")
    spamnb(*train, "--yes").fails(64, "'spma' differs from 'spam' by one letter only", "--new-label spma")
    spamnb(*train, "--new-label", "spma").succeeds()
    assert labels_of(own) == {"ham": 14, "spam": 14, "spma": 14}


def test_ham_and_spam_are_never_asked_for(spamnb, mail, tmp_path):
    model = str(tmp_path / "model")
    train = ("train", "--model", model, "--jobs", "1")
    spamnb(*train, "--label", f"work={mail.work}").succeeds()  # a new model has the labels it is given
    spamnb(*train, "--spam", mail.spam).succeeds()
    spamnb(*train, "--ham", "-", stdin=mail.messages["ham"]).succeeds()
    assert labels_of(model) == {"work": 14, "spam": 14, "ham": 1}


def test_the_library_asks_too(own, mail):
    with pytest.raises(UsageError, match="'work' is a new label"):
        library.train(own, {"work": [mail.work]}, jobs=1)
    with pytest.raises(DataError, match="has no label 'work'"):
        library.learn(own, work(1), "work")
    library.train(own, {"work": [mail.work]}, new_labels=["work"], jobs=1)
    assert labels_of(own)["work"] == 14


@needs("tmux")
@pytest.mark.parametrize("answer", ["y", "n"])
def test_a_question_on_a_terminal(spamnb, own, mail, tmp_path, answer):
    program = [sys.executable, "-m", "spamnb", "train", "--model", own, "--jobs", "1"]
    line = f"{shlex.join([*program, '--label', f'work={mail.work}'])}; echo ended; cat"
    terminal = Terminal(["sh", "-c", line], spamnb.environment, tmp_path)
    try:
        terminal.see("'work' is new; there are: ham, spam. Add it? [y/N]")
        terminal.press(f"{answer}\n")
        terminal.see("ended")
        assert ("work" in labels_of(own)) == (answer == "y")
    finally:
        terminal.end()


@pytest.mark.parametrize(
    ("names", "other", "alike"),
    [
        ("spma spa sspam spim spams Spam", "spam", True),
        ("work maps spam", "spam", False),
        ("am", "ham", True),
        ("a", "b", False),
    ],
)
def test_one_letter(names, other, alike):
    for one in names.split():
        assert differs_by_one_letter(one, other) == differs_by_one_letter(other, one) == alike, one


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
    train, message = ("train", "--model", own), tmp_path / "message"
    message.write_bytes(work(1))
    spamnb(*train, "--label", "work=-", "--yes", stdin=work(1)).succeeds()
    words = {
        "forget": ("--forget", "-"),
        "move": ("--ham", "-"),
        "forget a file": ("--forget", str(message)),
        "move a file": ("--ham", str(message)),
    }[how]
    spamnb(*train, *words, stdin=work(1)).succeeds()
    assert labels_of(own) == {"ham": 15 if "move" in how else 14, "spam": 14}
    assert "margin" not in StoredModel.open(own).head
    if "forget" in how:
        assert StoredModel.open(own).head["cutoffs"] == before


@pytest.mark.parametrize(
    ("labels", "messages", "kept"),
    [
        ("ham spam", (0, 0), "ham spam"),
        ("ham spam", (0, 3), "ham spam"),
        ("ham spam work", (1, 0, 0), "ham spam"),
        ("ham spam work", (0, 1, 2), "spam work"),
        ("ham spam work", (1, 0, 2), "ham spam work"),
        ("work home", (0, 1), "home"),
        ("work", (0,), "work"),
        ("work spam", (0, 0), "work spam"),
        ("work spam", (0, 1), "spam"),
    ],
)
def test_labels_with_mail(labels, messages, kept):
    assert with_mail(labels.split(), messages) == kept.split()


# Renaming and removing


def test_a_label_is_renamed(spamnb, three, tmp_path, mail):
    model = str(tmp_path / "model")
    spamnb("merge", model, three).succeeds()
    before = Model.open(model).classify(mail.messages["work"])
    done = spamnb("train", "--model", model, "--rename-label", "work=office").succeeds()
    assert done.lines == ["work: 14 now office"]
    assert labels_of(model) == {"ham": 14, "spam": 14, "office": 14}
    after = Model.open(model).classify(mail.messages["work"])
    assert (after.label, after.score) == ("office", before.score)
    add = ("train", "--model", model, "--rename-label", "office=ham")
    spamnb(*add).fails(64, "this makes 14 office ham, and cannot be undone", "--yes")
    spamnb(*add, "--yes").succeeds()
    assert labels_of(model) == {"ham": 28, "spam": 14}


def test_a_label_is_removed(spamnb, own, three, tmp_path):
    """What is left is the model that never had it."""
    model = str(tmp_path / "model-of-three")
    spamnb("merge", model, three).succeeds()
    done = spamnb("train", "--model", model, "--remove-label", "work", "--yes", "--json").succeeds()
    assert done.json == {"model": model, "label": "work", "renamed_to": None, "messages": 14}
    lines = [[line for line in exported(path) if line[:2] in ("t\t", "p\t")] for path in (model, own)]
    assert lines[0] == lines[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--remove-label", "spam"], "spam cannot be renamed or removed"),
        (["--remove-label", "ham"], "this forgets all of ham, 14 messages, and cannot be undone"),
        (["--remove-label", "home"], "has no label 'home'; there are: ham, spam"),
        (["--rename-label", "work"], "takes OLD=NEW"),
        (["--rename-label", "ham=unsure"], "takes OLD=NEW"),
        (["--rename-label", "ham=mine", "--spam", "-"], "go alone"),
        (["--rename-label", "ham=mine", "--dry-run"], "go alone"),
        (["--remove-label", "ham", "--ham-loss", "1%"], "go alone"),
    ],
)
def test_what_is_refused(spamnb, own, words, said):
    before = content(own)
    spamnb("train", "--model", own, *words).fails(64, said)
    assert content(own) == before


@pytest.mark.parametrize("words", [["--remove-label", "ham"], ["--rename-label", "ham=spam"]])
@pytest.mark.parametrize("options", [[], ["--event", "multinomial"], ["--cutoff", "-9,-8"]])
def test_a_model_of_spam_alone_is_unsure_of_everything(spamnb, own, mail, words, options):
    spamnb("train", "--model", own, *words, "--yes").succeeds()
    for raw in (*mail.messages.values(), b"\n"):
        told = spamnb("classify", "--json", "--model", own, *options, stdin=raw).succeeds().json
        assert (told["verdict"], told["score"], told["probability"]) == ("unsure", 0, 0.5)
    several = spamnb("classify", "--model", own, *options, mail.ham, mail.spam).succeeds().lines
    assert {line.split("\t")[0] for line in several} == {"unsure"}


def test_a_model_of_one_label_is_unsure_and_keeps_it(spamnb, mail, tmp_path):
    train = ("train", "--model", tmp_path / "model")
    spamnb(*train, "--jobs", "1", "--label", f"work={mail.work}").succeeds()
    spamnb(*train, "--remove-label", "work", "--yes").fails(64, "work is its only label")
    judged = spamnb("classify", "--model", tmp_path / "model", mail.work, mail.spam).succeeds().lines
    assert {line.split("\t")[0] for line in judged} == {"unsure"}


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
    for kind, *fields in lines[2:-1]:
        if kind in ("t", "p"):
            found[fields[-1 if kind == "t" else 0]] = dict(zip(stored.labels, fields[2:], strict=False))
    used = {
        token: {name: count for name, count in row.items() if count != "0"} for token, row in found.items()
    }
    return {name: count for name, count in labels_of(path).items() if count}, used


@given(st.integers(1, 6), mails, st.randoms())
@examples_times(0.4)
def test_any_number_of_labels(number, mail, chance):
    """Moved, forgotten, merged, exported and imported: the counts of a model that was taught so at once."""
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
        again = os.path.join(folder, "again")
        restore(again, Lines(again, [f"{line}\n".encode() for line in exported(model)]))
        assert list(exported(again)) == list(exported(model))
        halves = [dict(list(final.items())[n::2]) for n in (0, 1)]
        parts = [train_bulk(folder, half.items(), f"part{n}") for n, half in enumerate(halves) if half]
        both = os.path.join(folder, "both")
        merge(both, parts)
        assert counts_of(both) == expected
        stored = {path: StoredModel.open(path) for path in (both, model, again)}
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
