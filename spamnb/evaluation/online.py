"""`spamnb evaluate --online`: judge each message, then learn it, as in the TREC spam track."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.cutoffs import calibrated, cutoffs, has_spam, margin, score_scale
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.verdict import Calibration, Cutoffs, verdict_of
from spamnb.core.native import FeatureScorer
from spamnb.evaluation.intervals import auc_loss
from spamnb.evaluation.results import CurvePoint, JudgedMessages
from spamnb.evaluation.scores import row_scores
from spamnb.labels import SPAM
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.dates import timestamp

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Verdict
    from spamnb.bayes.view import View
    from spamnb.evaluation.corpus import Corpus

GROWTH = 1.1  # cutoffs are chosen again when there are a tenth more scores
# Cutoffs are chosen from this share of the scores, the latest: when less was learned, scores were different.
LATEST, MIN_SCORES = 0.5, 50  # of each label
CURVE_POINTS = 100
RECENT = 200  # messages, up to a point of the curve, on which its recent error is measured


def in_time_order(corpus: Corpus) -> Array:
    """Return the indices of the messages, sorted by date; with equal dates, in the order of reading.

    A message without a date gets that of the last message before it with the same label and a date, or else
    of the first one after it. If a label has no dates, its messages are spread evenly over the time of all.
    """
    dates = np.array([np.nan if (when := timestamp(date)) is None else when for date in corpus.rows.dates])
    known = dates[~np.isnan(dates)]
    start, end = (known.min(), known.max()) if len(known) else (0, 1)
    for label_index in range(len(corpus.labels)):
        messages = np.flatnonzero(corpus.truth == label_index)
        dated = ~np.isnan(dates[messages])
        if dated.any():
            before = np.maximum(0, np.cumsum(dated) - 1)
            dates[messages] = dates[messages][dated][before]
        else:
            dates[messages] = np.linspace(start, end, len(messages))
    return np.argsort(dates, kind="stable")


def judge_online(
    corpus: Corpus, order: Array, view: View | None = None
) -> tuple[JudgedMessages, list[CurvePoint]]:
    """Judge messages in this order, and learn each afterwards; return the verdicts and a learning curve.

    The corpus must be made with `is_counted` False, so that its table is empty: the messages are added here.
    """
    labels, view = corpus.labels, view or DEFAULT_VIEW
    truth, rule = corpus.truth[order], DecisionRule(labels, view)
    scorer = FeatureScorer(Likelihood(corpus.table, view), corpus.table)
    verdicts: list[Verdict] = []
    for score, label_index in zip(row_scores(scorer, corpus.rows, order, truth), truth.tolist(), strict=True):
        verdict = verdict_of(score, rule.cutoffs, rule.calibration)
        rule.note(label_index, verdict.score, score.lead_among_others(labels[label_index]))
        verdicts.append(verdict)
    names = [corpus.names[message] for message in order.tolist()]
    judged = JudgedMessages.of(labels, truth, verdicts, names, corpus.unreadable, rule.cutoff_pair)
    return judged, learning_curve(judged)


class DecisionRule:
    """Cutoffs and calibration for the next message, chosen from the scores of the messages before it.

    As in training, no score contains the message's own counts: each was scored before it was learned. With a
    textbook's view, or without a label "spam", there are no cutoffs: the most probable label is chosen.
    """

    def __init__(self, labels: tuple[str, ...], view: View) -> None:
        self.labels = labels
        by_score = view.has_cutoffs and has_spam(labels)
        self.cutoffs = Cutoffs() if by_score else None
        self.scale = score_scale(view) if by_score else 0.0
        self.calibration = Calibration() if by_score else None
        self.scores: tuple[list[float], list[float]] = [], []  # of other mail, and of spam
        self.leads: list[float] = []  # of mail other than spam: how far its label was ahead
        self.due = 1.0  # the number of scores at which cutoffs are chosen next

    def note(self, truth: int, score: float, lead: float) -> None:
        """Add a message's label, score and lead of that label; after many new ones, choose cutoffs again."""
        if self.cutoffs is None:
            return
        self.scores[self.labels[truth] == SPAM].append(score)
        if lead == lead:
            self.leads.append(lead)
        count = sum(map(len, self.scores))
        if count >= self.due:
            self.due = GROWTH * count
            (ham, early_ham), (spam, early_spam) = map(latest, self.scores)
            self.cutoffs = cutoffs(ham, spam, unscored=(early_ham, early_spam), scale=self.scale)
            self.cutoffs.margin = margin(latest(self.leads)[0], len(self.leads), self.scale)
            self.calibration = calibrated(ham, spam)

    @property
    def cutoff_pair(self) -> tuple[float, float] | None:
        if self.cutoffs is None or not isfinite(self.cutoffs.spam):
            return None
        return self.cutoffs.ham, self.cutoffs.spam


def latest(scores: list[float]) -> tuple[list[float], int]:
    """Return the latest half of the scores (50 at least), sorted, and how many earlier scores there are."""
    count = max(MIN_SCORES, round(LATEST * len(scores)))
    return sorted(scores[-count:]), len(scores[:-count])


def learning_curve(judged: JudgedMessages) -> list[CurvePoint]:
    """Return figures of the first 1 %, 2 %, … of the messages; None for a figure that cannot be measured."""
    messages = len(judged.truth)
    spam = judged.labels.index(SPAM) if SPAM in judged.labels else None
    is_spam, called_spam = judged.truth == spam, judged.verdict == spam
    unsure = judged.verdict < 0
    errors = np.concatenate(([0], np.cumsum(judged.verdict != judged.truth)))
    points = []
    for end in np.unique(
        np.linspace(messages / CURVE_POINTS, messages, CURVE_POINTS).round().astype(int)
    ).tolist():
        if not end:
            continue
        loss = lost = missed = None
        if spam is not None:
            estimate = auc_loss(is_spam[:end], judged.score[:end])
            loss = 100 * estimate.value if estimate else None
            lost = _percent(called_spam[:end], ~is_spam[:end])
            missed = _percent(~called_spam[:end] & ~unsure[:end], is_spam[:end])
        start = max(0, end - RECENT)
        recent = 100 * float(errors[end] - errors[start]) / (end - start)
        points.append(CurvePoint(end, loss, lost, missed, recent))
    return points


def _percent(chosen: Array, among: Array) -> float | None:
    total = int(among.sum())
    return 100 * int((chosen & among).sum()) / total if total else None
