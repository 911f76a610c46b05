"""Cross-validation gives what separate trainings give; comparisons and mistakes say what they should."""

import os
import random

import numpy as np
import pytest

from spamnb.arrays import Rows, Sets
from spamnb.bayes.view import View
from spamnb.errors import DataError, UsageError
from spamnb.evaluation.candidates import parse_candidate, with_change
from spamnb.evaluation.compare import ComparedCandidate, beats_first, corrected, reason, steps_from
from spamnb.evaluation.corpus import Corpus
from spamnb.evaluation.folds import CrossValidation, Folds, cross_validate
from spamnb.evaluation.mistakes import by_folds, worst_mistakes
from spamnb.evaluation.weak_evidence import weak_evidence
from spamnb.model import DEFAULT_VIEW, Model
from spamnb.reading.settings import Settings
from spamnb.training.batches import MailToRead
from spamnb.training.train import train
from spamnb.workers.local import LocalPool

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
    assigned = Folds(3, seed=7).assign(corpus)
    judged = cross_validate(CrossValidation(corpus, assigned, view))
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


def test_words_that_both_labels_have_are_weak(mail):
    corpus = corpus_of(mail)
    folds = Folds(3, seed=7).assign(corpus) == np.arange(3)[:, None]
    groups = (corpus.truth == np.arange(2)[:, None, None]) & folds
    weak, grams = weak_evidence(corpus.rows, len(corpus.fingerprints), groups, DEFAULT_VIEW)
    words = {*corpus.tokens(np.flatnonzero(weak))}
    assert words.issuperset(BOTH)
    assert words.isdisjoint(f"subject:{word}" for word in HAM + SPAM)
    assert 0 < grams.sum() < len(grams)


def test_folds_are_stratified_and_seeded(mail):
    corpus = corpus_of(mail)
    first, again, other = (Folds(5, seed).assign(corpus) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    for label in (0, 1):
        assert set(np.bincount(first[corpus.truth == label])) == {9}


def test_a_mislabelled_message_is_the_worst_mistake(mail):
    (mail / "ham" / "wrong").write_bytes(b"Subject: casino offer\n\n" + b" ".join(w.encode() for w in SPAM))
    for number in range(45, 200):
        for label in ("ham", "spam"):
            (mail / label / f"{number:03}").write_bytes(text(label, number))
    corpus = corpus_of(mail)
    assigned = Folds(5, 1).assign(corpus)
    judged = cross_validate(CrossValidation(corpus, assigned))
    found = by_folds(judged, CrossValidation(corpus, assigned, DEFAULT_VIEW), Settings(), 5)
    assert os.path.basename(found[0].path) == "wrong"
    assert (found[0].subject, found[0].truth, found[0].verdict) == ("casino offer", "ham", "spam")
    assert all(weight > 0 for _, weight in found[0].evidence)
    assert worst_mistakes(judged, 0) == []


class TestCandidates:
    def test_a_textbook_and_the_default(self):
        textbook = parse_candidate("event=bernoulli,smoothing=0.1,ngrams=2")
        assert textbook.view.as_map() == View("bernoulli", 0.1).as_map()
        assert textbook.settings == {"ngrams": 2}
        changed = parse_candidate("smoothing=0.1,word-pairs=no")
        assert changed.view.as_map() == DEFAULT_VIEW.as_map() | {"smoothing": 0.1, "pairs": False}

    @pytest.mark.parametrize(
        "text", ["nonsense", "event=cauchy", "smoothing=x", "word-pairs=maybe", "ngrams=9", ""]
    )
    def test_what_is_no_setting(self, text):
        with pytest.raises(UsageError):
            parse_candidate(text)

    def test_a_change_back_to_the_default_is_the_default(self):
        changed = with_change(parse_candidate("default"), "damping=8")
        assert changed.name == "damping=8"
        assert with_change(changed, "damping=4").name == "default"
        assert parse_candidate("default").name in {one.name for one in steps_from(changed)}


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


@pytest.mark.parametrize(
    ("name", "won", "lost", "verdicts_p", "ranking_p", "words"),
    [
        ("default", 0, 0, None, None, "none of 7 others ranks this mail better"),
        (
            "damping=8",
            9,
            3,
            0.1,
            0.2,
            "of 7 others damping=8 ranks this mail best, but that may be chance (p 0.2,",
        ),
        ("damping=8", 9, 3, 0.1, 0.04, "better than the default, beyond chance (p 0.04,"),
        ("damping=8", 3, 40, 0.001, 0.04, "but judges 40 messages worse and 3 better"),
    ],
)
def test_why_settings_are_chosen(name, won, lost, verdicts_p, ranking_p, words):
    best = ComparedCandidate(parse_candidate(name), {}, won, 0, lost, verdicts_p, ranking_p)
    assert words in reason(best, 7)


def test_a_word_too_often_to_be_counted():
    """65,535 times a message, as often as reading counts it."""

    def corpus(size):
        ones = np.ones(size, np.uint8)
        rows = Rows(np.arange(size + 1), ones * 0, ones * np.uint16(65_535), ones, {}, Sets.empty(size))
        names: list = [("", None)] * size
        return Corpus(("ham", "spam"), ones * 0, names, np.empty(0), [], rows, np.zeros(1, np.uint64), [], [])

    whole = corpus(32_768)
    assert whole.table(np.ones(32_768, bool)).occurrence_counts.max() == 32_768 * 65_535
    with pytest.raises(DataError, match="evaluate less"):
        corpus(32_769)
