"""scikit-learn's naive Bayes on the same real mail gives the same numbers, label by label."""

import lzma
import os
from itertools import islice

import numpy as np
import pytest
from helpers.late import Late
from helpers.paths import SPAMASSASSIN
from helpers.textbook import table_of

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.view import View
from spamnb.core.native import FeatureSet, Mailbox, Tokenizer, read
from spamnb.reading.settings import Settings

sklearn, sparse = Late("sklearn.naive_bayes"), Late("scipy.sparse")
LABELS = ("ham", "hard", "spam")
FILES = ("ham", "hard-ham", "spam")
EACH = 200


@pytest.fixture(scope="module")
def mail():
    """Some real mail of each of three labels, so that nothing holds for two only: (label index, features)."""
    found, tokenizer = [], Tokenizer(Settings())
    for label, name in enumerate(FILES):
        with lzma.open(os.path.join(SPAMASSASSIN, f"{name}.mbox.xz")) as file:
            raws = islice(Mailbox([file.read()]), EACH)
            found += [(label, tokenizer.features(read(raw))) for raw in raws]
    return found


def classified(learned, judged, view):
    """The log-joints of messages by others."""
    table = table_of([(LABELS[label], own) for label, own in learned], LABELS)
    classifier = Classifier(table, view)
    return np.array([classifier.score(own).joint for _, own in judged])


def labels_of(mail):
    return [label for label, _ in mail]


def matrix(mail, columns):
    """How often each message has each word; words without a column are ignored, which scikit-learn cannot."""
    cells = [
        (row, columns[word], times)
        for row, (_, own) in enumerate(mail)
        for word, times, _ in own.tokens
        if word in columns
    ]
    rows, places, times = zip(*cells, strict=True)
    return sparse.csr_matrix((np.array(times, float), (rows, places)), (len(mail), len(columns)))


EVENTS = [
    ("multinomial", "MultinomialNB", False),
    ("binary", "MultinomialNB", True),
    ("bernoulli", "BernoulliNB", True),
]


@pytest.mark.parametrize(("event", "theirs", "binary"), EVENTS)
@pytest.mark.parametrize("smoothing", [0.01, 1.0])
def test_event_models(mail, event, theirs, binary, smoothing):
    learned, judged = mail[::2], mail[1::2]
    words = dict.fromkeys(word for _, own in learned for word, _, _ in own.tokens)
    columns = {word: column for column, word in enumerate(words)}
    trained, tested = matrix(learned, columns), matrix(judged, columns)
    if binary:
        trained, tested = trained.sign(), tested.sign()
    oracle = getattr(sklearn, theirs)(alpha=smoothing).fit(trained, labels_of(learned))
    joints = classified(learned, judged, View(event, smoothing))
    np.testing.assert_allclose(joints, oracle.predict_joint_log_proba(tested), rtol=1e-9)
    assert (joints.argmax(axis=1) == oracle.predict(tested)).all()


@pytest.mark.parametrize("feature", ["size", "capitals", "digits", "links"])
def test_gaussian(mail, feature):
    with_feature = [
        (label, FeatureSet.of([], {feature: own.numbers[feature]}))
        for label, own in mail
        if feature in own.numbers
    ]
    learned, judged = with_feature[::2], with_feature[1::2]
    trained, tested = ([[float(own.numbers[feature])] for _, own in half] for half in (learned, judged))
    oracle = sklearn.GaussianNB(var_smoothing=0).fit(trained, labels_of(learned))
    joints = classified(learned, judged, View("gaussian"))
    np.testing.assert_allclose(joints, oracle.predict_joint_log_proba(tested), rtol=1e-9)
