"""Scores of many messages, by the formulas of `Likelihood`: here are only look-ups and sums."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING, distinct_columns
from spamnb.bayes.classifier import Likelihood
from spamnb.bayes.gaussian import log_densities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from spamnb.arrays import Array, Rows
    from spamnb.bayes.classifier import View
    from spamnb.store.counts import Row, TotalCounts

    class Table(TotalCounts, Protocol):
        """A count table: one column a token."""

        @property
        def message_counts(self) -> Array: ...
        @property
        def occurrence_counts(self) -> Array: ...


MOST_KNOWN = 4096  # logarithms are kept of counts below this
MOST_REST = 4096.0  # floats below twice this are at most 2⁻⁴⁰ apart, as weights are
NOBODY = -1  # in place of a label's index: no message is left out
WHOLE = 1.5 * 2.0**52  # floats of this size are 1 apart, so adding and subtracting it rounds to whole numbers


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
    """Return counts as numbers of 32 bits; higher ones are taken for the highest."""
    highest = min(np.iinfo(np.int32).max, np.iinfo(counts.dtype).max)
    return np.ascontiguousarray(np.minimum(counts, highest), np.int32)


class BulkClassifier:
    """Scores messages whose tokens are places in a table of counts [token, count], a row each.

    The counts may change between two messages: then the likelihood's totals are updated, and `renew` called.
    """

    def __init__(self, likelihood: Likelihood, counts: Array) -> None:
        view = likelihood.view
        self.likelihood = likelihood
        self.counts = counts
        self.label_count = likelihood.label_count
        self.count_start = self.label_count if likelihood.is_multinomial else 0
        self.is_global, self.is_bernoulli = likelihood.is_global, likelihood.is_bernoulli
        self.is_gaussian = view.event == "gaussian"
        self.is_averaged = view.damping is not None
        self.is_tfidf = view.tfidf and not self.is_averaged
        self.has_times = likelihood.is_multinomial and not self.is_averaged
        self.least_evidence = view.least_evidence
        self.least_likely = view.least_evidence - 1e-6  # more than rounding can change
        self.damping = view.damping or 0.0
        self.part_count = 2 if view.split_head_body and self.is_averaged else 1
        # By label and count log(n + ε), or for Bernoulli the weight; NaN where it is not known yet.
        self.known = np.full((self.label_count, MOST_KNOWN), nan)
        self.log_denominators = np.zeros(self.label_count)
        self.renew()

    @classmethod
    def of(cls, table: Table, view: View) -> BulkClassifier:
        counts = counts_by_token(view, table.message_counts, table.occurrence_counts)
        return cls(Likelihood(table, view), counts)

    def renew(self) -> None:
        """Take over the totals of the likelihood."""
        if self.is_bernoulli:
            self.known[:, :] = nan
        else:
            for k in range(self.label_count):
                self.log_denominators[k] = self.likelihood.log_denominators[k]

    def open(self, rows: Rows) -> None:
        """Take the messages that are scored next."""
        self.starts, self.places = rows.starts, rows.places.astype(np.int32, copy=False)
        self.times, self.parts = rows.times.data, rows.parts  # interpreted, numpy's 16 bits overflow
        has_numbers = self.likelihood.view.numbers
        self.numbers = [(name, rows.numbers[name].tolist()) for name in sorted(rows.numbers) if has_numbers]
        longest = int(rows.lengths.max(initial=0))
        self.weights = np.empty((self.label_count, longest + 1))  # of the strong tokens of one message
        self.strong_parts = np.empty(longest + 1, np.uint8)

    def joints(self, rows: Rows) -> Array:
        """Return the log-joints [message, label]."""
        self.open(rows)
        return np.array([self.joint(n) for n in range(len(rows))], float).reshape(-1, self.label_count)

    def joint(self, message: int, left_out: int = NOBODY) -> list[float]:
        """Return the log-joints of a message; if `left_out` is its label, the counts are taken without it."""
        start, end = self.starts[message], self.starts[message + 1]
        length = self.strong = 0
        if self.is_gaussian:
            end = start
        if self.is_tfidf:
            for at in range(start, end):
                length += self.times[at]
        for at in range(start, end):
            place = self.places[at]
            if place >= 0 and self.weigh(place, left_out):
                if self.is_tfidf:
                    self.multiply(self.times[at] / length * self.likelihood.idf(self.row(place)))
                elif self.has_times:
                    self.multiply(self.times[at])
                self.strong_parts[self.strong] = self.parts[at]
                self.strong += 1
        sums = [self.sum_for(k) for k in range(self.label_count)]
        for name, values in self.numbers:
            value, of_labels = values[message], self.likelihood.numbers.get(name)
            if of_labels is not None and value != MISSING and (found := log_densities(value, of_labels)):
                sums = [weight + more for weight, more in zip(sums, found, strict=True)]
        return sums

    def weigh(self, place: int, left_out: int) -> bool:
        """Set the weights of a token behind those of the strong ones; tell whether it is one of them."""
        if self.is_global:
            weights = self.likelihood.weights(self.row(place))
        is_known = False
        low, high = inf, -inf
        for k in range(self.label_count):
            own = 1 if k == left_out else 0
            if self.counts[place, k] > own:
                is_known = True
            if self.is_global:
                weight = weights[k]
            else:
                weight = self.log_of(k, max(0, self.counts[place, self.count_start + k] - own))
                weight -= self.log_denominators[k]
            self.weights[k, self.strong] = weight
            low, high = min(low, weight), max(high, weight)
        if not is_known or (high - low if low != high else 0.0) < self.least_likely:
            return False
        low, high = inf, -inf
        for k in range(self.label_count):
            weight = self.likelihood.rounded(self.weights[k, self.strong])
            self.weights[k, self.strong] = weight
            low, high = min(low, weight), max(high, weight)
        return (high - low if low != high else 0.0) >= self.least_evidence

    def log_of(self, label_index: int, count: int) -> float:
        """Look up what the count of a token gives for a label, before the denominator is subtracted."""
        found = self.known[label_index, count] if count < MOST_KNOWN else nan
        if found != found:
            if self.is_bernoulli:
                found = self.likelihood.log_weight(label_index, count, self.likelihood.epsilon)
            else:
                found = self.likelihood.log_count(count, self.likelihood.epsilon)
            if count < MOST_KNOWN:
                self.known[label_index, count] = found
        return found

    def row(self, place: int) -> Row:
        """Return the row of counts of a token."""
        return tuple([self.counts[place, at] for at in range(self.counts.shape[1])])

    def multiply(self, times: float) -> None:
        """Multiply the weights of the last strong token by how often it occurs, or its tf·idf."""
        for k in range(self.label_count):
            if times:
                self.weights[k, self.strong] *= times
            else:
                self.weights[k, self.strong] = 0.0  # not infinite either

    def sum_for(self, label_index: int) -> float:
        """Return what Likelihood.summed_joint or averaged_joint does, for one label."""
        if self.is_averaged:
            mean = 0.0
            for part in range(self.part_count):
                total = self.sum_part(label_index, part)
                if self.summed:
                    mean += total / (self.summed + self.damping)
            return mean
        total = self.sum_part(label_index, 0)
        one_is_absent = self.likelihood.certain_words[label_index] != self.certain
        return -inf if one_is_absent else self.likelihood.background[label_index] + total

    def sum_part(self, label_index: int, part: int) -> float:
        """Sum the weights of a part as `fsum` does: whole nats apart from the rest, both exactly.

        Also count those summed, and words that all messages of the label have, whose weights are infinite.
        """
        whole, rest, lowest = 0.0, 0.0, 0.0
        self.summed = self.certain = 0
        for at in range(self.strong):
            if self.part_count > 1 and self.strong_parts[at] != part:
                continue
            weight = self.weights[label_index, at]
            self.summed += 1
            if weight == inf:
                self.certain += 1
            elif weight == -inf:
                lowest = weight
            else:
                weight = self.likelihood.rounded(weight)
                nats = (weight + WHOLE) - WHOLE
                whole += nats
                rest += weight - nats
                if abs(rest) > MOST_REST:
                    nats = (rest + WHOLE) - WHOLE
                    whole += nats
                    rest -= nats
        return whole + rest + lowest

    def left_out_scores(
        self, messages: Sequence[int], truth: Sequence[int], lone: Sequence[int] | None = None
    ) -> list[float]:
        """Score messages of the table, the second label against the first, each without its own counts.

        For two labels, and views that average the presence of tokens as the default one does. `truth` has
        the label of each message of the rows that are open, `lone` how many more tokens it has that no other
        message has.
        """
        log_denominators = self.likelihood.log_denominators
        scores = []
        for message in messages:
            self.leave_out(message, truth[message], lone[message] if lone else 0)
            first, second = self.joint(message, truth[message])
            scores.append(second - first)
        self.likelihood.log_denominators = log_denominators
        self.renew()
        return scores

    def leave_out(self, message: int, label: int, lone: int) -> None:
        """Take the likelihood's denominators without a message."""
        tokens = unique = lone
        for at in range(self.starts[message], self.starts[message + 1]):
            place = self.places[at]
            own, other = self.counts[place, label], self.counts[place, 1 - label]
            tokens += 1 if own or other else 0
            unique += 1 if own == 1 and not other else 0
        likelihood = self.likelihood
        totals = [total - tokens * (k == label) for k, total in enumerate(likelihood.label_totals)]
        likelihood.log_denominators = likelihood.log_denominators_of(totals, likelihood.vocabulary - unique)
        self.renew()
