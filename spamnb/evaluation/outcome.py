"""What a filter made of labelled messages, counted and resampled, and the figures that come of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spamnb.arrays import Array
from spamnb.evaluation.curves import calibration_error
from spamnb.evaluation.intervals import (
    Estimate,
    at_cutoff,
    auc_loss,
    percentiles,
    resampled,
    share,
)
from spamnb.labels import SPAM, sorted_into

HAM_LOSSES = {"0.1": 1, "0.5": 5, "1.0": 10}  # percent: ham in a thousand, a whole number to divide exactly
LEAST_PROBABILITY = np.finfo(float).eps  # 2.2e-16: the log loss takes none for less
RESAMPLED = ("log_loss", "brier", *HAM_LOSSES)


class Outcome:
    """Verdicts, scores and probabilities on labelled messages; `metrics.py` has the definitions."""

    def __init__(
        self,
        labels: Sequence[str],
        truth: Array,
        verdict: Array,
        score: Array | None,
        probability: Array,
        resamples: int,
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
        values, drawn = np.full(len(RESAMPLED), np.nan), np.empty((0, len(RESAMPLED)))
        self.off = np.nan  # how far probabilities are from what came true
        if self.messages:
            self.off = calibration_error(labels, truth, probability)
            each = EachMessage(labels, truth, self.is_spam, score, probability)
            values = each.figures(np.ones(self.messages, int))
            drawn = resampled(each.figures, self.messages, resamples).reshape(resamples, len(RESAMPLED))
        self.values: dict[str, float] = dict(zip(RESAMPLED, values.tolist(), strict=True))
        self.drawn: dict[str, Array] = dict(zip(RESAMPLED, drawn.T, strict=True))  # of each resample

    def accuracy(self) -> Estimate | None:
        return share(int(self.counts.trace()), self.messages)

    def ham_lost(self) -> Estimate | None:
        return share(self.lost, self.ham)

    def spam_missed(self) -> Estimate | None:
        return share(self.spam - self.caught - self.unsure_spam, self.spam)

    def misfiled(self) -> Estimate | None:
        """Share of the mail but spam that was sorted under a wrong label; to be called ham is no such one."""
        return share(self.wrongly_sorted, self.ham) if self.sorts else None

    def left_unsure(self) -> Estimate | None:
        return share(int(self.counts[:, -1].sum()), self.messages)

    def misranked(self) -> Estimate | None:
        """1 - AUC: the share of pairs of a ham and a spam that are ranked the wrong way round."""
        return None if self.score is None else auc_loss(self.is_spam, self.score)

    def spam_missed_at(self, loss: str) -> Estimate | None:
        """Spam missed if the cutoff were set to lose so much ham."""
        return at_cutoff(self.values[loss], self.drawn[loss], self.spam)

    def log_loss(self) -> Estimate | None:
        return percentiles(self.values["log_loss"], self.drawn["log_loss"])

    def brier(self) -> Estimate | None:
        return percentiles(self.values["brier"], self.drawn["brier"])

    def calibration_error(self) -> Estimate | None:
        return percentiles(self.off, np.empty(0))


class EachMessage:
    """Figures that need every message, each counted once, or as often as a resample drew it."""

    def __init__(
        self, labels: Sequence[str], truth: Array, is_spam: Array, score: Array | None, probability: Array
    ) -> None:
        chosen = probability[np.arange(len(truth)), truth]
        squares = (probability - (truth[:, None] == np.arange(len(labels)))) ** 2
        spam = labels.index(SPAM) if SPAM in labels else -1
        self.losses = np.stack(
            [
                -np.log(np.clip(chosen, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)),
                squares[:, spam] if len(labels) == 2 else squares.sum(axis=1),
            ]
        )
        # The indices of ham and of spam, highest score first, and the spam above each ham.
        self.ham = self.spam = self.spam_above = np.empty(0, int)
        if score is not None:
            order = np.argsort(score)
            self.ham, self.spam = order[~is_spam[order]][::-1], order[is_spam[order]][::-1]
            not_above = np.searchsorted(score[self.spam[::-1]], score[self.ham], "right")
            self.spam_above = len(self.spam) - not_above

    def figures(self, times: Array) -> Array:
        """The figures named in RESAMPLED."""
        means = self.losses @ times.astype(float)
        return np.concatenate((means / len(times), self.missed(times)))

    def missed(self, times: Array) -> Array:
        """The share of spam missed at each ham loss; NaN without ham or spam."""
        lost, caught = np.cumsum(times[self.ham]), np.concatenate(([0], np.cumsum(times[self.spam])))
        if not len(lost) or not lost[-1] or not caught[-1]:
            return np.full(len(HAM_LOSSES), np.nan)
        allowed = lost[-1] * np.array([*HAM_LOSSES.values()]) // 1000
        one_too_many = np.searchsorted(lost, allowed, "right")
        share_missed: Array = (caught[-1] - caught[self.spam_above[one_too_many]]) / caught[-1]
        return share_missed
