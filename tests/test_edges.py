"""Where numbers of C end: sums are exact, counts are as they are, and what has no room is an error."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from helpers.tables import saved

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.view import View
from spamnb.core.native import CountTable, FeatureSet, MessageRows
from spamnb.store.stored_model import StoredModel

EDGES = [0, 1, *(2**bits + more for bits in (7, 8, 15, 16, 31, 32, 63) for more in (-1, 0, 1)), 2**64 - 1]


@pytest.mark.parametrize("highest", [2**8 - 1, 2**8, 2**16 - 1, 2**16, 2**31 - 1])
def test_counts_in_a_file(highest, tmp_path):
    rows = {number: (highest, n) for n, number in enumerate(sorted(set(EDGES)))}
    table = CountTable(("ham", "spam"))
    for number, row in rows.items():
        table.add_word(number, b"w%d" % number, list(row), 1)
    model = StoredModel.open(saved(tmp_path / "model", table))
    assert model.counts.lookup(EDGES) == {number: row * 2 for number, row in rows.items()}
    assert CountTable.of_file(table.labels, model.file_counts).lookup(EDGES) == model.counts.lookup(EDGES)


@pytest.mark.parametrize("labels", [("ham", "spam"), ("a", "b", "c")])
@pytest.mark.parametrize(
    ("many", "times", "chosen"),
    [
        (20_000, 1, {"event": "binary", "damping": 0.0}),
        (20_000, 1, {"event": "binary", "damping": None, "prior": "uniform"}),
        (3, 2**30, {"event": "multinomial", "damping": None, "prior": "uniform"}),
    ],
    ids=["mean", "sum", "times"],
)
def test_sums(labels, many, times, chosen):
    """A message of words that only the first label has: more than 63 bits hold, and still exact."""
    only_first, other = [(number, 1, 0) for number in range(many)], [(many, 1, 0)]
    mail = [FeatureSet.of(tokens) for tokens in (only_first, *[other] * (len(labels) - 1))]
    table = CountTable(labels)
    table.add(MessageRows.of(mail), np.arange(len(labels)), np.arange(len(labels)), 0)
    view = View(smoothing=5e-324, **chosen)  # the weights are as large as they get
    classifier = Classifier(table, view)
    score = classifier.score(FeatureSet.of([(number, times, 0) for number in range(many)]))
    units = int(classifier.weights(table.lookup([0])[0])[1] * 2**40)
    assert abs(many * times * units) > 2**63
    total = many * int(float(times * units)) / 2**40
    assert score.joint[1] == (total / many if view.damping is not None else total - log(len(labels)))
