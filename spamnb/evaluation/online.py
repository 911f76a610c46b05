"""The TREC spam track's protocol: each message in turn is judged by what was learned before, then learned.

What is learned is a matter of the protocol:

- immediate: every message, as soon as it is judged;
- delayed: the first messages only, as if nobody had labelled mail since;
- on-error: a message judged wrong or unsure, or right by less than a margin.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING, Rows
from spamnb.bayes.classifier import Likelihood
from spamnb.bayes.cutoffs import calibrated, cutoffs, ham_and_spam, has_spam
from spamnb.bayes.scoring import LogCounts, joints, weights_of
from spamnb.bayes.verdict import SPAM, Calibration, Cutoffs, Score, verdict_of
from spamnb.bayes.view import GLOBAL
from spamnb.evaluation.intervals import auc_loss
from spamnb.evaluation.results import CurvePoint, judged
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.dates import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Verdict
    from spamnb.bayes.view import View
    from spamnb.evaluation.corpus import Corpus
    from spamnb.evaluation.results import Judged

PROTOCOLS = ("immediate", "delayed", "on-error")
FIRST = 1000  # messages labelled under the delayed protocol
GROWTH = 1.1  # cutoffs are taken anew when the scores they rest on are this many times as many
# Scores that cutoffs rest on: those by a filter that had learned less tell of another filter. With all of
# them 24 % of the later spam in spamassassin was unsure, with the last 2,000 7 %; ham lost 0.00 and 0.08 %.
LATEST = 2000
POINTS = 100  # of the learning curve
RECENT = 200  # messages that its recent error is taken over


def in_time_order(corpus: Corpus) -> Array:
    """The numbers of the messages by Date, and by the order of reading where that is the same.

    A message without a date stays behind the one of its label read before it, or else before the next. A
    label without any date is spread evenly over the time of the others.
    """
    dates = np.array([np.nan if (when := timestamp(date)) is None else when for date in corpus.dates])
    known = dates[~np.isnan(dates)]
    start, end = (known.min(), known.max()) if len(known) else (0, 1)
    for place in range(len(corpus.labels)):
        mine = np.flatnonzero(corpus.truth == place)
        dated = ~np.isnan(dates[mine])
        if dated.any():
            before = np.maximum(0, np.cumsum(dated) - 1)
            dates[mine] = dates[mine][dated][before]
        else:
            dates[mine] = np.linspace(start, end, len(mine))
    return np.argsort(dates, kind="stable")


def in_index_order(corpus: Corpus, index: Sequence[tuple[str, str]]) -> Array:
    """The numbers of the messages in the order of an index; those of an mbox in it stay together."""
    places = {path: place for place, (_, path) in enumerate(index)}
    keys = [0]
    for path, _ in corpus.names:
        keys.append(places.get(path, keys[-1]))  # a Maildir's file was renamed meanwhile: where it was read
    return np.argsort(keys[1:], kind="stable")


def online(
    corpus: Corpus,
    order: Iterable[int],
    *,
    view: View | None = None,
    protocol: str = "immediate",
    first: int = FIRST,
    margin: float = 0.0,
) -> tuple[Judged, list[CurvePoint]]:
    """The verdicts in the order given, and how good they were in the course of it.

    `first` is for the delayed protocol, `margin` for on-error: in nats beyond the score that decides.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"no such protocol: {protocol}")
    labels, truth = corpus.labels, corpus.truth.tolist()
    chosen = view or DEFAULT_VIEW
    counts, rule = LearnedSoFar(corpus, chosen), Rule(labels, chosen)
    seen: list[int] = []
    verdicts: list[Verdict] = []
    for message in map(int, order):
        score = Score(labels, counts.joint(message), [])
        verdict = verdict_of(score, rule.cutoffs, rule.calibration)
        if protocol == "on-error":
            label = labels[truth[message]]
            learned = verdict.label != label or rule.lead(score, verdict, label) < margin
        else:
            learned = protocol == "immediate" or len(seen) < first
        if learned or protocol == "on-error":  # who corrects the wrong verdicts has confirmed the others
            rule.note(truth[message], verdict.score)
        if learned:
            counts.learn(message)
        seen.append(message)
        verdicts.append(verdict)
    names = [corpus.names[message] for message in seen]
    found = judged(labels, corpus.truth[seen], verdicts, names, corpus.unreadable)
    return replace(found, cutoffs=rule.pair), curve(found)


