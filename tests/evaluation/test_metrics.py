"""The figures of an evaluation: against scikit-learn, by hand, and at the edges."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb, erfc, isclose, log, sqrt

import numpy as np
import pytest
from helpers.generated import examples_times
from helpers.late import Late
from hypothesis import given
from hypothesis import strategies as st

from spamnb.evaluation import intervals
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.outcome import HAM_LOSSES, roc

oracle = Late("sklearn.metrics")
HAM_SPAM = ("ham", "spam")
MAX_FLOAT = 1.7976931348623157e308


def close(a, b):
    return isclose(a, b, rel_tol=0, abs_tol=1e-9)


def known(figure):
    assert figure is not None
    return figure


def mail(random, messages, many=2, unsure=0.1):
    """Labelled messages: truth, verdict, score with ties and extremes, probabilities with some 0 and 1."""
    truth = random.integers(0, many, messages)
    verdict = np.where(random.random(messages) < 0.7, truth, random.integers(0, many, messages))
    verdict = np.where(random.random(messages) < unsure, -1, verdict)
    score = np.round(random.normal(truth * 1.5, 1), 1)
    score[random.random(messages) < 0.03] = MAX_FLOAT
    score[random.random(messages) < 0.03] = -MAX_FLOAT
    probability = random.dirichlet(np.full(many, 0.3), messages)
    certain = random.random(messages) < 0.05
    probability[certain] = np.eye(many)[random.integers(0, many, certain.sum())]
    return truth, verdict, score, probability


def ranked(score):
    """Scores that scikit-learn can take: it overflows on the largest."""
    return np.unique(score, return_inverse=True)[1]


def plain(words):
    """Messages by hand: "hs" is a ham decided as spam, "s?" a spam that is unsure."""
    place = {"h": 0, "s": 1, "?": -1}
    truth, verdict = np.array([[place[letter] for letter in word] for word in words.split()]).T
    probability = np.full((len(truth), 2), 0.5)
    return measure(HAM_SPAM, truth, verdict, None, probability)


def figures(tree, path=()):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from figures(value, (*path, name))
        else:
            yield (*path, name), value


# Against scikit-learn


@pytest.mark.parametrize("many", [2, 3, 5])
@pytest.mark.parametrize("messages", [12, 1100])
def test_verdict_figures_are_those_of_scikit_learn(many, messages):
    labels = ("ham", "spam", "list", "news", "bills")[:many]
    for seed in range(3):
        truth, verdict, score, probability = mail(np.random.default_rng(seed), messages, many)
        found = measure(labels, truth, verdict, score, probability)
        every = oracle.precision_recall_fscore_support(truth, verdict, labels=range(many), zero_division=0)
        for name, *expected, support in zip(labels, *every, strict=True):
            of_label = found["labels"][name]
            for key, value in zip(("precision", "recall", "f1"), expected, strict=True):
                assert close(of_label[key] or 0, value)
            assert of_label["support"] == support
        present = sorted({*truth.tolist(), *verdict.tolist()} - {-1})
        average = oracle.precision_recall_fscore_support(
            truth, verdict, labels=present, average="macro", zero_division=0
        )
        for key, value in zip(("precision", "recall", "f1"), average, strict=False):
            assert close(found["macro"][key], value)
        assert close(found["accuracy"], oracle.accuracy_score(truth, verdict))
        table = oracle.confusion_matrix(truth, verdict, labels=[*range(many), -1])[:many]
        assert [list(row.values()) for row in found["confusion"].values()] == table.tolist()


@pytest.mark.parametrize("messages", [12, 3100])
def test_score_and_probability_figures_are_those_of_scikit_learn(messages):
    for seed in range(3):
        truth, verdict, score, probability = mail(np.random.default_rng(seed), messages)
        found = measure(HAM_SPAM, truth, verdict, score, probability)
        assert close(found["one_minus_auc_percent"], 100 - 100 * oracle.roc_auc_score(truth, ranked(score)))
        lost, caught, _ = oracle.roc_curve(truth, ranked(score), drop_intermediate=False)
        for name, value in found["spam_missed_at_ham_lost"].items():
            assert close(value, 100 * min(1 - caught[lost * 100 <= float(name) + 1e-9]))


@pytest.mark.parametrize("labels", [("ham", "list", "spam"), ("spam", "ham", "list"), ("a", "b", "c")])
def test_more_than_two_labels(labels):
    truth, verdict, score, probability = mail(np.random.default_rng(4), 400, 3)
    found = measure(labels, truth, verdict, score, probability)
    if "spam" not in labels:
        assert found["one_minus_auc_percent"] is found["ham_lost_percent"] is None
        assert set(found["spam_missed_at_ham_lost"].values()) == {None}
        return
    # Every message that is not spam is ham.
    place = labels.index("spam")
    spam = truth == place
    assert close(found["one_minus_auc_percent"], 100 - 100 * oracle.roc_auc_score(spam, ranked(score)))
    assert close(found["ham_lost_percent"], 100 * (verdict[~spam] == place).mean())
    assert close(found["spam_missed_percent"], 100 * ((verdict[spam] != place) & (verdict[spam] >= 0)).mean())


# By hand


def test_a_table_by_hand():
    found = plain("hh " * 6 + "hs h? h? " + "ss " * 3 + "sh sh s?")
    assert (found["messages"], found["accuracy"]) == (15, 9 / 15)
    assert found["ham_lost_percent"] == pytest.approx(100 / 9)
    assert found["spam_missed_percent"] == pytest.approx(200 / 6)
    assert found["unsure"] == {"ham": 2, "spam": 1}
    assert found["unsure_percent"] == 20


def test_unsure_spam_counts_against_recall_and_f1_but_is_not_missed():
    sure, unsure = plain("ss ss ss ss hh hs"), plain("ss ss s? s? hh hs")
    assert unsure["spam_missed_percent"] == sure["spam_missed_percent"] == 0
    assert unsure["labels"]["spam"]["recall"] == 0.5 < sure["labels"]["spam"]["recall"]
    assert unsure["labels"]["spam"]["f1"] < sure["labels"]["spam"]["f1"]
    assert unsure["accuracy"] == 0.5 < sure["accuracy"]


@pytest.mark.parametrize(
    ("ham", "spam", "missed"),  # scores; percent of spam missed at 0.1, 0.5 and 1 % ham loss
    [
        ([1, 2, 3], [4, 5], [0, 0, 0]),
        ([1, 2, 3], [3, 5], [50, 50, 50]),  # a spam that ties with the highest ham is missed
        ([5] * 3, [5] * 4, [100, 100, 100]),
        ([0] * 199 + [9], [8, 8, 9, 10], [75, 0, 0]),  # one of 200 ham is 0.5 %
        ([0] * 198 + [9, 9], [8, 8, 9, 10], [75, 75, 0]),  # two that tie are lost together
        ([0] * 999 + [9], [8], [0, 0, 0]),  # one of 1,000 is exactly 0.1 %
        ([0] * 998 + [9], [8], [100, 0, 0]),
        ([-MAX_FLOAT, MAX_FLOAT], [MAX_FLOAT, -MAX_FLOAT], [100, 100, 100]),
    ],
)
def test_spam_missed_at_a_ham_loss(ham, spam, missed):
    truth = np.repeat([0, 1], [len(ham), len(spam)])
    score = np.array([*ham, *spam], float)
    found = measure(HAM_SPAM, truth, truth, score, np.full((len(truth), 2), 0.5))
    assert found["spam_missed_at_ham_lost"] == dict(zip(HAM_LOSSES, missed, strict=True))


def test_calibration_by_hand():
    spam = np.array([0.0, 0.03, 0.5, 0.5, 0.5, 1.0])
    truth = np.array([0, 1, 0, 1, 1, 1])
    probability = np.stack([1 - spam, spam], axis=1)
    error = measure(HAM_SPAM, truth, truth, None, probability)["expected_calibration_error"]
    assert error == pytest.approx((2 * 0.485 + 3 * (2 / 3 - 0.5)) / 6)


# Edges


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only(label):
    truth = np.full(20, label)
    score = np.arange(20.0)
    found = measure(HAM_SPAM, truth, truth, score, np.full((20, 2), 0.5))
    json.dumps(found, allow_nan=False)
    there, other = HAM_SPAM[label], HAM_SPAM[1 - label]
    assert found["labels"][there] == {"precision": 1, "recall": 1, "f1": 1, "support": 20}
    assert found["labels"][other] == {"precision": None, "recall": None, "f1": None, "support": 0}
    assert found["macro"] == {"precision": 1, "recall": 1, "f1": 1}
    assert found["one_minus_auc_percent"] is None
    assert set(found["spam_missed_at_ham_lost"].values()) == {None}
    assert (found["ham_lost_percent"], found["spam_missed_percent"]) == ((0, None), (None, 0))[label]


IMBALANCE = (
    "{} % of the messages are {}: a filter that always says {} would be right as often, so accuracy says "
    "little. Look at ham lost and spam missed."
)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("hh " * 83 + "ss " * 17, IMBALANCE.format(83, "ham", "ham")),
        ("ss " * 3 + "hh", IMBALANCE.format(75, "spam", "spam")),
        ("hh", "All messages are ham: the figures say nothing about other mail."),
    ],
)
def test_imbalance(words, sentence):
    assert plain(words)["imbalance"] == sentence


# Intervals


@examples_times(0.6)
@given(st.integers(0, 2**32), st.integers(1, 80), st.integers(1, 4))
def test_intervals_hold_their_estimate_within_what_is_possible(seed, messages, many):
    truth, verdict, score, probability = mail(np.random.default_rng(seed), messages, many)
    labels = ("spam", "ham", "list", "news")[:many]
    found = measure(labels, truth, verdict, score, probability)
    json.dumps(found, allow_nan=False)
    values = dict(figures(found))
    for path, interval in figures(found["intervals"]):
        if values[path] is None:
            assert interval is None
        elif interval:
            top = 100 if path[0].endswith("percent") else 1
            assert 0 <= interval[0] <= values[path] <= interval[1] <= top * (1 + 1e-12), path


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),  # the examples of Newcombe, Statistics in Medicine 17 (1998), table I
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson(count, total, low, high):
    found = known(intervals.share(count, total))
    assert found[1:] == pytest.approx((low, high), abs=6e-5)
    assert known(intervals.share(total - count, total))[:0:-1] == pytest.approx((1 - low, 1 - high), abs=6e-5)
    for bound in found[1:]:  # as far from the share as the bound itself would lead one to expect
        assert (count / total - bound) ** 2 == pytest.approx(
            1.959963984540054**2 * bound * (1 - bound) / total
        )


def test_a_filter_without_mistakes_is_not_certain():
    truth = np.repeat([0, 1], 10)
    found = measure(HAM_SPAM, truth, truth, truth * 2.0, np.eye(2)[truth])["intervals"]
    assert found["macro"]["f1"][0] < 0.9
    assert found["labels"]["spam"]["f1"][0] < 0.9
    assert found["one_minus_auc_percent"][1] == pytest.approx(100 * known(intervals.share(0, 10)).high)


def brute_components(ham, spam):
    """DeLong's structural components, from every pair."""
    wrong = [[1.0 if h > s else 0.5 if h == s else 0.0 for h in ham] for s in spam]
    return np.mean(wrong, axis=1), np.mean(wrong, axis=0)


