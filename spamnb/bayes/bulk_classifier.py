"""Scores of many messages, whose tokens are places in a count table; and tables as a view reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import MISSING, distinct_columns
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.scorer import Scorer
from spamnb.bayes.view import AT_ONCE, MOST_TERMS, NO_LABEL
from spamnb.grams import COUNTERS, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from spamnb.arrays import Array, Rows
    from spamnb.bayes.verdict import Score
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


FIRST_OF_HEAD = COUNTERS // 2  # counters below are for the body
LAST_TURN = 254  # then the bytes that turns are kept in begin anew


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

    The counts may change between two messages: then the likelihood's totals are updated.
    """

    def __init__(self, likelihood: Likelihood, counts: Array, gram_counts: Array) -> None:
        view = likelihood.view
        likelihood.keep_logarithms()
        self.likelihood = likelihood
        self.scorer = Scorer(likelihood)
        # Rows one behind the other: one index is checked faster than two. Interpreted, numpy's 32 bits
        # overflow, and its 16 and 8 below, but not those of `data`.
        self.counts, self.width = counts.reshape(-1).data, counts.shape[1]
        self.gram_counts = gram_counts.reshape(-1).data  # [counter, label], none if they are not counted
        self.has_grams = view.grams and len(gram_counts) > 0
        # By counter, when it was weighed, in this turn (if strong, one more) or before: a byte, as most are
        # weak and all bytes fit into a cache; and, if strong, the weights of two labels. A turn is for a
        # left-out label and a revision of the likelihood.
        self.turns = np.zeros(len(gram_counts), np.uint8).data
        self.gram_weights = np.empty(2 * len(gram_counts), np.int64).data
        self.waiting = [0] * 256  # counters that are to be weighed
        self.turn = 0
        self.turn_label, self.turn_revision = NO_LABEL, -1
        self.label_count = likelihood.label_count
        self.count_start = self.label_count if likelihood.is_multinomial else 0
        self.is_gaussian = view.event == "gaussian"
        self.is_tfidf = view.tfidf and view.damping is None

    @classmethod
    def of(cls, table: Table, view: View) -> BulkClassifier:
        counts = counts_by_token(view, table.message_counts, table.occurrence_counts)
        return cls(Likelihood(table, view), counts, narrowed(table.grams.T))

    def open(self, rows: Rows, counts: Array | None = None) -> None:
        """Take the messages that are scored next, and other counts, if these are given."""
        if counts is not None:
            self.counts = counts.reshape(-1).data
        self.starts, self.places = rows.starts, rows.places.astype(np.int32, copy=False).data
        self.times, self.parts = rows.times.data, rows.parts.data
        self.gram_starts, self.grams = rows.grams.starts, rows.grams.members.data
        has_numbers = self.likelihood.view.numbers
        self.numbers = [(name, values.tolist()) for name, values in rows.numbers.items() if has_numbers]

    def joints(self, rows: Rows) -> Array:
        """Return the log-joints [message, label]."""
        return np.array([score.joint for score in self.scores(rows)], float).reshape(-1, self.label_count)

    def scores(self, rows: Rows, counts: Array | None = None) -> list[Score]:
        """Score messages; the scores have no evidence."""
        self.open(rows, counts)
        return [self.score(message) for message in range(len(rows))]

    def score(self, message: int) -> Score:
        self.add(message, NO_LABEL, self.places, self.counts, self.parts)
        if not self.numbers:
            return self.scorer.score([])
        numbers = {name: values[message] for name, values in self.numbers if values[message] != MISSING}
        score = self.scorer.score([], (), numbers)
        score.evidence = []  # of numbers: like the others, this score goes to another process without
        return score

    def add(self, message: int, left_out: int, places: Any, counts: Any, parts: Any) -> None:
        """Add up the tokens of a message; if `left_out` is its label, the rows are taken without it."""
        scorer, first, width = self.scorer, self.count_start, self.width
        start = self.starts[message]
        end = start if self.is_gaussian else self.starts[message + 1]
        scorer.clear()
        if scorer.is_of_two:
            own, others = left_out == 0, left_out == 1
            while start < end:
                size = min(AT_ONCE, end - start)
                for at in range(size):
                    place = first + width * places[start + at]
                    count, other = counts[place], counts[place + 1]
                    scorer.counts[at] = count - own * (count >= own)
                    scorer.other_counts[at] = other - others * (other >= others)
                    scorer.parts[at] = parts[start + at]
                scorer.compare_all(size)
                start += size
        else:
            length = sum([self.times[at] for at in range(start, end)]) if self.is_tfidf else 0
            for at in range(start, end):
                for k in range(self.label_count):
                    count = counts[width * places[at] + first + k]
                    scorer.row[k] = count - ((k == left_out) & (count > 0))
                times = self.times[at] if first else 1.0
                if length:
                    times = self.times[at] / length * self.likelihood.idf(self.row(places[at]))
                scorer.add(times, parts[at])
        if self.has_grams and scorer.grams:
            self.add_grams(scorer.grams, message, left_out, self.grams, self.gram_counts)

    def add_grams(self, scorer: Scorer, message: int, left_out: int, grams: Any, counts: Any) -> None:
        """Add up the grams of a message, as `add` does its tokens."""
        start, end = self.gram_starts[message], self.gram_starts[message + 1]
        if scorer.is_of_two:
            for at in range(start, end, MOST_TERMS):
                self.add_run(scorer, at, min(end, at + MOST_TERMS), left_out, grams, counts)
        else:
            for at in range(start, end):
                counter = grams[at]
                for k in range(self.label_count):
                    count = counts[self.label_count * counter + k]
                    scorer.row[k] = count - ((k == left_out) & (count > 0))
                scorer.add(1.0, part_of(counter))

    def add_run(self, scorer: Scorer, start: int, end: int, left_out: int, grams: Any, counts: Any) -> None:
        """Add up grams that two labels have. A counter is weighed when it is met first, and then known."""
        revision = scorer.likelihood.revision
        if self.turn_label != left_out or self.turn_revision != revision:
            self.turn_label, self.turn_revision = left_out, revision
            self.turn += 2
            if self.turn > LAST_TURN:
                self.turn, self.turns = 2, np.zeros(len(self.turns), np.uint8).data
        turn, turns, weights = self.turn, self.turns, self.gram_weights
        own, others = left_out == 0, left_out == 1
        size = strong = sum_of_weights = sum_of_others = 0
        in_head = head_weights = head_others = 0
        for at in range(start, end):
            counter = grams[at]
            place, state = 2 * counter, turns[counter]
            if state < turn:  # not yet weighed
                count, other = counts[place], counts[place + 1]
                scorer.counts[size] = count - own * (count >= own)
                scorer.other_counts[size] = other - others * (other >= others)
                scorer.parts[size] = part_of(counter)
                self.waiting[size] = counter
                size += 1
                if size == AT_ONCE:
                    self.weigh(scorer, size, turns, weights)
                    size = 0
            elif state > turn and counter < FIRST_OF_HEAD:
                strong += 1
                sum_of_weights += weights[place]
                sum_of_others += weights[place + 1]
            elif state > turn:
                in_head += 1
                head_weights += weights[place]
                head_others += weights[place + 1]
        self.weigh(scorer, size, turns, weights)
        scorer.add_sums(1, in_head, head_weights, head_others)
        scorer.add_sums(0, strong, sum_of_weights, sum_of_others)

    def weigh(self, scorer: Scorer, size: int, turns: Any, weights: Any) -> None:
        """Add up grams that were not known, and remember their weights."""
        scorer.compare_all(size)
        for at in range(size):
            counter = self.waiting[at]
            turns[counter] = self.turn + scorer.are_strong[at]
            if scorer.are_strong[at]:
                weights[2 * counter], weights[2 * counter + 1] = (
                    scorer.strong_weights[at],
                    scorer.other_weights[at],
                )

    def row(self, place: int) -> Row:
        """Return in how many messages of each label a token is."""
        return tuple([self.counts[self.width * place + k] for k in range(self.label_count)])

    def left_out_joints(
        self, messages: Sequence[int], truth: Sequence[int], lone: Sequence[int] | None = None
    ) -> Array:
        """Return the log-joints [message, label] of messages of the table, each without its own counts.

        For views that average the presence of tokens as the default one does. `truth` has the label of each
        message of the rows that are open, `lone` how many more tokens it has that no other message has.
        """
        joints = []
        for message in messages:
            unique = lone[message] if lone else 0
            self.leave_out(message, truth[message], unique, self.places, self.counts)
            self.add(message, truth[message], self.places, self.counts, self.parts)
            joints.append(self.scorer.joint())
        for likelihood in (self.likelihood, self.likelihood.grams):
            if likelihood:
                likelihood.set_denominators(likelihood.label_totals, likelihood.vocabulary)
        return np.array(joints, float).reshape(-1, self.label_count)

    def leave_out(self, message: int, label: int, unique: int, places: Any, counts: Any) -> None:
        """Take the likelihood's denominators without a message, and so many tokens of its own alone."""
        tokens = unique
        width, label_count = self.width, self.label_count  # two or more
        start, end = self.starts[message], self.starts[message + 1]
        for at in range(start, end):
            place = width * places[at]
            total = counts[place] + counts[place + 1]
            for k in range(2, label_count):
                total += counts[place + k]
            tokens += total > 0
            unique += (total == 1) & (counts[place + label] == 1)
        totals = self.likelihood.label_totals.copy()
        totals[label] -= tokens
        self.likelihood.set_denominators(totals, self.likelihood.vocabulary - unique)
        grams = self.likelihood.grams
        if grams:
            totals = grams.label_totals.copy()
            totals[label] -= 1
            grams.set_denominators(totals, grams.vocabulary)