class LearnedSoFar:
    """The counts of what was learned so far, changed in place: a message costs what it has tokens."""

    def __init__(self, corpus: Corpus, view: View) -> None:
        self.labels = corpus.labels
        self.truth = corpus.truth.tolist()
        self.corpus_rows = corpus.rows if view.pairs else corpus.rows.only(corpus.rows.times > 0)
        self.view = view
        many, size = len(self.labels), len(corpus.fingerprints)
        # Token by token: taking a message's rows out of these needs a third of the time of columns.
        self.message_counts = np.zeros((size, many), np.int32)
        self.occurrence_counts = np.zeros((size, many), np.int32)
        self.messages = [0] * many
        self.presences = [0] * many
        self.occurrences = [0] * many
        self.vocabulary = 0
        self.pair_presences = [0] * many
        self.pair_vocabulary = 0
        self.numbers: dict[str, list[list[int | float]]] = {
            name: [[0, 0, 0] for _ in range(many)] for name in (corpus.rows.numbers if view.numbers else ())
        }
        self.alike: dict[tuple[int, ...], int] = {}  # kept up for global statistics only
        self.words_by_count: list[dict[tuple[int, int], int]] = [{} for _ in self.labels]
        self.log_counts = LogCounts(Likelihood(self, view))

    def histogram(self) -> dict[tuple[int, ...], int]:
        return self.alike

    def joint(self, message: int) -> list[float]:
        """The log-joint of each label."""
        row = self._row(message)
        is_global = self.view.smoothing == GLOBAL
        likelihood = Likelihood(self, self.view, None if is_global else self.words_by_count)
        message_counts, occurrence_counts = (
            own.take(row.places, axis=0).T for own in (self.message_counts, self.occurrence_counts)
        )
        counts = (
            np.concatenate((message_counts, occurrence_counts))
            if self.view.event == "multinomial"
            else message_counts
        )
        weights = weights_of(likelihood, counts, self.log_counts)
        joint: list[float] = joints(likelihood, row, weights, counts)[0].tolist()
        return joint

    def learn(self, message: int) -> None:
        label, row = self.truth[message], self._row(message)
        places, words = row.places, row.times > 0
        before = self.message_counts.take(places, axis=0)
        self.message_counts[places, label] += 1
        self.occurrence_counts[places, label] += row.times
        new, word_count = ~before.any(axis=1), int(words.sum())
        self.vocabulary += int((new & words).sum())
        self.pair_vocabulary += int((new & ~words).sum())
        self.messages[label] += 1
        self.presences[label] += word_count
        self.pair_presences[label] += len(places) - word_count
        self.occurrences[label] += int(row.times.sum())
        for name, sums in self.numbers.items():
            value = int(row.numbers[name][0])
            if value != MISSING:
                own = sums[label]
                own[:] = own[0] + 1, own[1] + value, own[2] + value * value
        if self.view.event == "bernoulli" and self.view.smoothing == GLOBAL:
            self._note_rows(before, label)
        elif self.view.event == "bernoulli":
            self._note_counts(before[:, label], label, int(new.sum()))

    def _note_counts(self, before: Array, label: int, new: int) -> None:
        """Keep up how many words have so many messages of a label; new ones had none and were not known."""
        for alike in self.words_by_count:
            alike[0, 0] = alike.get((0, 0), 0) + new
        alike = self.words_by_count[label]
        counts, many = np.unique(before, return_counts=True)
        for count, words in zip(counts.tolist(), many.tolist(), strict=True):
            alike[count, 0] -= words
            alike[count + 1, 0] = alike.get((count + 1, 0), 0) + words
        for key in [key for key, words in alike.items() if not words]:
            del alike[key]

    def _note_rows(self, before: Array, label: int) -> None:
        """Keep up how many words share the same messages per label."""
        for row in before.tolist():
            old = tuple(row)
            row[label] += 1
            new = tuple(row)
            self.alike[new] = self.alike.get(new, 0) + 1
            if any(old):
                self.alike[old] -= 1
                if not self.alike[old]:
                    del self.alike[old]

    def _row(self, message: int) -> Rows:
        """One message; Rows.chosen would do as well, in four times the time."""
        rows = self.corpus_rows
        start, end = rows.starts[message], rows.starts[message + 1]
        return Rows(
            np.array([0, end - start]),
            rows.places[start:end],
            rows.times[start:end],
            rows.parts[start:end],
            {name: rows.numbers[name][message : message + 1] for name in self.numbers},
        )