def test_delong_against_every_pair():
    for seed in range(20):
        random = np.random.default_rng(seed)
        ham, spam = random.integers(0, 9, 17).astype(float), random.integers(3, 14, 12).astype(float)
        truth = np.repeat([False, True], [17, 12])
        score = np.array([*ham, *spam])
        order = random.permutation(29)
        of_spam, of_ham = brute_components(ham, spam)
        variance = of_spam.var(ddof=1) / 12 + of_ham.var(ddof=1) / 17
        loss = of_spam.mean()
        found = known(intervals.auc_loss(truth[order], score[order]))
        assert close(found.value, loss)
        assert close(found.value, 1 - oracle.roc_auc_score(truth, score))
        reach = 1.959963984540054 * sqrt(variance) / (loss * (1 - loss))
        for bound, side in ((found.low, -1), (found.high, 1)):
            assert close(log(bound / (1 - bound)), log(loss / (1 - loss)) + side * reach)


def covered(draw, truth, trials=400):
    return sum(low <= truth <= high for _, low, high in (draw() for _ in range(trials))) / trials


def test_intervals_cover_the_truth_nineteen_times_in_twenty():
    random = np.random.default_rng(11)
    is_spam = np.repeat([False, True], [150, 60])
    loss = erfc(2 / sqrt(2) / sqrt(2)) / 2  # of normal scores two deviations apart
    auc = covered(lambda: intervals.auc_loss(is_spam, random.normal(is_spam * 2.0)), loss)
    f1 = covered(lambda: intervals.f1(*random.multinomial(120, [0.8, 0.12, 0.08])), 1.6 / 1.8)
    assert min(auc, f1) > 0.92
    assert max(auc, f1) < 0.99


