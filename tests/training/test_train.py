"""Training in bulk: what counts once, what moves, what gives the same file; scores of what is left out."""

import os
from pathlib import Path

import numpy as np
import pytest

from spamnb.exchange.export import exported
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel, load_learned
from spamnb.training import sample
from spamnb.training import train as training
from spamnb.workers import LocalPool

HAM = [f"Subject: lunch {n}\n\nsee you at noon, room {n}\n".encode() for n in range(4)]
SPAM = [f"Subject: money {n}\n\nbuy now! http://example.com/{n}\n".encode() for n in range(5)]


@pytest.fixture
def mail(tmp_path):
    """Two folders of mail."""
    write(tmp_path / "ham", HAM)
    write(tmp_path / "spam", SPAM)
    return tmp_path


def write(folder, messages):
    os.makedirs(folder, exist_ok=True)
    for number, raw in enumerate(messages):
        (Path(folder) / f"{number:04}").write_bytes(raw)
    return str(folder)


def train(folder, name="model", **options):
    """Train, by default on the two folders."""
    sources = options.pop("sources", {"ham": [str(folder / "ham")], "spam": [str(folder / "spam")]})
    return training.train(str(folder / name), sources, pool=LocalPool(options.pop("jobs", 1)), **options)


def content(folder, name="model"):
    return (folder / name).read_bytes()


def stored(folder, name="model"):
    return StoredModel.open(str(folder / name))


# Once


def test_trained_twice_nothing_changes(mail):
    assert train(mail).outcomes == {"ham": {"learned": 4}, "spam": {"learned": 5}}
    before, status = content(mail), os.stat(mail / "model")
    assert train(mail).outcomes == {"ham": {"known": 4}, "spam": {"known": 5}}
    assert content(mail) == before
    assert os.stat(mail / "model").st_mtime_ns == status.st_mtime_ns


def test_forgetting_everything_leaves_the_empty_model(mail):
    training.create(str(mail / "empty"))
    train(mail)
    assert train(mail, forget=True).outcomes == {"ham": {"forgotten": 4}, "spam": {"forgotten": 5}}
    assert content(mail) == content(mail, "empty")
    assert train(mail, forget=True).outcomes == {"ham": {"unknown": 4}, "spam": {"unknown": 5}}
    assert content(mail) == content(mail, "empty")


def counts(folder, name):
    """All that a model counts, and its messages without scores, which depend on the order of the mail."""
    lines = [*exported(str(folder / name))][1:]
    return [line.rpartition("\t")[0] if line.startswith("m") else line for line in lines]


OUTCOMES = [
    ({"ham": SPAM}, {"ham": {"forgotten": 5}}),  # under whatever label it was learned
    ({"spam": [SPAM[0], HAM[0], b"new"]}, {"spam": {"known": 1, "moved": 1, "learned": 1}}),
    ({"ham": [b"new"], "spam": [b"new"]}, {"ham": {"learned": 1}, "spam": {"conflicting": 1}}),
]


@pytest.mark.parametrize(("given", "outcomes"), OUTCOMES)
def test_what_becomes_of_mail_in_a_second_run(mail, given, outcomes):
    """The counts after it are those of a model that was trained on what is left; the first label holds."""
    labels = dict.fromkeys(HAM, "ham") | dict.fromkeys(SPAM, "spam")
    forget = "forgotten" in str(outcomes)
    for label, raws in reversed(given.items()):
        labels |= dict.fromkeys(raws, "" if forget else label)
    train(mail)
    sources = {label: [write(mail / f"second {label}", raws)] for label, raws in given.items()}
    assert train(mail, sources=sources, forget=forget).outcomes == outcomes
    left = {
        label: [write(mail / f"left {label}", [raw for raw in labels if labels[raw] == label])]
        for label in ("ham", "spam")
    }
    train(mail, "other", sources=left)
    assert counts(mail, "model") == counts(mail, "other")
    assert stored(mail).numbers == stored(mail, "other").numbers


