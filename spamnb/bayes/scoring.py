"""Scores of many messages at once, by the formulas of `Likelihood`: here are only look-ups and sums."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING, distinct_columns, exactly_summed, summed_between
from spamnb.bayes.classifier import Likelihood, rounded
from spamnb.bayes.gaussian import log_densities
from spamnb.bayes.view import GLOBAL

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


MOST_KNOWN = 1 << 20  # logarithms are kept of counts below this: 8 MB
UNIQUE = 1 << 32  # added for a token that no other message has: the upper half of a sum counts these tokens
BLOCK = 500  # messages that LeaveOneOut scores at once: bounds its arrays


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


class LogCounts:
    """Logarithms log(n + ε) by n, each taken once; for views where nothing else decides a token's weight."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood = likelihood
        self.known = np.empty(0)  # log(n + ε) by n; NaN where it is not known yet

    def __call__(self, counts: Array) -> Array:
        top = int(counts.max(initial=0))
        if top >= MOST_KNOWN:
            return by_row(lambda row: [self._log(row[0])], counts.reshape(1, -1), 1).reshape(counts.shape)
        if top >= len(self.known):
            self.known = np.concatenate((self.known, np.full(top + 1, nan)))
        logs = self.known.take(counts)
        missing = np.isnan(logs)
        if missing.any():
            new = np.unique(counts[missing])
            self.known[new] = [self._log(count) for count in new.tolist()]
            logs = self.known.take(counts)
        return logs

    def _log(self, count: int) -> float:
        return self.likelihood.log_count(count, self.likelihood.epsilon)


def weights_of(likelihood: Likelihood, counts: Array, log_counts: LogCounts | None = None) -> Array:
    """Return the weights [label, token] of rows of counts [count, token], NaN where they are too weak."""
    label_count, view = len(likelihood.labels), likelihood.view
    if view.event == "bernoulli" or view.smoothing == GLOBAL:
        weights = by_row(likelihood.weights, counts, label_count)
    else:
        logs = (log_counts or LogCounts(likelihood))(counts[-label_count:])
        weights = rounded(logs - np.array(likelihood.log_denominators)[:, None])
    strong = are_strong(view, weights) & counts[:label_count].any(axis=0)
    return np.where(strong, weights, nan)


def are_strong(view: View, weights: Array) -> Array:
    """Tell which weights [label, token] differ by enough to count."""
    high, low = weights.max(axis=0), weights.min(axis=0)
    spread = np.subtract(high, low, out=np.zeros(len(high)), where=high != low)
    return spread >= view.least_evidence


class BulkClassifier:
    """Scores messages whose tokens are columns of a count table."""

    def __init__(self, likelihood: Likelihood, message_counts: Array, occurrence_counts: Array) -> None:
        self.likelihood = likelihood
        self.counts = counts_for(likelihood.view, message_counts, occurrence_counts)
        unknown = np.zeros((len(self.counts), 1), self.counts.dtype)  # last: unknown tokens have index -1
        self.counts = np.concatenate((self.counts, unknown), axis=1)
        self.weights = weights_of(likelihood, self.counts)

    @classmethod
    def of(cls, table: Table, view: View) -> BulkClassifier:
        return cls(Likelihood(table, view), table.message_counts, table.occurrence_counts)

    def joints(self, rows: Rows) -> Array:
        """Return the log-joints [message, label]."""
        weights = self.weights.take(rows.places, axis=1, mode="wrap")
        counts = self.counts[:, rows.places] if self.likelihood.view.tfidf else self.counts[:, :0]
        return joints(self.likelihood, rows, weights, counts)


def joints(likelihood: Likelihood, rows: Rows, weights: Array, counts: Array) -> Array:
    """Return log-joints [message, label] by the weights of all tokens; their counts are for tf-idf only."""
    view = likelihood.view
    strong = np.flatnonzero(weights[0] == weights[0])  # not NaN
    if view.event == "gaussian":
        strong = strong[:0]
    starts = np.searchsorted(strong, rows.starts)
    weights = weights.take(strong, axis=1)
    if view.damping is not None:
        joint = averaged_joints(view, weights, starts, rows.parts.take(strong))
    else:
        if view.tfidf or view.event == "multinomial":
            times = rows.times.take(strong).astype(float)
            if view.tfidf:
                lengths = np.repeat(rows.summed(rows.times[None])[0], rows.lengths)[strong]
                times = times / lengths * by_row(lambda row: [likelihood.idf(row)], counts[:, strong], 1)[0]
            weights = np.multiply(weights, times, out=np.zeros(weights.shape), where=times != 0)
        joint = summed_joints(likelihood, rounded(weights), starts)
    if view.numbers:
        for name in sorted(rows.numbers):
            joint = joint + densities(likelihood, name, rows.numbers[name])
    return joint.T


