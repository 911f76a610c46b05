"""A model kept in memory judges as the one on disk does, whatever is learned, forgotten or put there."""

import os
import random
import shutil
from pathlib import Path

import pytest

from spamnb.core.native import CountTable, FileCounts, read
from spamnb.model import Model
from spamnb.serve import open_models
from spamnb.serve.open_models import SharedModel
from spamnb.training.learn import learn
from spamnb.training.train import fold


@pytest.fixture(scope="module")
def messages(mail):
    folders = [Path(folder) for folder in (mail.ham, mail.spam, mail.work)]
    return [path.read_bytes() for folder in folders for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def said(messages):
    """What a model says of all, and by what evidence."""

    def said(model):
        verdicts = [model.classify(raw) for raw in messages]
        assert [model.verdict(model.features(read(raw))).as_map() for raw in messages] == [
            verdict.as_map() for verdict in verdicts
        ]
        return [
            (verdict.as_map(), {item.feature: list(item.row) for item in verdict.evidence})
            for verdict in verdicts
        ]

    return said


def test_the_same_as_from_disk(spamnb, three, said, monkeypatch):
    """Also with other labels, and where it is too large for the memory."""
    kept = SharedModel(spamnb.model).current()
    assert isinstance(kept.counts, CountTable)
    assert said(kept) == said(kept) == said(Model.open(spamnb.model))
    assert said(SharedModel(three).current()) == said(Model.open(three))
    monkeypatch.setattr(open_models, "MAX_ENTRY_BYTES", 1000)
    large = SharedModel(spamnb.model).current()
    assert isinstance(large.counts, FileCounts)
    assert said(large) == said(kept)


def test_through_a_life_of_learning(own, spamnb, messages, said):
    """The counts on disk stay the same, and in memory, until they are folded together with the journal."""
    kept, draw = SharedModel(own), random.Random(6)
    before, (tables,) = kept.current(), kept.tables.values()
    for raw in draw.sample(messages, 8):
        learn(own, raw, draw.choice(["ham", "spam", None]))
        assert said(kept.current()) == said(Model.open(own))
    assert kept.current() is not before
    assert [*kept.tables.values()] == [tables]
    fold(own)
    assert said(kept.current()) == said(Model.open(own))
    assert tables not in kept.tables.values()
    shutil.copy(spamnb.model, own + ".new")
    os.replace(own + ".new", own)
    assert said(kept.current()) == said(Model.open(own))
