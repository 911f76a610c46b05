"""Expiry: what is old and rare goes, all else stays, and what went can still be forgotten."""

import random
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.textbook import rows_of

from spamnb.inspection import check as checking
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.tables.loading import load_table
from spamnb.training import pruning
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers.local import LocalPool

DAY = 86400


@pytest.fixture
def clock(monkeypatch):
    """A day that tests can choose."""

    class Clock:
        def __init__(self):
            self.now = time.time()

        def sleep(self, days):
            self.now += days * DAY
            monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(self.now)))

    return Clock()


def message(words, label="ham"):
    return f"Subject: {label}\n\n{words}\n".encode()


def known(path, *words):
    return set(rows_of(StoredModel.open(path), words))


def test_only_what_is_old_and_rare_goes(model, clock):
    learn(model, message("once common common2"), "ham")
    for n in range(4):
        learn(model, message(f"common {n}"), "ham")
    clock.sleep(200)
    learn(model, message("lately common2"), "ham")
    done = pruning.prune(model)
    assert known(model, "once", "common", "common2", "lately") == {"common", "common2", "lately"}
    assert done.tokens[0] - done.tokens[1] > 0
    assert done.pairs[0] > done.pairs[1]
    assert StoredModel.open(model).messages == [6, 0]


def test_trying_changes_nothing(spamnb, own):
    before = Path(own).read_bytes()
    answer = spamnb("prune", "--dry-run", "--older-than", "0", "--json", "--model", own).succeeds().json
    assert set(answer) == {"model", "dry_run", "tokens", "pairs", "size"}
    assert Path(own).read_bytes() == before


def test_a_pruned_message_can_be_forgotten(model, clock):
    raw = message("once upon a time")
    learn(model, raw, "spam")
    learn(model, message("all else"), "ham")
    clock.sleep(400)
    pruning.prune(model)
    assert not known(model, "once", "upon")
    assert learn(model, raw, None) == "forgotten"
    training.fold(model)
    stored = StoredModel.open(model)
    assert stored.messages == [1, 0]
    table = load_table(stored)
    assert np.all(table.message_counts >= 0)
    assert stored.presences[1] == 0
    assert learn(model, raw, "spam") == "learned"
    assert known(model, "once") == {"once"}


@pytest.mark.slow
def test_a_year_of_learning_stays_bounded(model, clock):
    """New words every day; pruned every month, half a year back."""
    draw = random.Random(1)
    sizes = []
    for day in range(365):
        words = " ".join(f"w{draw.randrange(10**9)}" for _ in range(20))
        label = "spam" if day % 2 else "ham"
        learn(model, message(f"{'buy cheap' if day % 2 else 'see you'} {words}", label), label)
        clock.sleep(1)
        if day % 30 == 29:
            pruning.prune(model)
            sizes.append(StoredModel.open(model).vocabulary)
    assert max(sizes[6:]) < 1.05 * sizes[6]
    verdict = Model.open(model).classify(message("buy cheap", "spam"))
    assert verdict.label == "spam"


# Dropped at once, however new: train --drop-rare


@pytest.mark.parametrize("rare", [1, 2, 13])
def test_exactly_what_is_rare_is_dropped(spamnb, mail, tmp_path, rare):
    path = str(tmp_path / "model")
    spamnb("train", "--drop-rare", str(rare), "--jobs", "1", "--model", path, mail.ham, mail.spam).succeeds()
    whole = load_table(StoredModel.open(spamnb.model))
    often = whole.only(whole.message_counts.sum(axis=0) > rare)
    left = load_table(StoredModel.open(path))
    assert 0 < len(left) < len(whole)
    for name in ("fingerprints", "message_counts", "occurrence_counts"):
        assert np.array_equal(getattr(left, name), getattr(often, name)), name
    assert np.array_equal(left.texts.data, often.texts.data)
    assert (left.messages, left.numbers) == (whole.messages, whole.numbers)
    assert left.learned.digests.tolist() == whole.learned.digests.tolist()


def test_a_model_there_is_loses_what_is_rare_too(spamnb, own, mail):
    """Though there is nothing to learn."""
    spamnb("train", "--drop-rare", "1", "--jobs", "1", "--model", own, mail.ham, mail.spam).succeeds()
    assert load_table(StoredModel.open(own)).message_counts.sum(axis=0).min() == 2


def test_dropped_words_can_be_learned_and_forgotten(model, tmp_path):
    """A message may have had a word more often than all that came since."""
    (tmp_path / "raw").write_bytes(message("often often often often"))
    training.train(model, {"ham": [str(tmp_path / "raw")]}, rare=1, pool=LocalPool(1))
    assert (StoredModel.open(model).vocabulary, StoredModel.open(model).messages) == (0, [1, 0])
    for words in ("often one", "often two"):
        learn(model, message(words), "ham")
    training.train(model, {"ham": [str(tmp_path / "raw")]}, forget=True, pool=LocalPool(1))
    table = load_table(StoredModel.open(model))
    assert table.messages == (2, 0)
    assert (table.message_counts >= 0).all()
    assert {"one", "two", "often"} <= set(table.tokens(range(len(table))))
    assert checking.check(model).damage == []
    Model.open(model).classify(message("often"))
