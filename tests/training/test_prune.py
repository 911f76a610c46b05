"""Expiry: what is old and rare goes, all else stays, and what went can still be forgotten."""

import random
import time
from pathlib import Path

import pytest
from helpers.textbook import rows_of

from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.training import pruning
from spamnb.training import train as training
from spamnb.training.learn import learn

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
    lines = spamnb("prune", "--dry-run", "--older-than", "0", "--model", own).succeeds().lines
    assert [line.partition(":")[0] for line in lines] == ["tokens", "pairs", "size"]
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
    assert (stored.presences[1], stored.pair_presences[1]) == (0, 0)
    assert learn(model, raw, "spam") == "learned"
    assert known(model, "once") == {"once"}


@pytest.mark.slow
def test_a_year_of_learning_stays_bounded(model, clock):
    """New words every three days; pruned every month, half a year back."""
    draw = random.Random(1)
    offer = "buy cheap pills from our shop and pay less than anybody asks for them today"
    sizes = []
    for day in range(0, 365, 3):
        words = " ".join(f"w{draw.randrange(10**9)}" for _ in range(20))
        label = "spam" if day % 2 else "ham"
        learn(model, message(f"{offer if day % 2 else 'see you'} {words}", label), label)
        clock.sleep(3)
        if day % 30 == 27:
            pruning.prune(model)
            sizes.append(StoredModel.open(model).vocabulary)
    assert max(sizes[6:]) < 1.05 * sizes[6]
    verdict = Model.open(model).classify(message(offer, "spam"))
    assert verdict.label == "spam"
