"""Where numbers of C end: sums are exact, counts are as they are, and what has no room is an error."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from helpers.simple_table import SimpleTable
from helpers.tables import saved

from spamnb.arrays import Texts
from spamnb.bayes.classifier import Classifier
from spamnb.bayes.view import View
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable

EDGES = [0, 1, *(2**bits + more for bits in (7, 8, 15, 16, 31, 32, 63) for more in (-1, 0, 1)), 2**64 - 1]


@pytest.mark.parametrize("highest", [2**16 - 1, 2**32 - 1, 2**40])
def test_counts_in_a_file(highest, tmp_path):
    fingerprints = np.array(sorted(set(EDGES)), np.uint64)
    size = len(fingerprints)
    counts = np.array([np.full(size, highest), np.arange(size)])
    texts, days = Texts.of([b"w%d" % n for n in range(size)]), np.ones(size, np.uint16)
    columns = fingerprints, texts, counts, counts, days, days
    path = str(tmp_path / "model")
    saved(path, CountTable(("ham", "spam"), (highest, highest), {}, *columns), settings={}, view={})
    rows = StoredModel.open(path).rows(fingerprints.tolist())
    assert rows == {number: (highest, n) * 2 for n, number in enumerate(fingerprints.tolist())}


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
    table, tokens = SimpleTable(labels), [(number, times, 0) for number in range(many)]
    table.learn(labels[0], tokens)
    for label in labels[1:]:
        table.learn(label, [(many, 1, 0)])
    view = View(smoothing=5e-324, **chosen)  # the weights are as large as they get
    classifier = Classifier(table, view)
    score = classifier.score(tokens)
    units = int(classifier.weights(table.rows([0])[0])[1] * 2**40)
    assert abs(many * times * units) > 2**63
    total = many * int(float(times * units)) / 2**40
    assert score.joint[1] == (total / many if view.damping is not None else total - log(len(labels)))
