"""Many messages scored at once, by the formulas of `bayes.Likelihood`: here are only look-ups and sums."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING, distinct_columns, exactly_summed, summed_between
from spamnb.bayes.classifier import Likelihood, gaussian, rounded
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


MOST_KNOWN = 1 << 20  # counts whose logarithms are kept: 8 MB
ALONE = 1 << 32  # a token that only one message has, beside those counted in the same sum
BLOCK = 500  # messages left out at once: bounds the arrays of their entries


def counts_for(view: View, message_counts: Array, occurrence_counts: Array) -> Array:
    """Rows of counts [count, token] as a view reads them; all 0 of a pair of neighbours that it ignores."""
    if not view.pairs:
        message_counts = message_counts * occurrence_counts.any(axis=0)
    return (
        np.concatenate((message_counts, occurrence_counts)) if view.event == "multinomial" else message_counts
    )


def by_row(function: Callable[[Row], Sequence[float]], counts: Array, many: int) -> Array:
    """Values [value, token] of a function that makes `many` of them from a row of counts.

    It is called once for each different row: half a million tokens have some thousands.
    """
    patterns, which = distinct_columns(counts)
    values = np.array([function(row) for row in patterns.T.tolist()], float).reshape(-1, many)
    return np.stack([value.take(which) for value in values.T.copy()])


class LogCounts:
    """log(n + ε) by n, for views in which it is all that tells the weight of a token; each is taken once."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood = likelihood
        self.known = np.empty(0)  # by n; NaN where it is not known yet

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
    """Weights [label, token] of rows of counts [count, token], NaN where they do not count."""
    many, view = len(likelihood.labels), likelihood.view
    if view.event == "bernoulli" or view.smoothing == GLOBAL:
        weights = by_row(likelihood.weights, counts, many)
    else:
        logs = (log_counts or LogCounts(likelihood))(counts[-many:])
        weights = rounded(logs - np.array(likelihood.log_wholes)[:, None])
    counted = is_telling(view, weights) & counts[:many].any(axis=0)
    return np.where(counted, weights, nan)


def is_telling(view: View, weights: Array) -> Array:
    """Whether weights [label, token] differ by enough to count."""
    high, low = weights.max(axis=0), weights.min(axis=0)
    spread = np.subtract(high, low, out=np.zeros(len(high)), where=high != low)
    return spread >= view.least_evidence


class BulkClassifier:
    """Scores messages whose tokens are columns of a count table."""

    def __init__(self, likelihood: Likelihood, message_counts: Array, occurrence_counts: Array) -> None:
        self.likelihood = likelihood
        self.counts = counts_for(likelihood.view, message_counts, occurrence_counts)
        unknown = np.zeros((len(self.counts), 1), self.counts.dtype)  # the last column, where place -1 is
        self.counts = np.concatenate((self.counts, unknown), axis=1)
        self.weights = weights_of(likelihood, self.counts)

    @classmethod
    def of(cls, table: Table, view: View) -> BulkClassifier:
        return cls(Likelihood(table, view), table.message_counts, table.occurrence_counts)

    def joints(self, rows: Rows) -> Array:
        """Log-joints [message, label]."""
        weights = self.weights.take(rows.places, axis=1, mode="wrap")
        counts = self.counts[:, rows.places] if self.likelihood.view.tfidf else self.counts[:, :0]
        return joints(self.likelihood, rows, weights, counts)


def joints(likelihood: Likelihood, rows: Rows, weights: Array, counts: Array) -> Array:
    """Log-joints [message, label] by the weights of all entries of messages; their counts are for tf-idf."""
    view = likelihood.view
    telling = np.flatnonzero(weights[0] == weights[0])  # not NaN
    if view.event == "gaussian":
        telling = telling[:0]
    starts = np.searchsorted(telling, rows.starts)
    weights = weights.take(telling, axis=1)
    if view.damping is not None:
        joint = averaged(view, weights, starts, rows.parts.take(telling))
    else:
        if view.tfidf or view.event == "multinomial":
            times = rows.times.take(telling).astype(float)
            if view.tfidf:
                lengths = np.repeat(rows.summed(rows.times[None])[0], rows.lengths)[telling]
                times = times / lengths * by_row(lambda row: [likelihood.idf(row)], counts[:, telling], 1)[0]
            weights = np.multiply(weights, times, out=np.zeros(weights.shape), where=times != 0)
        joint = summed(likelihood, rounded(weights), starts)
    if view.numbers:
        for name in sorted(rows.numbers):
            joint = joint + densities(likelihood, name, rows.numbers[name])
    return joint.T