class Rule:
    """What decides on a score: cutoffs and calibration from the scores of before, set as training does.

    Each score was taken before its message was learned, so none needs to be left out again. A textbook's
    view has neither, nor have labels other than ham and spam: there the likeliest label wins.
    """

    def __init__(self, labels: tuple[str, ...], view: View) -> None:
        self.labels = labels
        by_score = view.has_cutoffs and has_spam(labels)
        self.cutoffs = Cutoffs() if by_score else None
        self.calibration = Calibration() if by_score else None
        self.truth: list[int] = []
        self.scores: list[float] = []
        self.due = 1.0  # scores

    def note(self, truth: int, score: float) -> None:
        if self.cutoffs is None:
            return
        self.truth.append(truth)
        self.scores.append(score)
        if len(self.scores) >= self.due:
            self.due = GROWTH * len(self.scores)
            told, scores = np.array(self.truth[-LATEST:]), np.array(self.scores[-LATEST:])
            ham, spam = ham_and_spam(self.labels, told, scores)
            self.cutoffs, self.calibration = cutoffs(ham, spam), calibrated(ham, spam)

    def lead(self, score: Score, verdict: Verdict, label: str) -> float:
        """How far a score is beyond the one that decides for a label."""
        if self.cutoffs is None:
            return score.of(label)
        return verdict.score - self.cutoffs.spam if label == SPAM else self.cutoffs.ham - verdict.score

    @property
    def pair(self) -> tuple[float, float] | None:
        if self.cutoffs is None or not isfinite(self.cutoffs.spam):
            return None
        return self.cutoffs.ham, self.cutoffs.spam


def curve(found: Judged) -> list[CurvePoint]:
    """The figures up to some messages, evenly spread; None where there is nothing to take them of."""
    messages = len(found.truth)
    spam = found.labels.index(SPAM) if SPAM in found.labels else None
    is_spam, called_spam = found.truth == spam, found.verdict == spam
    unsure = found.verdict < 0
    errors = np.concatenate(([0], np.cumsum(found.verdict != found.truth)))
    points = []
    for end in np.unique(np.linspace(messages / POINTS, messages, POINTS).round().astype(int)).tolist():
        if not end:
            continue
        loss = lost = missed = None
        if spam is not None:
            estimate = auc_loss(is_spam[:end], found.score[:end])
            loss = 100 * estimate.value if estimate else None
            lost = _percent(called_spam[:end], ~is_spam[:end])
            missed = _percent(~called_spam[:end] & ~unsure[:end], is_spam[:end])
        start = max(0, end - RECENT)
        recent = 100 * float(errors[end] - errors[start]) / (end - start)
        points.append(CurvePoint(end, loss, lost, missed, recent))
    return points


def _percent(those: Array, among: Array) -> float | None:
    total = int(among.sum())
    return 100 * int((those & among).sum()) / total if total else None
