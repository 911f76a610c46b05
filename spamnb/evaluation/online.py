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

from spamnb.bayes.classifier import Score
from spamnb.bayes.scoring import MISSING, BulkClassifier, Rows, Table, probabilities
from spamnb.bayes.verdict import SPAM, Calibration, Cutoffs, decided
from spamnb.evaluation.intervals import auc_loss
from spamnb.evaluation.results import CurvePoint, judged
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.dates import timestamp
from spamnb.training.calibration import calibrated, cutoffs, ham_and_spam, has_spam

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.verdict import Verdict
    from spamnb.bayes.view import View
    from spamnb.evaluation.corpus import Corpus
    from spamnb.evaluation.results import Judged
    from spamnb.tables.count_table import Array

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
    counts, rule = Running(corpus, chosen), Rule(labels, chosen)
    seen: list[int] = []
    verdicts: list[Verdict] = []
    for message in map(int, order):
        score = Score(labels, counts.joint(message), [])
        verdict = decided(score, rule.cutoffs, rule.calibration)
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


class Running:
    """The counts of what was learned so far, changed in place: a message costs what it has tokens."""

    def __init__(self, corpus: Corpus, view: View) -> None:
        many, size = len(corpus.labels), len(corpus.hashes)
        self.labels = corpus.labels
        self.truth = corpus.truth.tolist()
        self.rows = corpus.rows if view.pairs else words_of(corpus.rows)
        self.view = view
        # Token by token: taking a message's rows out of these needs a third of the time of columns.
        self.containing = np.zeros((size, many), np.int32)
        self.occurring = np.zeros((size, many), np.int32)
        self.messages = np.zeros((many, 1))
        self.presences = np.zeros((many, 1))
        self.occurrences = np.zeros((many, 1))
        self.vocabulary = 0
        self.sums: dict[str, list[list[int | float]]] = {
            name: [[0, 0, 0] for _ in range(many)] for name in (corpus.rows.numbers if view.numbers else ())
        }
        self.alike = Alike(many, size) if view.event == "bernoulli" else None

    def joint(self, message: int) -> list[float]:
        """The log-joint of each label, by the table of the message's own tokens and the totals of all."""
        row = self._row(message)
        places = row.places
        table = Table(
            np.ascontiguousarray(self.containing.take(places, axis=0).T),
            np.ascontiguousarray(self.occurring.take(places, axis=0).T),
            self.messages,
            self.presences,
            self.occurrences,
            self.vocabulary,
            self.sums,
        )
        classifier = BulkClassifier(self.labels, self.view, table)
        if self.alike:
            absent, certain = self.alike.absent(self.view, table, places)
            classifier.background = classifier.background + absent
            classifier.background_zeros = classifier.background_zeros + certain
        alone = replace(row, places=np.arange(len(places)))
        joint: list[float] = classifier.joints(alone if self.vocabulary else alone.emptied())[0].tolist()
        return joint

    def learn(self, message: int) -> None:
        label, row = self.truth[message], self._row(message)
        places = row.places
        self.vocabulary += len(places) - int(self.containing.take(places, axis=0).any(axis=1).sum())
        self.containing[places, label] += 1
        self.occurring[places, label] += row.times
        self.messages[label] += 1
        self.presences[label] += len(places)
        self.occurrences[label] += row.times.sum()
        for name, sums in self.sums.items():
            value = int(row.numbers[name][0])
            if value != MISSING:
                own = sums[label]
                own[:] = own[0] + 1, own[1] + value, own[2] + value * value
        if self.alike:
            self.alike.learn(places, label)

    def _row(self, message: int) -> Rows:
        """One message; Rows.chosen would do as well, in four times the time."""
        rows = self.rows
        start, end = rows.starts[message], rows.starts[message + 1]
        return Rows(
            np.array([0, end - start]),
            rows.places[start:end],
            rows.times[start:end],
            rows.parts[start:end],
            {name: rows.numbers[name][message : message + 1] for name in self.sums},
        )


def words_of(rows: Rows) -> Rows:
    """The messages without their pairs of neighbours, which the textbooks' views do not know."""
    words = rows.times > 0
    starts = np.concatenate(([0], np.cumsum(words)))[rows.starts]
    return Rows(starts, rows.places[words], rows.times[words], rows.parts[words], rows.numbers)


class Alike:
    """How many tokens share the same messages per label: Bernoulli's absent words cost what there are kinds.

    A token is of kind 0 before it is known, and of another after each message that contains it. Kinds that
    no token is of any more make room: of 410,000 there ever were in spamassassin, 4,100 are left.
    """

    def __init__(self, many: int, size: int) -> None:
        self.kind = np.zeros(size, np.int32)  # of each token
        self.keys = [(0,) * many]  # the messages per label of each kind
        self.places = {self.keys[0]: 0}
        self.free: list[int] = []
        self.counts = np.zeros((many, 1024))  # of each kind, as an array
        self.tokens = np.zeros(1024)

    def learn(self, tokens: Array, label: int) -> None:
        before, which, many = np.unique(self.kind[tokens], return_inverse=True, return_counts=True)
        after = np.array([self._next(kind, label) for kind in before.tolist()], np.int32)
        self.kind[tokens] = after[which]
        self.tokens[before] -= many
        self.tokens[after] += many
        for kind in before[self.tokens[before] == 0].tolist():
            del self.places[self.keys[kind]]
            self.free.append(kind)

    def _next(self, kind: int, label: int) -> int:
        """The kind of a token after one more message of a label."""
        key = self.keys[kind]
        key = (*key[:label], key[label] + 1, *key[label + 1 :])
        if key in self.places:
            return self.places[key]
        if not self.free:
            self.free.append(len(self.keys))
            self.keys.append(key)
        if len(self.keys) > len(self.tokens):
            self.counts = np.concatenate((self.counts, 0 * self.counts), axis=1)
            self.tokens = np.concatenate((self.tokens, 0 * self.tokens))
        place = self.places[key] = self.free.pop()
        self.keys[place] = key
        self.counts[:, place] = key
        return place

    def absent(self, view: View, table: Table, present: Array) -> tuple[Array, Array]:
        """Σ log(1 − P(token | label)) over the known tokens but those present, and how many have P = 1."""
        kinds = len(self.keys)
        tokens = self.tokens[:kinds] - np.bincount(self.kind[present], minlength=kinds)
        tokens[0] = 0
        p = probabilities(view, replace(table, containing=self.counts[:, :kinds]))
        logs = np.log(1 - p, out=np.zeros(p.shape), where=p < 1)
        return (logs @ tokens)[:, None], ((p >= 1).astype(float) @ tokens)[:, None]


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
