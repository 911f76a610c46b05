"""A model kept in memory judges as the one on disk does, whatever is learned, forgotten or put there."""

import os
import random
import shutil
from pathlib import Path

import pytest
from helpers.tables import counts_of, crowded

from spamnb.model import Model
from spamnb.serve import judge
from spamnb.serve.judge import ReloadingModel, open_in_memory
from spamnb.training.learn import learn
from spamnb.training.train import fold


@pytest.fixture(scope="module")
def messages(mail):
    folders = [Path(folder) for folder in (mail.ham, mail.spam, mail.work)]
    return [path.read_bytes() for folder in folders for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def said(messages):
    """What a model says of all. Neighbours are in no order, so that the last digits of a score may differ."""

    def said(model):
        verdicts = [model.classify(raw) for raw in messages]
        return [
            (
                verdict.label,
                round(verdict.score, 9),
                {item.feature: list(item.row) for item in verdict.evidence},
            )
            for verdict in verdicts
        ]

    return said


def test_the_same_as_from_disk(spamnb, said):
    kept = open_in_memory(spamnb.model)
    assert kept.stored.tokens.in_memory
    assert said(kept) == said(kept) == said(Model.open(spamnb.model))


def test_too_large_for_the_memory(spamnb, said, monkeypatch):
    monkeypatch.setattr(judge, "MOST_COUNT_BYTES", 1000)
    kept = open_in_memory(spamnb.model)
    assert not kept.stored.tokens.in_memory
    assert said(kept) == said(Model.open(spamnb.model))


def test_other_labels(three, said):
    assert said(open_in_memory(three)) == said(Model.open(three))


def test_through_a_life_of_learning(own, spamnb, messages, said):
    """The counts on disk stay the same, and in memory, until they are folded together with the journal."""
    kept, draw = ReloadingModel(own), random.Random(6)
    before = kept.current().stored
    for raw in draw.sample(messages, 30):
        learn(own, raw, draw.choice(["ham", "spam", None]))
        assert said(kept.current()) == said(Model.open(own))
    assert kept.current().stored is not before
    assert kept.current().stored.tokens is before.tokens
    fold(own)
    assert said(kept.current()) == said(Model.open(own))
    assert kept.current().stored.tokens is not before.tokens
    shutil.copy(spamnb.model, own + ".new")
    os.replace(own + ".new", own)
    assert said(kept.current()) == said(Model.open(own))


def test_what_is_held_is_not_read_again(tmp_path):
    """Not even where words made for it lie together."""
    stored, crowd = crowded(tmp_path)
    stored.load()
    os.truncate(stored.path, 0)
    asked = crowd[::99]
    assert stored.rows([*asked, crowd[0] - 1]) == {number: counts_of(number) for number in asked}
