"""What is read out of a whole model: its tokens in blocks, and made-up mail."""

from math import sqrt
from pathlib import Path

import pytest
from helpers.textbook import rows_of

from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.view import View
from spamnb.inspection.model_summary import advice
from spamnb.inspection.samples import draw_messages
from spamnb.inspection.words import words_of
from spamnb.model import Model
from spamnb.training.learn import learn

LATER = b"Subject: zebra\n\nplugh viagra xyzzy\n"


@pytest.fixture(params=["file", "journal"])
def model(request, own, mail):
    """A model, with and without a journal: one that adds, moves and takes away."""
    if request.param == "journal":
        learn(own, LATER, "spam")
        learn(own, b"Subject: quux\n\nplugh casino\n", "ham")
        learn(own, Path(mail.ham, "03").read_bytes(), None)
        learn(own, Path(mail.ham, "04").read_bytes(), "spam")
    return Model.open(own)


def test_advice(spamnb):
    stored = Model.open(spamnb.model).stored
    stored.messages[:] = [9000, 300]
    said = advice(stored, 1000)
    assert said[0] == "30 times as many ham as spam: more spam would help"
    assert said[1].startswith("nothing was learned for")
    assert advice(stored, 0) == said[:1]


def test_drawn_tokens_converge_to_the_models_probabilities(model):
    """The seed is fixed: what holds once holds always. The bound is some standard deviations wide."""
    for place, label in enumerate(model.labels):
        counts, total = dict[str, int](), 0
        for one in draw_messages(model, label, 1000, 7):
            total += one.length
            for token, times in one.tokens.items():
                counts[token] = counts.get(token, 0) + times
        expected = probabilities(model, place)
        assert set(counts) <= set(expected)
        assert sum(expected.values()) == pytest.approx(1)
        often = {token: p for token, p in expected.items() if p * total >= 5}
        chi = sum((counts.get(token, 0) - p * total) ** 2 / (p * total) for token, p in often.items())
        assert abs(chi - len(often)) < 5 * sqrt(2 * len(often))


def probabilities(model, place):
    likelihood = Likelihood(model.stored, View("multinomial", model.view.smoothing))
    texts = [words.text(n) for words in words_of(model.stored) for n in range(len(words.fingerprints))]
    return {text: likelihood.probabilities(row)[place] for text, row in rows_of(model.stored, texts).items()}
