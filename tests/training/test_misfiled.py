"""Misfiled mail: its share is found, and counts are read without it."""

import random
from pathlib import Path

import numpy as np
import pytest
from helpers.mailboxes import written

from spamnb import train
from spamnb.core.native import read
from spamnb.in_memory import load_into_memory
from spamnb.model import Model

EACH = 200
WORDS = {
    label: [f"{label}{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)] for label in ("ham", "spam")
}


def made_up(label, number):
    draw = random.Random(f"{label} {number}")
    text = " ".join(draw.sample(WORDS[label], 12))
    return f"Subject: {draw.choice(WORDS[label])}\n\n{text} {number}\n".encode()


def trained(tmp_path, share, others=("ham",)):
    """A model of so many messages of each label, a share of spam and the first other filed as each other."""
    filed = {label: [made_up("ham", f"{label}{n}") for n in range(EACH)] for label in others}
    filed["spam"] = [made_up("spam", n) for n in range(EACH)]
    moved, ham, spam = round(share * EACH), filed[others[0]], filed["spam"]
    ham[:moved], spam[:moved] = spam[:moved], ham[:moved]
    path, boxes = str(tmp_path / f"{share}.msgpack"), {}
    for label, own in filed.items():
        boxes[label] = [str(tmp_path / f"{share}{label}.mbox")]
        Path(boxes[label][0]).write_bytes(written(own))
    train(path, boxes)
    return Model.open(path)


def verdicts(model, label):
    return [model.classify(made_up(label, f"new {number}")).label for number in range(100)]


def test_nearly_as_much_spam_is_caught_and_nothing_is_corrected_without_misfiled_mail(tmp_path):
    model, right = trained(tmp_path, 0.05), trained(tmp_path, 0)
    assert right.stored.head["misfiled"] == [0, 0]
    assert not right.classifier.is_corrected
    assert model.stored.head["misfiled"] == pytest.approx([0.05 / 0.95] * 2, abs=0.03)
    assert verdicts(model, "spam").count("spam") >= 0.9 * verdicts(right, "spam").count("spam")
    assert "spam" not in verdicts(model, "ham")


def test_a_model_in_memory_and_one_of_more_labels_score_alike(tmp_path):
    (tmp_path / "more").mkdir()
    two, more = trained(tmp_path, 0.05), trained(tmp_path / "more", 0.05, ("ham", "work"))
    assert two.classifier.is_corrected
    assert more.classifier.is_corrected
    for label in ("ham", "spam"):
        raw = made_up(label, "new")
        assert load_into_memory(two).verdict(two.features(read(raw))).score == two.classify(raw).score
        assert np.sign(more.classify(raw).score) == np.sign(two.classify(raw).score)