def test_a_repeated_copy_counts_once(mail):
    train(mail)
    copies = [HAM[0], HAM[0].replace(b"\n", b"\r\n"), b"X-Spamnb: ham\nStatus: RO\n" + HAM[0], *HAM[1:]]
    write(mail / "copies", copies)
    sources = {"ham": [str(mail / "copies")], "spam": [str(mail / "spam")]}
    summary = train(mail, "other", sources=sources)
    assert summary.outcomes["ham"] == {"learned": 4, "duplicate": 2}
    assert content(mail) == content(mail, "other")


# The same file


@pytest.mark.slow
def test_the_same_mail_gives_the_same_file(mail, monkeypatch):
    """In one thread or two, in whatever order and kind of box, in several chunks, in little memory."""
    monkeypatch.setattr("spamnb.mailboxes.sources.MAX_FILES", 50)
    many = [f"Subject: {n}\n\n{'word' * (n % 7)} number{n % 50} of many\n".encode() for n in range(240)]
    ham, spam = write(mail / "ham", many[:-80]), write(mail / "spam", many[-80:])
    train(mail)
    files = [os.path.join(ham, name) for name in sorted(os.listdir(ham), reverse=True)]
    envelope = b"From ann@example.org Mon Jan  1 00:00:00 2024\n"
    (mail / "box").write_bytes(b"".join(envelope + raw + b"\n" for raw in many[:-80]))
    train(mail, "two jobs", jobs=2)
    train(mail, "files", sources={"spam": [spam], "ham": files})
    train(mail, "box.model", sources={"ham": [str(mail / "box")], "spam": [spam]})
    monkeypatch.setattr("spamnb.training.counting.MAX_RUNS", 2)
    monkeypatch.setattr("spamnb.store.merging.IN_MEMORY", 0)
    train(mail, "little memory", jobs=2, memory=1)
    for name in ("two jobs", "files", "box.model", "little memory"):
        assert content(mail, name) == content(mail), name


@pytest.mark.slow
def test_a_second_run_gives_the_same_file_in_little_memory(mail):
    """What is added, moved and forgotten lies in runs, too; a label that is left without mail goes."""
    moved = write(mail / "moved", [*SPAM[:3], HAM[0], b"new"])
    gone = write(mail / "gone", HAM[1:3])
    for name, memory in (("one run", 10**9), ("many runs", 1)):
        train(mail, name, sources={"ham": [str(mail / "ham")], "spam": [str(mail / "spam")], "work": [gone]})
        train(mail, name, sources={"ham": [moved], "work": [gone]}, memory=memory)
        train(mail, name, sources={"ham": [gone, moved]}, forget=True, memory=memory)
    assert stored(mail, "one run").labels == ["ham", "spam"]
    assert content(mail, "one run") == content(mail, "many runs")


def test_the_sample_has_the_lowest_digests_that_fit(mail, monkeypatch):
    """Whatever order messages come in: of each label as many, and as much, as there may be."""
    monkeypatch.setattr(sample, "SAMPLE_SIZE", 3)
    train(mail)
    learned = load_learned(stored(mail)).messages()  # in order of hashes
    for label_index in (0, 1):
        scores = [score for _, label, score, _ in learned if label == label_index]
        assert np.flatnonzero(~np.isnan(scores)).tolist() == [0, 1, 2]
    monkeypatch.setattr(sample, "SAMPLE_BYTES", 1)
    train(mail, "none fits")
    assert not load_learned(stored(mail, "none fits")).scored()


OFFER = "buy cheap pills from our shop now and pay less than anybody asks for them today"


def test_the_model_has_the_cutoffs_of_its_scores(mail):
    write(mail / "ham", [f"Subject: lunch {n % 5}\n\nsee you at noon {n}".encode() for n in range(20)])
    write(mail / "spam", [f"Subject: money {n % 5}\n\n{OFFER} {n}".encode() for n in range(20)])
    train(mail, ham_loss=0.03)
    low, high = stored(mail).head["cutoffs"]
    assert -np.inf < low <= high < np.inf
    scored = load_learned(stored(mail)).scored()
    ham, spam = ([score for label, score, _ in scored if label == place] for place in (0, 1))
    assert max(ham) < high <= min(spam)
    judge = Model.open(str(mail / "model"))
    assert judge.classify(b"Subject: lunch\n\nsee you at noon").label == "ham"
    assert judge.classify(f"Subject: money 1\n\n{OFFER} 21".encode()).label == "spam"
