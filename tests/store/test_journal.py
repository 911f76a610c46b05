"""The journal: what was acknowledged stays, what was torn is dropped, what is stale is ignored."""

import shutil
import tempfile
from pathlib import Path

import msgpack
import pytest
from helpers.learning import fold, journal_of

from spamnb.store.journal import Journal, sealed
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn

MAIL = [
    b"Subject: lunch\n\nsee you at noon\n",
    b"Subject: money\n\nbuy now now\n",
    b"Subject: tea\n\nsee you at five\n",
]


def records(path):
    """The journal as the msgpack library reads it."""
    with open(path + ".journal", "rb") as file:
        return [msgpack.unpackb(packed) for _, packed in msgpack.Unpacker(file)]


def test_learned_and_forgotten_then_folded_it_is_the_model_of_before(model):
    """Its generation is then the old one; should the journal survive a crash, it must add nothing."""
    before = Path(model).read_bytes()
    learn(model, MAIL[0], "ham")
    learn(model, MAIL[0], None)
    journal = journal_of(model).read_bytes()
    fold(model)
    assert Path(model).read_bytes() == before
    journal_of(model).write_bytes(journal)
    stored = StoredModel.open(model)
    assert (stored.messages, stored.vocabulary, stored.histogram()) == ([0, 0], 0, {})


# Of other models


def said(path):
    """Of each record its model, and what became of the message."""
    return [(record["model"], record["before"], record["after"]) for record in records(path)]


def learned(path, *mail):
    """The records that learning some messages gives, as they are packed."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        for raw, label in mail:
            learn(copy, raw, label)
        return [sealed(record) for record in records(copy)]


def of_another(record):
    """The same, of another model."""
    return sealed({**unsealed(record), "model": 5})


@pytest.mark.parametrize("older", [False, True])
def test_learning_goes_on_beside_the_records_of_another_model(model, older):
    """Those of one that never came are dropped: it may still come, and with less to add.

    Those of an older one are there if the tidying up after a new model was stopped.
    """
    generation = StoredModel.open(model).generation
    one, two, _ = learned(model, *((raw, "ham") for raw in MAIL))
    journal_of(model).write_bytes(of_another(one) + two if older else one + of_another(two))
    assert learn(model, MAIL[2 if older else 1], "spam") == "learned"
    own = [(generation, None, "ham"), (generation, None, "spam")]
    assert said(model) == [(5, None, "ham")] * older + own
    assert len(Journal(["ham", "spam"], 5, journal_of(model).read_bytes()).records) == older
    assert StoredModel.open(model).messages == [1, 1]
    fold(model)
    assert StoredModel.open(model).messages == [1, 1]
    assert not journal_of(model).exists()


def unsealed(record):
    return msgpack.unpackb(msgpack.unpackb(record)[1])
