"""Scores of many messages, whose tokens are places in a count table; and tables as a view reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING, distinct_columns
from spamnb.bayes.gaussian import numeric_evidence
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.verdict import Score
from spamnb.core.native import BulkScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from spamnb.arrays import Array, Rows
    from spamnb.bayes.view import View
    from spamnb.store.counts import Row, TotalCounts

    class Table(TotalCounts, Protocol):
        """A count table: one column a token."""

        @property
        def message_counts(self) -> Array: ...
        @property
        def occurrence_counts(self) -> Array: ...
        @property
        def grams(self) -> Array: ...


def counts_for(view: View, message_counts: Array, occurrence_counts: Array) -> Array:
    """Return the rows of counts [count, token] that a view reads; 0 for pairs of neighbours it ignores."""
    if not view.pairs:
        message_counts = message_counts * occurrence_counts.any(axis=0)
    return (
        np.concatenate((message_counts, occurrence_counts)) if view.event == "multinomial" else message_counts
    )


def by_row(function: Callable[[Row], Sequence[float]], counts: Array, size: int) -> Array:
    """Return the values [value, token] of a function that makes `size` of them from a row of counts.

    The function is called once for each different row: half a million tokens have some thousands of them.
    """
    patterns, which = distinct_columns(counts)
    values = np.array([function(row) for row in patterns.T.tolist()], float).reshape(-1, size)
    return np.stack([value.take(which) for value in values.T.copy()])


def counts_by_token(view: View, message_counts: Array, occurrence_counts: Array) -> Array:
    """Return the rows of counts that a view reads as a BulkClassifier takes them."""
    return narrowed(counts_for(view, message_counts, occurrence_counts).T)


def narrowed(counts: Array) -> Array:
    """Return counts as numbers of 32 bits; higher ones are taken for the highest.

    Column by column: numpy copies rows of two one by one, which takes 15 times as long.
    """
    highest = min(np.iinfo(np.int32).max, np.iinfo(counts.dtype).max)
    narrow = np.empty(counts.shape, np.int32)
    for k in range(counts.shape[1]):
        narrow[:, k] = np.minimum(counts[:, k], highest)
    return narrow


class BulkClassifier:
    """Scores messages whose tokens are places in a table of counts [token, count], a row each.

    The counts may change between two messages: then the likelihood's totals are updated. Threads share the
    likelihood and the counts; each has a classifier of its own.
    """

    def __init__(self, likelihood: Likelihood, counts: Array, gram_counts: Array) -> None:
        likelihood.keep_logarithms()
        self.likelihood = likelihood
        self.label_count = likelihood.label_count
        self.counts, self.gram_counts = counts, gram_counts  # grams: [counter, label], none if not counted
        self.scorer = BulkScorer(likelihood, counts, gram_counts, counts.shape[1])

    @classmethod
    def of(cls, table: Table, view: View) -> BulkClassifier:
        counts = counts_by_token(view, table.message_counts, table.occurrence_counts)
        return cls(Likelihood(table, view), counts, narrowed(table.grams.T))

    def open(self, rows: Rows, counts: Array | None = None) -> None:
        """Take the messages that are scored next, and other counts, if these are given."""
        self.counts = self.counts if counts is None else counts
        starts, gram_starts = (
            found.astype(np.int64, copy=False) for found in (rows.starts, rows.grams.starts)
        )
        places = rows.places.astype(np.int32, copy=False)
        times, parts = np.ascontiguousarray(rows.times, np.uint16), rows.parts
        self.scorer.open(self.counts, starts, places, times, parts, gram_starts, rows.grams.members)
        has_numbers = self.likelihood.view.numbers
        self.numbers = {name: values for name, values in rows.numbers.items() if has_numbers}

    def joints(self, rows: Rows) -> Array:
        """Return the log-joints [message, label]."""
        return np.array([score.joint for score in self.scores(rows)], float).reshape(-1, self.label_count)

    def scores(self, rows: Rows, counts: Array | None = None) -> list[Score]:
        """Score messages; the scores have no evidence."""
        self.open(rows, counts)
        return self.scores_of(range(len(rows)))

    def scores_of(self, messages: Sequence[int]) -> list[Score]:
        """Score some of the messages that are open."""
        chosen = np.array(messages, np.int64)
        joints = np.empty((len(chosen), self.label_count))
        parts = np.empty((len(chosen), 2, self.label_count))
        self.scorer.score(chosen, joints, parts)
        labels, is_averaged = self.likelihood.labels, self.likelihood.view.damping is not None
        scores = [
            Score(labels, joint, [], part if is_averaged else [])
            for joint, part in zip(joints.tolist(), parts.tolist(), strict=True)
        ]
        for message, score in zip(messages, scores, strict=True) if self.numbers else ():
            numbers = {name: values[message].item() for name, values in self.numbers.items()}
            known = {name: value for name, value in numbers.items() if value != MISSING}
            for item in numeric_evidence(self.likelihood, known):
                score.joint = [a + b for a, b in zip(score.joint, item.weights, strict=True)]
        return scores

    def left_out_joints(
        self, messages: Sequence[int], truth: Array | Sequence[int], lone: Array | Sequence[int] | None = None
    ) -> Array:
        """Return the log-joints [message, label] of messages of the table, each without its own counts.

        For views that average the presence of tokens as the default one does. `truth` has the label of each
        message of the rows that are open, `lone` how many more tokens it has that no other message has.
        """
        chosen, labels = np.array(messages, np.int64), np.asarray(truth, np.int64)
        more = np.zeros(len(labels), np.int64) if lone is None else np.asarray(lone, np.int64)
        joints = np.empty((len(chosen), self.label_count))
        self.scorer.score_left_out(chosen, labels, more, joints)
        return joints

    def change(self, message: int, label_index: int, sign: int) -> tuple[int, int]:
        """Add a message to the counts, or subtract it; return how many words and pairs no other one has."""
        return self.scorer.change(self.counts, self.gram_counts, message, label_index, sign)
