"""Figures and curves of verdicts on labelled messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import has_spam
from spamnb.evaluation.intervals import Estimate, auc_loss, share, without_interval
from spamnb.labels import SPAM, sorted_into

HAM_LOSSES = {"0.1": 1, "0.5": 5, "1.0": 10}  # percent: the same per thousand, for exact division
BIN_COUNT = 15  # ranges of probabilities in which calibration is measured
ROC_POINTS = 2000  # more than the dots of a screen


class Outcome:
    """Verdicts, scores and probabilities of labelled messages; `metrics.py` defines the figures."""

    def __init__(
        self,
        labels: Sequence[str],
        truth: Array,
        verdict: Array,
        score: Array | None,
        probability: Array,
    ) -> None:
        self.messages, label_count = len(truth), len(labels)
        decided = np.where(verdict < 0, label_count, verdict.astype(int))
        cells = truth.astype(int) * (label_count + 1) + decided
        counts = np.bincount(cells, minlength=label_count * (label_count + 1))
        self.counts: Array = counts.reshape(label_count, label_count + 1)  # [truth, verdict]; unsure is last
        self.score, self.is_spam = score, np.zeros(self.messages, bool)
        self.ham = self.spam = self.lost = self.caught = self.unsure_spam = 0  # all 0 without a label "spam"
        self.sorts, self.wrongly_sorted = False, 0
        if SPAM in labels:
            spam = labels.index(SPAM)
            self.is_spam = truth == spam
            self.spam = int(self.counts[spam].sum())
            self.ham = self.messages - self.spam
            self.caught, self.unsure_spam = int(self.counts[spam, spam]), int(self.counts[spam, -1])
            self.lost = int(self.counts[:, spam].sum()) - self.caught
            into = [labels.index(label) for label in sorted_into(labels)]
            others = np.delete(self.counts, spam, axis=0)
            self.sorts = bool(into)
            self.wrongly_sorted = int(others[:, into].sum() - self.counts[into, into].sum())
        self.off = calibration_error(labels, truth, probability) if self.messages else None

    def accuracy(self) -> Estimate | None:
        return share(int(self.counts.trace()), self.messages)

    def ham_lost(self) -> Estimate | None:
        return share(self.lost, self.ham)

    def spam_missed(self) -> Estimate | None:
        return share(self.spam - self.caught - self.unsure_spam, self.spam)

    def misfiled(self) -> Estimate | None:
        """The share of mail other than spam with a wrong verdict; the verdicts ham and spam do not count."""
        return share(self.wrongly_sorted, self.ham) if self.sorts else None

    def left_unsure(self) -> Estimate | None:
        return share(int(self.counts[:, -1].sum()), self.messages)

    def misranked(self) -> Estimate | None:
        """1 - AUC: the share of all pairs of a ham and a spam in which the ham has the higher score."""
        return None if self.score is None else auc_loss(self.is_spam, self.score)

    def spam_missed_at(self, loss: str) -> Estimate | None:
        """The share of spam missed with a single cutoff: the lowest that loses at most `loss` % of ham."""
        if self.score is None or not self.ham or not self.spam:
            return None
        ham = np.sort(self.score[~self.is_spam])[::-1]
        cutoff = ham[self.ham * HAM_LOSSES[loss] // 1000]  # at which one ham too many would be lost
        return without_interval(float((self.score[self.is_spam] <= cutoff).mean()))

    def calibration_error(self) -> Estimate | None:
        return None if self.off is None else without_interval(self.off)


def calibration_error(labels: Sequence[str], truth: Array, probability: Array) -> float:
    """Return the mean difference of forecast and true share over bins of forecasts, weighted by messages."""
    if has_spam(labels):
        spam = labels.index(SPAM)
        forecast, came_true = probability[:, spam], truth == spam
    else:
        forecast, came_true = probability.max(axis=1), truth == probability.argmax(axis=1)
    bins = np.clip((forecast * BIN_COUNT).astype(int), 0, BIN_COUNT - 1)
    return float(np.abs(np.bincount(bins, forecast - came_true, BIN_COUNT)).sum() / len(truth))


def roc(is_spam: Array, score: Array) -> tuple[Array, Array]:
    """Return ham lost and spam missed, in percent, as the cutoff falls from above all scores to below them.

    Points on a straight line are left out; of more than ROC_POINTS, some are chosen, evenly spread on
    logarithmic axes. Without ham or without spam, both arrays are empty.
    """
    levels, level = np.unique(score, return_inverse=True)
    lost = counts_above(level[~is_spam], len(levels))
    missed = is_spam.sum() - counts_above(level[is_spam], len(levels))
    if not lost[-1] or not missed[0]:
        return np.empty(0), np.empty(0)
    unchanged = (np.diff(lost) == 0), (np.diff(missed) == 0)
    between_corners = np.logical_or(*(same[1:] & same[:-1] for same in unchanged))
    corners = np.flatnonzero(np.concatenate(([True], ~between_corners, [True])))
    lost, missed = lost[corners], missed[corners]
    distance = np.log1p(lost) - np.log1p(missed)
    if len(distance) > ROC_POINTS:
        points = np.unique(np.searchsorted(distance, np.linspace(distance[0], distance[-1], ROC_POINTS)))
        lost, missed = lost[points], missed[points]
    return 100 * lost / lost[-1], 100 * missed / missed[0]


def counts_above(level: Array, levels: int) -> Array:
    """Return how many messages are above each cutoff, highest cutoff first; `level`: rank of each score."""
    return np.concatenate(([0], np.cumsum(np.bincount(level, minlength=levels)[::-1])))
