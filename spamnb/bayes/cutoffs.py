"""Choice of cutoffs, and calibration of probabilities.

Both use the scores that training mail gets when each message is left out of the counts it is judged by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb import SPAM
from spamnb.bayes.verdict import Calibration, Cutoffs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array

HAM_LOSS = 0.001  # the share of ham that may be taken for spam
SPAM_LOSS = 0.01  # the share of spam that may be taken for ham before it is called unsure
GAP_SHARE = 0.75  # how far into a gap between ham and spam a cutoff lies, from the mail it must not lose
FEWEST = 5  # messages of each label that cutoffs need; with fewer, chance would decide
IMPORTED = Cutoffs(0.0, 2.5)  # of imported counts, whose mail has no scores (docs/importing.md)


def has_spam(labels: Sequence[str]) -> bool:
    """Tell whether there are two labels, one of them spam, so that cutoffs can tell the two apart."""
    return len(labels) == 2 and SPAM in labels


def spam_scores(labels: Sequence[str], second_against_first: Array) -> Array:
    """Return how far spam is ahead, of two labels of which the second one's lead is given."""
    return second_against_first if labels.index(SPAM) else -second_against_first


def ham_and_spam(labels: Sequence[str], label_indices: Array, scores: Array) -> tuple[Array, Array]:
    """Return the known scores of ham and of spam, sorted: so sums do not depend on the order of messages."""
    if not has_spam(labels):
        return scores[:0], scores[:0]
    taken = ~np.isnan(scores)
    spam = label_indices == labels.index(SPAM)
    return np.sort(scores[taken & ~spam]).astype(float), np.sort(scores[taken & spam]).astype(float)


def cutoffs(ham: Array, spam: Array, ham_loss: float = HAM_LOSS, spam_loss: float = SPAM_LOSS) -> Cutoffs:
    """Choose the lowest spam cutoff that loses no more ham than accepted, the highest ham cutoff likewise."""
    if min(len(ham), len(spam)) < FEWEST:
        return Cutoffs()
    upper = _above(ham, ham_loss, spam)
    lower = -_above(-spam, spam_loss, -ham)
    return Cutoffs(min(lower, upper), upper)


def _above(scores: Array, loss: float, others: Array) -> float:
    """Return a cutoff with no more than the share `loss` of the scores above it, and few of the others below.

    For the spam cutoff `scores` are those of ham, `others` those of spam. The cutoff is set in the gap below
    the first spam that scores higher than the ham that must be kept, three quarters up: a message in a wide
    gap is like neither, so it is unsure. Where there are too few scores to lose even one, the cutoff is not
    below the quantile of a normal distribution with their mean and deviation.
    """
    kept = np.sort(scores)[::-1][int(loss * len(scores))]  # the highest score that must not be lost
    other = others[others > kept].min(initial=np.inf)
    below = scores[scores < other].max()
    cutoff = float(below + GAP_SHARE * (other - below)) if np.isfinite(other) else float(scores.max()) + 1.0
    if loss * len(scores) < 1:
        from statistics import NormalDist  # takes 6 ms to load

        cutoff = max(cutoff, float(scores.mean() + NormalDist().inv_cdf(1 - max(loss, 1e-6)) * scores.std()))
    return cutoff


def calibrated(ham: Array, spam: Array) -> Calibration:
    """Fit a logistic regression of the label on the score (Platt's targets keep it from being too sure)."""
    if not len(ham) or not len(spam):
        return Calibration()
    score = np.concatenate((ham, spam))
    target = np.concatenate(
        (np.full(len(ham), 1 / (len(ham) + 2)), np.full(len(spam), (len(spam) + 1) / (len(spam) + 2)))
    )
    design = np.stack((score, np.ones_like(score)))
    beta = np.zeros(2)
    for _ in range(100):  # Newton's steps; 1e-6 keeps the slope finite where no scores overlap
        p = 1 / (1 + np.exp(-np.clip(beta @ design, -500, 500)))
        gradient = design @ (target - p) - 1e-6 * beta
        curvature = (design * (p * (1 - p))) @ design.T + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        beta = beta + np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-9:
            break
    return Calibration(float(beta[0]), float(beta[1]))
