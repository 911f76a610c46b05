"""Uncertainty of figures: 95 % intervals, and tests of whether a difference could be chance.

All come from formulas: resampling would give the interval [1, 1] for ten messages without a mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, erfc, exp, isnan, log, nan, sqrt
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array

Z = 1.959963984540054  # the normal distribution has 95 % within this many deviations


class Estimate(NamedTuple):
    """A figure and its 95 % interval, whose ends are NaN if the interval is unknown."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> list[float] | None:
        return None if isnan(self.low) else [self.low, self.high]

    def scaled(self, factor: float) -> Estimate:
        return Estimate(*(factor * number for number in self))


ZERO_OF_ZERO = Estimate(0.0, 0.0, 1.0)  # what 0 of 0 counts in a mean


def without_interval(value: float) -> Estimate:
    """Return a figure whose interval is unknown."""
    return Estimate(value, nan, nan)


def bounded(value: float, low: float, high: float) -> Estimate:
    """Return `value`, a proportion, with its interval changed to contain `value` and to lie in [0, 1]."""
    return Estimate(value, max(0.0, min(low, value)), min(1.0, max(high, value)))


def share(count: float, total: int) -> Estimate | None:
    """Estimate the proportion `count` / `total`, with Wilson's interval."""
    if not total:
        return None
    value = count / total
    scale = 1 + Z * Z / total
    middle = (value + Z * Z / (2 * total)) / scale
    reach = Z * sqrt(value * (1 - value) / total + Z * Z / (4 * total * total)) / scale
    return bounded(value, middle - reach, middle + reach)


def f1(right: int, missed: int, wrong: int) -> Estimate | None:
    """Estimate F1 = 2s / (1 + s), with Wilson's interval of s = right / (right + missed + wrong)."""
    found = share(right, right + missed + wrong)
    return Estimate(*(2 * s / (1 + s) for s in found)) if found else None


def macro(estimates: Sequence[Estimate], touched: float = 1) -> Estimate | None:
    """Return the mean of all labels' estimates; `touched`: how many of these one wrong verdict changes."""
    if not estimates:
        return None
    count = len(estimates)
    value = sum(each.value for each in estimates) / count
    below = sqrt(touched * sum((each.value - each.low) ** 2 for each in estimates)) / count
    above = sqrt(touched * sum((each.high - each.value) ** 2 for each in estimates)) / count
    return bounded(value, value - below, value + above)


def logit(share: float) -> float:
    return log(share / (1 - share))


def logistic(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -700 else 0.0  # exp(710) overflows


def misplaced_shares(is_spam: Array, score: Array) -> tuple[Array, Array]:
    """Return the share of ham that scores above each spam, and the share of spam that scores below each ham.

    Equal scores count half.
    """
    ham, spam = score[~is_spam], score[is_spam]
    below = ranks(np.sort(ham), spam)
    above = 2 * len(spam) - ranks(np.sort(spam), ham)
    return (2 * len(ham) - below) / (2 * len(ham)), (2 * len(spam) - above) / (2 * len(spam))


def ranks(ordered: Array, values: Array) -> Array:
    """Return for each of `values`: 2 · how many of `ordered` are lower, plus how many are equal."""
    ranks: Array = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return ranks


def variance_of_means(*columns: Array) -> float:
    """Return the variance of mean(a) + mean(b) + … for independent columns a, b, …"""
    return sum(float(np.var(column, ddof=1)) / len(column) for column in columns)


def auc_loss(is_spam: Array, score: Array) -> Estimate | None:
    """Estimate 1 - AUC: how often a ham scores above a spam. The interval is DeLong's, on the logit scale."""
    spam, ham = (
        misplaced_shares(is_spam, score) if 0 < is_spam.sum() < len(is_spam) else (score[:0], score[:0])
    )
    fewer = min(len(ham), len(spam))
    if not fewer:
        return None
    value = float(spam.mean())
    variance = variance_of_means(spam, ham) if fewer > 1 else 0.0
    if not variance or not 0 < value < 1:
        # Without variance, as when all are ranked right: `fewer` pairs of a ham and a spam are independent
        # trials, each in the wrong order with probability 1 - AUC.
        return share(value * fewer, fewer)
    reach = Z * sqrt(variance) / (value * (1 - value))
    return bounded(value, logistic(logit(value) - reach), logistic(logit(value) + reach))


def compare_verdicts(truth: Array, verdict_a: Array, verdict_b: Array) -> tuple[int, int, int, float]:
    """Compare the verdicts of A and B on the same messages; unsure is never right.

    Return how many messages only A has right (won), both or neither (tied), only B (lost); and how probable
    it is that won and lost differ at least so much if A and B are equally good.
    """
    right_a, right_b = verdict_a == truth, verdict_b == truth
    won, lost = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    return won, len(truth) - won - lost, lost, mcnemar_exact_p(won, lost)


def mcnemar_exact_p(won: int, lost: int) -> float:
    """Return the probability that won + lost throws of a coin are so uneven, or more (McNemar's test)."""
    throws, fewer = won + lost, min(won, lost)
    term = comb(throws, fewer) / (1 << throws)
    tail = 0.0
    for heads in range(fewer, -1, -1):
        tail += term
        term *= heads / (throws - heads + 1)
    return min(1.0, 2 * tail)


def holm(chances: Sequence[float]) -> list[float]:
    """Correct p-values by Holm's method: all tests together then find a false difference as rarely as one."""
    corrected, highest = [0.0] * len(chances), 0.0
    for rank, at in enumerate(np.argsort(chances, kind="stable").tolist()):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[at]))
        corrected[at] = highest
    return corrected


def compare_auc(is_spam: Array, score_a: Array, score_b: Array) -> float | None:
    """Compare rankings by DeLong's paired test; return how probable so large a difference is by chance.

    Return None with fewer than two ham or spam, or for a difference without variance; 1 for no difference.
    """
    if not 2 <= is_spam.sum() <= len(is_spam) - 2:
        return None
    pairs = zip(misplaced_shares(is_spam, score_a), misplaced_shares(is_spam, score_b), strict=True)
    spam, ham = (a - b for a, b in pairs)
    difference = float(spam.mean())
    error = sqrt(variance_of_means(spam, ham))
    if not error:
        return None if difference else 1.0
    return erfc(abs(difference) / error / sqrt(2))
