"""The views of `bayes` over many messages at once. Tests hold both to the same numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes import classifier as bayes
from spamnb.bayes.view import GLOBAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.bayes.view import View
    from spamnb.store.table import Sums
    from spamnb.tables.count_table import Array

BLOCK = 500  # messages left out at once: bounds the arrays of their entries
TINY = 1e-300  # in place of zero, where nothing is left
MISSING = -1  # of a numeric feature; those that are there are not negative


@dataclass(frozen=True, eq=False)
class Rows:
    """Messages as the places of their tokens in some vocabulary (-1: unknown), and how often each occurs."""

    starts: Array  # of each message's row, and the end of the last
    places: Array
    times: Array  # 0 for a pair of neighbours
    parts: Array  # which part of the message each stands in
    numbers: Mapping[str, Array]  # values, MISSING where there is none

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Array:
        return np.diff(self.starts)

    def chosen(self, messages: Array) -> Rows:
        """Some of the messages, in the order given."""
        lengths = self.lengths[messages]
        ends = np.cumsum(lengths)
        entries = np.repeat(self.starts[messages] - ends + lengths, lengths) + np.arange(lengths.sum())
        return Rows(
            np.concatenate(([0], ends)),
            self.places[entries],
            self.times[entries],
            self.parts[entries],
            {name: values[messages] for name, values in self.numbers.items()},
        )

    def emptied(self) -> Rows:
        """As many messages without tokens."""
        none = slice(0, 0)
        return replace(
            self,
            starts=0 * self.starts,
            places=self.places[none],
            times=self.times[none],
            parts=self.parts[none],
        )

    def renumbered(self, places: Array) -> Rows:
        """The same messages in another vocabulary: where each token of this one stands in that."""
        return replace(self, places=places[self.places] if len(places) else self.places)

    def summed(self, values: Array) -> Array:
        """The sum over each message of values [label, entry]."""
        sums = np.zeros((len(values), len(self)))
        filled = np.flatnonzero(self.lengths)  # reduceat gives an empty row its neighbour's first entry
        if len(filled):
            sums[:, filled] = np.add.reduceat(values, self.starts[filled], axis=1)
        return sums


def stacked(pieces: Sequence[Rows]) -> Rows:
    """Messages of several pieces, one after the other, in one vocabulary."""
    names = dict.fromkeys(name for piece in pieces for name in piece.numbers)
    return Rows(
        np.cumsum(np.concatenate([np.zeros(1, np.int64), *(piece.lengths for piece in pieces)])),
        np.concatenate([np.empty(0, np.int32), *(piece.places for piece in pieces)]),
        np.concatenate([np.empty(0, np.uint16), *(piece.times for piece in pieces)]),
        np.concatenate([np.empty(0, np.uint8), *(piece.parts for piece in pieces)]),
        {
            name: np.concatenate([p.numbers.get(name, np.full(len(p), MISSING)) for p in pieces])
            for name in names
        },
    )


@dataclass(frozen=True, eq=False)
class Table:
    """Counts [label, token], and of the whole table the totals [label, 1]."""

    containing: Array
    occurring: Array
    messages: Array
    presences: Array
    occurrences: Array
    vocabulary: int
    sums: Mapping[str, Sequence[Sums]]

    @classmethod
    def whole(
        cls,
        view: View,
        containing: Array,
        occurring: Array,
        messages: Sequence[int],
        sums: Mapping[str, Sequence[Sums]],
    ) -> Table:
        """A table as a view wants it: the textbooks' know words only, pairs count as unknown."""
        if not view.pairs:
            containing = containing * occurring.any(axis=0)
        return cls(
            containing,
            occurring,
            np.array(messages, float)[:, None],
            containing.sum(axis=1, dtype=float)[:, None],
            occurring.sum(axis=1, dtype=float)[:, None],
            int(containing.any(axis=0).sum()),
            sums,
        )


@dataclass(frozen=True, eq=False)
class Weights:
    """Classifier.weights in bulk. Logs of zero are counted, not added: they can be taken back."""

    finite: Array  # [label, token]
    zeros: Array  # [label, token] how many factors of zero the token brings
    telling: Array  # [token] known, and strong enough to count

    @classmethod
    def of(cls, view: View, table: Table) -> Weights:
        p = probabilities(view, table)
        finite, zeros = _log(p), (p <= 0).astype(np.int8)
        if view.event == "bernoulli":
            finite = finite - _log(1 - p)
            zeros = zeros - (p >= 1)
        telling: Array = np.any(table.containing, axis=0)
        if view.least_evidence:
            strength = finite.max(axis=0) - finite.min(axis=0)
            strength[zeros.max(axis=0) > zeros.min(axis=0)] = np.inf
            telling = telling & (strength >= view.least_evidence)
        return cls(finite, zeros, telling)

    def at(self, places: Array) -> Weights:
        """The weights of each entry; an unknown token tells nothing."""
        return Weights(self.finite[:, places], self.zeros[:, places], self.telling[places] & (places >= 0))


def probabilities(view: View, table: Table) -> Array:
    """P(token | label): Classifier.probabilities in bulk."""
    if view.event == "multinomial":
        counts, whole = table.occurring, table.occurrences
    elif view.event == "bernoulli":
        counts, whole = table.containing, table.messages
    else:
        counts, whole = table.containing, table.presences
    if view.smoothing == GLOBAL:
        epsilon = counts.sum(axis=0) / np.maximum(1.0, whole.sum(axis=0))
        room = 2 * epsilon if view.event == "bernoulli" else np.ones(1)
    else:
        epsilon = np.array(float(view.smoothing))
        room = epsilon * (2 if view.event == "bernoulli" else table.vocabulary)
    whole = whole + room
    return np.divide(counts + epsilon, whole, out=np.zeros(counts.shape), where=whole > 0)