# Comparing two filters


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (5, 5), (0, 6), (12, 3), (3, 12), (40, 71)])
def test_mcnemar_is_exact(won, lost):
    throws = won + lost
    tail = sum(Fraction(comb(throws, i), 2**throws) for i in range(min(won, lost) + 1))
    assert intervals.mcnemar_exact_p(won, lost) == pytest.approx(float(min(1, 2 * tail)), rel=1e-12)


def test_verdicts_won_tied_and_lost():
    truth = np.array([0, 0, 0, 1, 1, 1, 1])
    a = np.array([0, 0, -1, 1, 1, 1, 0])
    b = np.array([0, 1, -1, 0, -1, 1, 1])
    assert intervals.compare_verdicts(truth, a, b) == (3, 3, 1, 2 * 5 / 16)


def test_paired_delong_against_the_covariance_of_every_pair():
    for seed in range(10):
        random = np.random.default_rng(seed)
        is_spam = np.repeat([False, True], [25, 20])
        a = random.integers(0, 8, 45) + 3.0 * is_spam
        b = a + random.integers(-3, 4, 45)
        spam = np.stack([brute_components(s[~is_spam], s[is_spam])[0] for s in (a, b)])
        ham = np.stack([brute_components(s[~is_spam], s[is_spam])[1] for s in (a, b)])
        covariance = np.cov(spam) / 20 + np.cov(ham) / 25
        error = sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
        difference = spam[0].mean() - spam[1].mean()
        assert close(intervals.compare_auc(is_spam, a, b), erfc(abs(difference / error) / sqrt(2)))


# The curve


def test_roc_by_hand():
    is_spam = np.array([False, False, False, False, True, True, True, True])
    score = np.array([1, 2, 3, 6, 3, 6, 7, 8.0])
    lost, missed = roc(is_spam, score)
    # above all; 8 and 7 alone are spam; 6 ties; 3 ties; then only ham
    assert lost.tolist() == [0, 0, 25, 50, 100]
    assert missed.tolist() == [100, 50, 25, 0, 0]
