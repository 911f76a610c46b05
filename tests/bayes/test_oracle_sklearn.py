"""scikit-learn's naive Bayes on the same real mail gives the same numbers, label by label."""

import os
from dataclasses import replace

import numpy as np
import pytest
from helpers.late import Late
from helpers.paths import SPAMASSASSIN

from spamnb.arrays import MISSING
from spamnb.bayes.bulk_classifier import BulkClassifier
from spamnb.bayes.view import View
from spamnb.evaluation.corpus import Corpus
from spamnb.reading.settings import Settings
from spamnb.training.batches import MailToRead
from spamnb.workers.local import LocalPool

sklearn, sparse = Late("sklearn.naive_bayes"), Late("scipy.sparse")
LABELS = ("ham", "hard", "spam")
EACH = 200


@pytest.fixture(scope="module")
def corpus():
    """Some real mail of each of three labels, so that nothing holds for two only."""
    sources = {
        label: [os.path.join(SPAMASSASSIN, f"{name}.mbox.xz")]
        for label, name in zip(LABELS, ("ham", "hard-ham", "spam"), strict=True)
    }
    firsts = [
        next(LocalPool(1).batches(MailToRead({label: paths}, Settings()))) for label, paths in sources.items()
    ]
    return Corpus.of(LABELS, firsts)


@pytest.fixture(scope="module")
def split(corpus):
    """Trained on one half of some messages of each label, judged on the other."""
    some = np.concatenate([np.flatnonzero(corpus.truth == place)[:EACH] for place in range(len(LABELS))])
    training = np.zeros(len(corpus), bool)
    training[some[::2]] = True
    return training, some[1::2]


def matrix(corpus, messages):
    rows = corpus.rows.chosen(messages)
    return sparse.csr_matrix(
        (rows.times.astype(float), rows.places, rows.starts), (len(rows), len(corpus.fingerprints))
    )


def known(corpus, training):
    """The columns of words that training has seen: others are ignored, where scikit-learn cannot."""
    return np.asarray(matrix(corpus, np.flatnonzero(training)).sum(axis=0)).ravel() > 0


EVENTS = [
    ("multinomial", "MultinomialNB", False),
    ("binary", "MultinomialNB", True),
    ("bernoulli", "BernoulliNB", True),
]


@pytest.mark.parametrize(("event", "theirs", "binary"), EVENTS)
@pytest.mark.parametrize("smoothing", [0.01, 1.0])
def test_event_models(corpus, split, event, theirs, binary, smoothing):
    training, testing = split
    seen = known(corpus, training)
    learned, judged = (matrix(corpus, messages)[:, seen] for messages in (np.flatnonzero(training), testing))
    if binary:
        learned, judged = learned.sign(), judged.sign()
    oracle = getattr(sklearn, theirs)(alpha=smoothing).fit(learned, corpus.truth[training])
    view = View(event, smoothing)
    table = corpus.table(training)
    joints = BulkClassifier.of(table, view).joints(corpus.rows.chosen(testing))
    np.testing.assert_allclose(joints, oracle.predict_joint_log_proba(judged), rtol=1e-9)
    assert (joints.argmax(axis=1) == oracle.predict(judged)).all()


@pytest.mark.parametrize("feature", ["size", "capitals", "digits", "links"])
def test_gaussian(corpus, split, feature):
    training, testing = split
    values = corpus.rows.numbers[feature]
    training = training & (values != MISSING)
    testing = testing[values[testing] != MISSING]
    oracle = sklearn.GaussianNB(var_smoothing=0).fit(
        values[training, None].astype(float), corpus.truth[training]
    )
    view = View("gaussian")
    table = corpus.table(training)
    rows = corpus.rows.chosen(testing)
    only = replace(rows, numbers={feature: rows.numbers[feature]})
    joints = BulkClassifier.of(table, view).joints(only)
    np.testing.assert_allclose(
        joints, oracle.predict_joint_log_proba(values[testing, None].astype(float)), rtol=1e-9
    )
