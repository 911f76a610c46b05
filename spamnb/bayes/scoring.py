"""Scores of many messages, by the formulas of `Likelihood`: here are only look-ups and sums."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import MISSING, UNITS_PER_NAT, distinct_columns
from spamnb.bayes.classifier import Likelihood, Score
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
NO_LABEL = -1  # in place of a label's index
WHOLE = 1.5 * 2.0**52  # floats of this size are 1 apart, so adding and subtracting it rounds to whole numbers
GRID = WHOLE / UNITS_PER_NAT  # for what Likelihood.rounded does


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
        self.is_plain = not (likelihood.is_global or likelihood.is_bernoulli)
        self.is_gaussian = view.event == "gaussian"
        self.is_averaged = view.damping is not None
        self.is_tfidf = view.tfidf and not self.is_averaged
        self.has_times = likelihood.is_multinomial and not self.is_averaged
        self.damping = view.damping or 0.0
        self.splits = view.split_head_body and self.is_averaged
        # log(n + ε) by n, for plain views.
        self.logs = np.array([self.likelihood.log_count(n, likelihood.epsilon) for n in range(MOST_KNOWN)])
        self.spam_apart = likelihood.spam_apart
        columns = len(likelihood.log_denominators)  # one a label; the last for all but spam, if it is apart
        self.log_denominators = np.zeros(columns)
        self.weights = np.zeros(columns)  # of one token
        # Sums of the strong weights of one message, by part and label: whole nats and the rest, both exact.
        self.wholes, self.rests = np.zeros((2, columns)), np.zeros((2, columns))
        self.strong = np.zeros(2, np.int64)  # how many were summed, by part
        self.strong_among_others = np.zeros(2, np.int64)  # likewise of what tells labels but spam apart
        self.certain = np.zeros(self.label_count, np.int64)  # words that all messages of a label have
        self.renew()

    @classmethod
    def of(cls, table: Table, view: View) -> BulkClassifier:
        counts = counts_by_token(view, table.message_counts, table.occurrence_counts)
        return cls(Likelihood(table, view), counts)

    def renew(self) -> None:
        """Take over the totals of the likelihood."""
        for k, log_denominator in enumerate(self.likelihood.log_denominators):
            self.log_denominators[k] = log_denominator

    def open(self, rows: Rows) -> None:
        """Take the messages that are scored next."""
        self.starts, self.places = rows.starts, rows.places.astype(np.int32, copy=False)
        self.times, self.parts = rows.times.data, rows.parts  # interpreted, numpy's 16 bits overflow
        has_numbers = self.likelihood.view.numbers
        self.numbers = [(name, rows.numbers[name].tolist()) for name in sorted(rows.numbers) if has_numbers]

    def joints(self, rows: Rows) -> Array:
        """Return the log-joints [message, label]."""
        return np.array([score.joint for score in self.scores(rows)], float).reshape(-1, self.label_count)

    def scores(self, rows: Rows) -> list[Score]:
        """Score messages; the scores have no evidence."""
        self.open(rows)
        return [self.score(message) for message in range(len(rows))]

    def score(self, message: int) -> Score:
        return Score(self.likelihood.labels, self.joint(message), [], self.part_means())

    def joint(self, message: int, left_out: int = NO_LABEL) -> list[float]:
        """Return the log-joints of a message; if `left_out` is its label, the counts are taken without it."""
        self.wholes[:, :], self.rests[:, :], self.strong[:], self.certain[:] = 0.0, 0.0, 0, 0
        if self.spam_apart != NO_LABEL:
            self.sum_apart(self.starts[message], self.starts[message + 1], left_out, self.places, self.counts)
            joint = [self.joint_for(self.column(k)) for k in range(self.label_count)]
            return self.likelihood.ranked(joint, [self.joint_for(k) for k in range(self.label_count)])
        if self.is_plain and self.is_averaged and self.label_count == 2:
            self.sum_two(self.starts[message], self.starts[message + 1], left_out, self.places, self.counts)
        elif not self.is_gaussian:
            self.sum_up(self.starts[message], self.starts[message + 1], left_out, self.places, self.counts)
        joint = [self.joint_for(k) for k in range(self.label_count)]
        for name, values in self.numbers:
            value, of_labels = values[message], self.likelihood.numbers.get(name)
            if of_labels is not None and value != MISSING and (found := log_densities(value, of_labels)):
                joint = [weight + more for weight, more in zip(joint, found, strict=True)]
        return joint

    def part_means(self) -> list[list[float]]:
        """Return what each part of the message scored last adds to the log-joints, where these are means."""
        if not self.is_averaged:
            return []
        return [[self.mean(part, self.column(k)) for k in range(self.label_count)] for part in range(2)]

    def column(self, label_index: int) -> int:
        """Return where the sum is that a label is held against spam with: where that is apart, the rest's."""
        return label_index if self.spam_apart in (NO_LABEL, label_index) else self.label_count

    def sum_two(self, start: int, end: int, left_out: int, places: Any, counts: Any) -> None:
        """Do what `sum_up` does, for two labels and a mean of finite weights.

        Nothing depends on whether a token is strong, which no processor can foretell: it takes half the time.
        """
        logs, first, least, splits = self.logs, self.count_start, self.likelihood.least_evidence, self.splits
        own, others, is_corrected = int(left_out == 0), int(left_out == 1), self.likelihood.is_corrected
        subtrahend, other_subtrahend = self.log_denominators[0], self.log_denominators[1]
        part, total, other_total, strong = 0, 0.0, 0.0, 0
        for at in range(start, end):
            if part != self.parts[at] & splits or abs(total) > MOST_REST or abs(other_total) > MOST_REST:
                self.put_down(part, total, other_total, strong)
                part, total, other_total, strong = self.parts[at] & splits, 0.0, 0.0, 0
            place = places[at]
            count, other = counts[place, first], counts[place, first + 1]
            count -= own & (count > 0)
            other -= others & (other > 0)
            if is_corrected:
                count, other = (
                    self.likelihood.rightly_filed(0, count, other),
                    self.likelihood.rightly_filed(1, other, count),
                )
            if count < MOST_KNOWN and other < MOST_KNOWN:
                weight, other_weight = logs[count] - subtrahend, logs[other] - other_subtrahend
            else:
                weight = self.likelihood.log_weight(0, count, self.likelihood.epsilon)
                other_weight = self.likelihood.log_weight(1, other, self.likelihood.epsilon)
            weight, other_weight = (weight + GRID) - GRID, (other_weight + GRID) - GRID
            gap = weight - other_weight
            is_strong = ((gap >= least) | (gap <= -least)) & ((count | other) > 0)
            strong += is_strong
            total += is_strong * weight
            other_total += is_strong * other_weight
        self.put_down(part, total, other_total, strong)

    def put_down(self, part: int, total: float, other_total: float, strong: int) -> None:
        """Add sums for two labels, of so many weights, to those of a part."""
        self.add_large(part, 0, total)
        self.add_large(part, 1, other_total)
        self.strong[part] += strong

    def sum_up(self, start: int, end: int, left_out: int, places: Any, counts: Any) -> None:
        """Sum the weights of the strong tokens of a message, exactly: as `fsum` does."""
        logs, log_denominators, weights, rests = self.logs, self.log_denominators, self.weights, self.rests
        label_count, first, is_plain = self.label_count, self.count_start, self.is_plain
        least, part, times = self.likelihood.least_evidence, 0, 1.0
        length = sum([self.times[at] for at in range(start, end)]) if self.is_tfidf else 0
        for at in range(start, end):
            place = places[at]
            is_known = False
            low, high = inf, -inf
            for k in range(label_count):
                count = counts[place, first + k]
                if k == left_out and count:
                    count -= 1
                if count:
                    is_known = True
                if is_plain and count < MOST_KNOWN:
                    weight = (logs[count] - log_denominators[k] + GRID) - GRID
                else:
                    weight = self.uncommon_weight(place, k, count)
                weights[k] = weight
                if weight < low:
                    low = weight
                if weight > high:
                    high = weight
            if not is_known or (0.0 if low == high else high - low) < least:
                continue
            if self.splits:
                part = self.parts[at]
            if self.is_tfidf:
                times = self.times[at] / length * self.likelihood.idf(self.row(place))
            elif self.has_times:
                times = self.times[at]
            self.strong[part] += 1
            for k in range(label_count):
                weight = weights[k]
                if times != 1.0:
                    weight = ((weight * times + GRID) - GRID) if times else 0.0  # not infinite either
                total = rests[part, k] + weight
                if -MOST_REST < total < MOST_REST:
                    rests[part, k] = total
                else:
                    self.add_large(part, k, weight)

    def sum_apart(self, start: int, end: int, left_out: int, places: Any, counts: Any) -> None:
        """Sum what tells spam from the rest, and what tells the other labels apart, exactly."""
        weights, label_count, spam, part = self.weights, self.label_count, self.spam_apart, 0
        least = self.likelihood.least_evidence
        self.strong_among_others[:] = 0
        for at in range(start, end):
            place, rest, of_spam = places[at], 0, 0
            low, high = inf, -inf
            for k in range(label_count):
                count = counts[place, k]
                if k == left_out and count:
                    count -= 1
                weight = weights[k] = self.plain_weight(k, count)
                if k == spam:
                    of_spam = count
                    continue
                rest += count
                low, high = min(low, weight), max(high, weight)
            in_rest = rest
            if self.likelihood.is_corrected:
                in_rest = self.likelihood.rightly_filed(label_count, rest, of_spam)
                weights[spam] = self.plain_weight(spam, self.likelihood.rightly_filed(spam, of_spam, rest))
            weights[label_count] = self.plain_weight(label_count, in_rest)
            if self.splits:
                part = self.parts[at]
            if (rest or of_spam) and abs(weights[spam] - weights[label_count]) >= least:
                self.strong[part] += 1
                self.add_large(part, spam, weights[spam])
                self.add_large(part, label_count, weights[label_count])
            if rest and high - low >= least:
                self.strong_among_others[part] += 1
                for k in range(label_count):
                    if k != spam:
                        self.add_large(part, k, weights[k])

    def plain_weight(self, label_index: int, count: int) -> float:
        """Return the weight of a token by a plain view."""
        if count < MOST_KNOWN:
            return (self.logs[count] - self.log_denominators[label_index] + GRID) - GRID
        return self.likelihood.log_weight(label_index, count, self.likelihood.epsilon)

    def uncommon_weight(self, place: int, label_index: int, count: int) -> float:
        """Return the weight of a token whose count is high, or by a view that is not plain."""
        if self.likelihood.is_global:
            return self.likelihood.weights(self.row(place))[label_index]
        return self.likelihood.log_weight(label_index, count, self.likelihood.epsilon)

    def row(self, place: int) -> Row:
        """Return the row of counts of a token."""
        return tuple([self.counts[place, at] for at in range(self.counts.shape[1])])

    def add_large(self, part: int, label_index: int, weight: float) -> None:
        """Add a weight that is large, or makes the rest of a sum large: whole nats go elsewhere."""
        if weight == inf:
            self.certain[label_index] += 1
        elif weight == -inf:
            self.wholes[part, label_index] = weight
        else:
            rest = self.rests[part, label_index]
            nats, more = (rest + WHOLE) - WHOLE, (weight + WHOLE) - WHOLE
            self.wholes[part, label_index] += nats + more
            self.rests[part, label_index] = (rest - nats) + (weight - more)

    def joint_for(self, label_index: int) -> float:
        """Return the log-joint as Classifier.score does, for one label."""
        if not self.is_averaged:
            one_is_absent = self.likelihood.certain_words[label_index] != self.certain[label_index]
            total = self.wholes[0, label_index] + self.rests[0, label_index]
            return -inf if one_is_absent else self.likelihood.background[label_index] + total
        return self.mean(0, label_index) + self.mean(1, label_index)

    def mean(self, part: int, label_index: int) -> float:
        """Return what Likelihood.averages does, for one part and one label."""
        strong = self.strong[part]
        if self.spam_apart != NO_LABEL and label_index not in (self.spam_apart, self.label_count):
            strong = self.strong_among_others[part]
        if not strong:
            return 0.0
        total = self.wholes[part, label_index] + self.rests[part, label_index]
        return total / (strong + self.damping)

    def left_out_joints(
        self, messages: Sequence[int], truth: Sequence[int], lone: Sequence[int] | None = None
    ) -> Array:
        """Return the log-joints [message, label] of messages of the table, each without its own counts.

        For views that average the presence of tokens as the default one does. `truth` has the label of each
        message of the rows that are open, `lone` how many more tokens it has that no other message has.
        """
        log_denominators = self.likelihood.log_denominators
        joints = []
        for message in messages:
            self.leave_out(message, truth[message], lone[message] if lone else 0, self.places, self.counts)
            joints.append(self.joint(message, truth[message]))
        self.likelihood.log_denominators = log_denominators
        self.renew()
        return np.array(joints, float).reshape(-1, self.label_count)

    def leave_out(self, message: int, label: int, lone: int, places: Any, counts: Any) -> None:
        """Take the likelihood's denominators without a message."""
        tokens, unique = lone, lone
        for at in range(self.starts[message], self.starts[message + 1]):
            total = 0
            for k in range(self.label_count):
                total += counts[places[at], k]
            tokens += total > 0
            unique += (total == 1) & (counts[places[at], label] == 1)
        likelihood = self.likelihood
        totals = likelihood.label_totals.copy()
        totals[label] -= tokens
        likelihood.log_denominators = likelihood.log_denominators_of(totals, likelihood.vocabulary - unique)
        self.renew()
