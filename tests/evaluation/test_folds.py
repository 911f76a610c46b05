"""Cross-validation gives what separate trainings give; comparisons and mistakes say what they should."""

import os
import random

import numpy as np
import pytest

from spamnb.bayes.view import View
from spamnb.evaluation.candidates import parse_candidate
from spamnb.evaluation.compare import ComparedCandidate, beats_first, corrected
from spamnb.evaluation.corpus import Corpus
from spamnb.evaluation.folds import CrossValidation, assign_folds
from spamnb.model import DEFAULT_VIEW, Model
from spamnb.reading.settings import Settings
from spamnb.training.batches import MailToRead
from spamnb.training.train import train
from spamnb.workers import LocalPool

HAM = "lunch meeting report tomorrow patch kernel compile thanks list archive agenda minutes".split()
SPAM = "money viagra cheap offer click winner casino pills free credit loan order".split()
BOTH = "the a of and to in is you that it for on are with as".split()


def text(label, seed):
    draw = random.Random(f"{label}{seed}")
    own = HAM if label == "ham" else SPAM
    words = draw.choices(own, k=12) + draw.choices(BOTH, k=15) + draw.choices(HAM + SPAM, k=4)
    draw.shuffle(words)
    return f"Subject: {' '.join(draw.choices(own, k=3))}\n\n{' '.join(words)} {seed}\n".encode()


@pytest.fixture
def mail(tmp_path):
    for label in ("ham", "spam"):
        os.makedirs(tmp_path / label)
        for number in range(45):
            (tmp_path / label / f"{number:03}").write_bytes(text(label, number))
    return tmp_path


def corpus_of(mail, settings=None):
    sources = {label: [str(mail / label)] for label in ("ham", "spam")}
    return Corpus.of(list(sources), LocalPool(1).batches(MailToRead(sources, settings or Settings())))


@pytest.mark.parametrize("view", [DEFAULT_VIEW, View("multinomial", 1), View("bernoulli", 0.5)])
def test_folds_are_separate_trainings(mail, view):
    """Every score, probability and verdict is that of a model trained on the other folds alone."""
    corpus = corpus_of(mail)
    assigned = assign_folds(corpus, 3, seed=7)
    judged = CrossValidation(corpus, assigned, view).judge()
    for fold in range(3):
        others = [corpus.names[n][0] for n in np.flatnonzero(assigned != fold)]
        path = str(mail / f"model{fold}")
        sources = {label: [own for own in others if f"/{label}/" in own] for label in ("ham", "spam")}
        train(path, sources, view=view, pool=LocalPool(1))
        model = Model.open(path)
        for message in np.flatnonzero(assigned == fold):
            with open(corpus.names[message][0], "rb") as file:
                verdict = model.classify(file.read())
            assert judged.score[message] == pytest.approx(verdict.score, rel=1e-9)
            assert judged.probability[message, 1] == pytest.approx(verdict.probabilities["spam"], rel=1e-6)
            place = judged.verdict[message]
            assert (judged.labels[place] if place >= 0 else "unsure") == verdict.label


def test_folds_are_stratified_and_seeded(mail):
    corpus = corpus_of(mail)
    first, again, other = (assign_folds(corpus, 5, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    for label in (0, 1):
        assert set(np.bincount(first[corpus.truth == label])) == {9}


@pytest.mark.parametrize(
    ("won", "lost", "verdicts_p", "ranking_p", "beats"),
    [
        (0, 0, None, None, False),  # the first itself
        (9, 3, 0.1, 0.2, False),
        (9, 3, 0.1, 0.04, True),
        (40, 3, 0.001, 0.2, False),
        (40, 3, 0.001, 0.04, True),
        (3, 40, 0.001, 0.2, False),
        (3, 40, 0.001, 0.04, False),  # ranks better, but leaves more unsure
        (9, 3, 0.01, None, False),
    ],
)
def test_the_first_is_beaten_beyond_chance(won, lost, verdicts_p, ranking_p, beats):
    candidate = parse_candidate("damping=8")
    assert beats_first(ComparedCandidate(candidate, {}, won, 0, lost, verdicts_p, ranking_p)) == beats


def test_chances_are_corrected_for_how_many_were_tried():
    """By Holm's method, all of both kinds: the least of four counts fourfold, the next threefold …"""
    chances = [(None, None), (0.01, 0.04), (0.03, 0.005)]
    tried = [ComparedCandidate(parse_candidate("damping=8"), {}, 9, 0, 3, *each) for each in chances]
    found = [(result.verdicts_p, result.ranking_p) for result in corrected(tried)]
    assert found[0] == (None, None)
    assert found[1:] == [pytest.approx((0.03, 0.06)), pytest.approx((0.06, 0.02))]