def summed_joints(likelihood: Likelihood, terms: Array, starts: Array) -> Array:
    """Return Likelihood.summed_joint of many messages [label, message]."""
    background = np.array(likelihood.background)[:, None]
    if likelihood.view.event != "bernoulli":
        return background + exactly_summed(terms, starts)
    present = terms == np.inf
    joint = background + exactly_summed(np.where(present, 0.0, terms), starts)
    all_present = summed_between(present, starts) == np.array(likelihood.certain_words)[:, None]
    return np.where(all_present, joint, -np.inf)


def averaged_joints(view: View, weights: Array, starts: Array, parts: Array) -> Array:
    """Return Likelihood.averaged_joint of many messages [label, message]."""
    joint = np.zeros((len(weights), len(starts) - 1))
    for part in range(int(parts.max(initial=0)) + 1) if view.split_head_body else (None,):
        part_weights, part_starts = weights, starts
        if part is not None:
            entries = np.flatnonzero(parts == part)
            part_weights, part_starts = weights.take(entries, axis=1), np.searchsorted(entries, starts)
        lengths = np.diff(part_starts)
        divisors = np.where(lengths, lengths + (view.damping or 0.0), 1)
        joint += exactly_summed(part_weights, part_starts) / divisors
    return joint


def densities(likelihood: Likelihood, name: str, values: Array) -> Array:
    """Return the log densities [label, message] of a numeric feature, 0 where it is missing."""
    nothing = [0.0] * len(likelihood.labels)
    sums = likelihood.numbers.get(name, ())
    distinct, which = np.unique(values, return_inverse=True)
    found = [nothing if x == MISSING else log_densities(x, sums) or nothing for x in distinct.tolist()]
    return np.array(found).reshape(-1, len(nothing)).T[:, which]


class LeaveOneOut:
    """Scores messages of a table, the second label against the first, each without its own counts.

    For two labels, and views that average the presence of tokens as the default one does. The counts of a
    token without the message depend on the message's label alone, so its weights are looked up by its row of
    counts and that label; only the totals differ from message to message.
    """

    def __init__(self, likelihood: Likelihood, message_counts: Array, occurrence_counts: Array) -> None:
        self.likelihood = likelihood
        self.view = likelihood.view
        patterns, self.which = distinct_columns(counts_for(self.view, message_counts, occurrence_counts))
        self.distinct_rows = patterns.shape[1]
        # Each row of counts without a message of the first label, then each without one of the second.
        without = [patterns - [[1], [0]], patterns - [[0], [1]]]
        left = np.maximum(0, np.concatenate(without, axis=1))
        self.log_counts = LogCounts(likelihood)(left)
        counted = np.tile(patterns.any(axis=0), 2)
        self.is_left: Array = left.any(axis=0)
        self.state = counted + ((counted & ~self.is_left) * UNIQUE)
        self.odds = np.where(self.is_left, self.log_counts[1] - self.log_counts[0], nan)

    def scores(self, rows: Rows, truth: Array) -> Array:
        """Return the scores of messages of the table; `truth` has their labels."""
        blocks = (np.arange(at, min(at + BLOCK, len(rows))) for at in range(0, len(rows), BLOCK))
        return np.concatenate(
            [np.empty(0), *(self._scores(rows.chosen(block), truth[block]) for block in blocks)]
        )

    def _scores(self, rows: Rows, truth: Array) -> Array:
        label_offsets = truth.astype(np.int32) * self.distinct_rows
        of_row = self.which.take(rows.places) + np.repeat(label_offsets, rows.lengths)
        log_denominators = self._log_denominators(truth, rows.summed(self.state.take(of_row)[None])[0])
        # First the tokens that may be strong, one in five; 1e-6 is more than rounding changes.
        log_odds = self.odds.take(of_row) - np.repeat(log_denominators[1] - log_denominators[0], rows.lengths)
        likely = np.flatnonzero(np.abs(log_odds) >= self.view.least_evidence - 1e-6)
        starts = np.searchsorted(likely, rows.starts)
        of_message = np.repeat(log_denominators, np.diff(starts), axis=1)
        weights = rounded(self.log_counts.take(of_row.take(likely), axis=1) - of_message)
        strong = np.flatnonzero(are_strong(self.view, weights))
        parts = rows.parts.take(likely).take(strong)
        first, second = averaged_joints(
            self.view, weights.take(strong, axis=1), np.searchsorted(strong, starts), parts
        )
        return second - first

    def _log_denominators(self, truth: Array, states: Array) -> Array:
        """Return Likelihood.log_denominators [label, message] without each message.

        `states` has the tokens of each message, plus UNIQUE for each one that no other message has.
        """
        totals, vocabulary = self.likelihood.label_totals, self.likelihood.vocabulary
        logs = []
        for label, state in zip(truth.tolist(), states.tolist(), strict=True):
            unique, tokens = divmod(state, UNIQUE)
            others = [total - tokens * (k == label) for k, total in enumerate(totals)]
            logs.append(self.likelihood.log_denominators_of(others, vocabulary - unique))
        return np.array(logs).reshape(-1, len(totals)).T