class BulkClassifier:
    """Classifier for many messages, whose tokens stand in the table's vocabulary."""

    def __init__(self, labels: Sequence[str], view: View, table: Table) -> None:
        self.view = view
        self.table = table
        self.weights = Weights.of(view, table)
        self.background, self.background_zeros = _background(labels, view, table)

    def joints(self, rows: Rows) -> Array:
        """Log-joints [message, label]."""
        view = self.view
        if not self.table.containing.shape[1]:
            rows = rows.emptied()
        here = self.weights.at(rows.places)
        if view.silent is not None:
            joint = averaged(view, here.finite, here.telling, rows)
        elif view.event == "gaussian":
            joint = self.background + np.zeros(len(rows))
        else:
            times = _repeats(view, self.table, rows)
            joint = self.background + rows.summed(here.finite * (here.telling * times))
            zeros = self.background_zeros + rows.summed(here.zeros * (here.telling & (times > 0)))
            joint = np.where(zeros > 0, -np.inf, joint)
        return (joint + _numeric(view, self.table, rows)).T


def averaged(view: View, weights: Array, telling: Array, rows: Rows) -> Array:
    """Per label the mean weight of the telling tokens of a message, or of each of its parts, added up."""
    joint = np.zeros((len(weights), len(rows)))
    for part in range(1 + int(rows.parts.max(initial=0))) if view.apart else (None,):
        here = telling if part is None else telling & (rows.parts == part)
        count = rows.summed(here[None].astype(float))
        joint += rows.summed(weights * here) / np.maximum(count + (view.silent or 0.0), TINY)
    return joint


class LeftOut:
    """Scores, the second label against the first, of messages of a table, each without its own counts.

    For two labels, and views that average the presence of tokens as the default one does. What a token says
    without the message depends on the message's label alone, so it is looked up; only the totals differ.
    """

    def __init__(self, view: View, table: Table) -> None:
        self.view = view
        self.table = table
        self.epsilon = float(view.smoothing)
        self.said = np.concatenate([_without_one(table, label, self.epsilon) for label in (0, 1)])
        self.counted: Array = np.any(table.containing, axis=0)  # all, unless the view leaves pairs aside

    def scores(self, rows: Rows, truth: Array) -> Array:
        """Of some messages, whose labels these are."""
        blocks = (np.arange(at, min(at + BLOCK, len(rows))) for at in range(0, len(rows), BLOCK))
        return np.concatenate(
            [np.empty(0), *(self._scores(rows.chosen(block), truth[block]) for block in blocks)]
        )

    def _scores(self, rows: Rows, truth: Array) -> Array:
        view, table, own = self.view, self.table, truth.astype(np.int64)
        odds = self.said[rows.places + np.repeat(own * table.containing.shape[1], rows.lengths)]
        counted = self.counted[rows.places]
        alone = rows.summed((counted & np.isnan(odds))[None])[0]  # tokens that no other message has
        totals = np.repeat(table.presences, len(rows), axis=1)
        totals[own, np.arange(len(rows))] -= rows.summed(counted[None])[0]
        first, second = np.log(np.maximum(totals + self.epsilon * (table.vocabulary - alone), TINY))
        weights = odds - np.repeat(second - first, rows.lengths)
        with np.errstate(invalid="ignore"):
            telling: Array = np.abs(weights) >= view.least_evidence
        return averaged(view, np.nan_to_num(weights)[None], telling, rows)[0]


def _without_one(table: Table, label: int, epsilon: float) -> Array:
    """The log-odds of each token's counts where a label has one message less of it; NaN if none is left."""
    first, second = (np.maximum(0, table.containing[k] - (k == label)) for k in (0, 1))
    odds = np.log(np.maximum(second + epsilon, TINY)) - np.log(np.maximum(first + epsilon, TINY))
    return np.where(first + second > 0, odds, np.nan)


def _background(labels: Sequence[str], view: View, table: Table) -> tuple[Array, Array]:
    """The prior, and for Bernoulli all words taken as absent."""
    shares = np.array(bayes.prior(labels, table.messages[:, 0].tolist(), view.prior))[:, None]
    joint, zeros = _log(shares), (shares <= 0).astype(int)
    if view.event == "bernoulli":
        p = probabilities(view, table)[:, table.containing.any(axis=0)]
        joint = joint + _log(1 - p).sum(axis=1, keepdims=True)
        zeros = zeros + (p >= 1).sum(axis=1, keepdims=True)
    return joint, zeros


def _repeats(view: View, table: Table, rows: Rows) -> Array:
    """How often each entry counts."""
    if view.tfidf:
        containing = np.maximum(1, table.containing.sum(axis=0))[rows.places]
        idf = np.log(table.messages.sum() / containing)
        lengths = np.maximum(1, rows.summed(rows.times[None].astype(float))[0])
        return rows.times / np.repeat(lengths, rows.lengths) * idf
    return rows.times.astype(float) if view.event == "multinomial" else np.ones(1)


def _numeric(view: View, table: Table, rows: Rows) -> Array:
    total = np.zeros((len(table.messages), len(rows)))
    if view.numbers:
        for name, values in rows.numbers.items():
            densities = bayes.gaussians(table.sums.get(name, ()))
            for place, (mean, variance) in enumerate(densities):
                density = -0.5 * (np.log(2 * np.pi * variance) + (values - mean) ** 2 / variance)
                total[place] += np.where(values == MISSING, 0.0, density)
    return total


def _log(p: Array) -> Array:
    """The logarithm, 0 standing for that of zero: those are counted elsewhere."""
    return np.log(p, out=np.zeros(p.shape), where=p > 0)