def summed(likelihood: Likelihood, terms: Array, starts: Array) -> Array:
    """Likelihood.summed [label, message] for many messages."""
    background = np.array(likelihood.background)[:, None]
    if likelihood.view.event != "bernoulli":
        return background + exactly_summed(terms, starts)
    present = terms == np.inf
    joint = background + exactly_summed(np.where(present, 0.0, terms), starts)
    return np.where(summed_between(present, starts) == np.array(likelihood.certain)[:, None], joint, -np.inf)


def averaged(view: View, weights: Array, starts: Array, parts: Array) -> Array:
    """Likelihood.averaged [label, message] for many messages."""
    joint = np.zeros((len(weights), len(starts) - 1))
    for part in range(int(parts.max(initial=0)) + 1) if view.split_head_body else (None,):
        own, within = weights, starts
        if part is not None:
            entries = np.flatnonzero(parts == part)
            own, within = weights.take(entries, axis=1), np.searchsorted(entries, starts)
        lengths = within[1:] - within[:-1]
        joint += exactly_summed(own, within) / np.where(lengths, lengths + (view.damping or 0.0), 1)
    return joint


def densities(likelihood: Likelihood, name: str, values: Array) -> Array:
    """Log densities [label, message] of a numeric feature, 0 where it is missing."""
    nothing = [0.0] * len(likelihood.labels)
    sums = likelihood.numbers.get(name, ())
    distinct, which = np.unique(values, return_inverse=True)
    found = [nothing if x == MISSING else gaussian(x, sums) or nothing for x in distinct.tolist()]
    return np.array(found).reshape(-1, len(nothing)).T[:, which]


class LeftOut:
    """Scores, the second label against the first, of messages of a table, each without its own counts.

    For two labels, and views that average the presence of tokens as the default one does. The counts of a
    token without the message depend on the message's label alone, so what they say is looked up by its row of
    counts and that label; only the totals are each message's own.
    """

    def __init__(self, likelihood: Likelihood, message_counts: Array, occurrence_counts: Array) -> None:
        self.likelihood = likelihood
        self.view = likelihood.view
        patterns, self.which = distinct_columns(counts_for(self.view, message_counts, occurrence_counts))
        self.rows = patterns.shape[1]  # different ones
        without = [
            patterns - [[1], [0]],
            patterns - [[0], [1]],
        ]  # one message of either label
        left = np.maximum(0, np.concatenate(without, axis=1))
        self.log_counts = LogCounts(likelihood)(left)
        counted = np.tile(patterns.any(axis=0), 2)
        self.is_left: Array = left.any(axis=0)
        self.state = counted + ((counted & ~self.is_left) * ALONE)
        self.odds = np.where(self.is_left, self.log_counts[1] - self.log_counts[0], nan)

    def scores(self, rows: Rows, truth: Array) -> Array:
        """Score messages whose labels these are."""
        blocks = (np.arange(at, min(at + BLOCK, len(rows))) for at in range(0, len(rows), BLOCK))
        return np.concatenate(
            [np.empty(0), *(self._scores(rows.chosen(block), truth[block]) for block in blocks)]
        )

    def _scores(self, rows: Rows, truth: Array) -> Array:
        of_row = self.which.take(rows.places) + np.repeat(truth.astype(np.int32) * self.rows, rows.lengths)
        wholes = self._log_wholes(truth, rows.summed(self.state.take(of_row)[None])[0])
        # First those that may be telling: one in five.
        away = self.odds.take(of_row) - np.repeat(wholes[1] - wholes[0], rows.lengths)
        likely = np.flatnonzero(np.abs(away) >= self.view.least_evidence - 1e-6)
        starts = np.searchsorted(likely, rows.starts)
        of_message = np.repeat(wholes, np.diff(starts), axis=1)
        weights = rounded(self.log_counts.take(of_row.take(likely), axis=1) - of_message)
        telling = np.flatnonzero(is_telling(self.view, weights))
        parts = rows.parts.take(likely).take(telling)
        first, second = averaged(
            self.view, weights.take(telling, axis=1), np.searchsorted(telling, starts), parts
        )
        return second - first

    def _log_wholes(self, truth: Array, states: Array) -> Array:
        """Likelihood.log_wholes [label, message] without each message: its tokens, and those it has alone."""
        totals, vocabulary = self.likelihood.totals, self.likelihood.vocabulary
        logs = []
        for label, state in zip(truth.tolist(), states.tolist(), strict=True):
            alone, own = divmod(state, ALONE)
            others = [total - own * (k == label) for k, total in enumerate(totals)]
            logs.append(self.likelihood.log_wholes_of(others, vocabulary - alone))
        return np.array(logs).reshape(-1, len(totals)).T
