"""Sums over a whole table, or over a part of one: those of the parts add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bayes.scoring import Table
from spamnb.tables.sorting import changes, order_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.view import View
    from spamnb.tables.count_table import Columns

    Array = np.ndarray[Any, Any]
    Numbers = dict[str, list[list[int | float]]]

KEY_BITS = 63  # of one number that stands for the counts of a token


@dataclass(frozen=True, eq=False)
class Totals:
    messages: Array  # [label], as all that follow
    presences: Array
    occurrences: Array
    pair_presences: Array
    vocabulary: int
    pair_vocabulary: int
    text: int  # bytes of all tokens
    most: int  # the highest count of a token
    most_of_pairs: int
    numbers: Numbers
    patterns: Array  # [label, n] different numbers of messages
    alike: Array  # how many tokens have each

    @classmethod
    def of(cls, table: Columns) -> Totals:
        words = table.words
        containing, of_pairs = table.containing[:, words], table.containing[:, ~words]
        patterns, alike = distinct(containing, np.ones(containing.shape[1], np.int64))
        return cls(
            np.array(table.messages, np.int64),
            containing.sum(axis=1, dtype=np.int64),
            table.occurring.sum(axis=1, dtype=np.int64),
            of_pairs.sum(axis=1, dtype=np.int64),
            containing.shape[1],
            of_pairs.shape[1],
            len(table.text),
            max(int(containing.max(initial=0)), int(table.occurring.max(initial=0))),
            int(of_pairs.max(initial=0)),
            table.numbers,
            patterns,
            alike,
        )

    def table(self, view: View, containing: Array, occurring: Array) -> Table:
        """Some columns of the whole table, as a view wants them."""
        presences, vocabulary = self.presences, self.vocabulary
        if view.pairs:
            presences, vocabulary = presences + self.pair_presences, vocabulary + self.pair_vocabulary
        else:
            containing = containing * occurring.any(axis=0)
        return Table(
            containing,
            occurring,
            self.messages.astype(float)[:, None],
            presences.astype(float)[:, None],
            self.occurrences.astype(float)[:, None],
            vocabulary,
            self.numbers,
        )


def summed(parts: Sequence[Totals]) -> Totals:
    patterns, alike = distinct(
        np.concatenate([part.patterns for part in parts], axis=1),
        np.concatenate([part.alike for part in parts]),
    )

    def of(name: str) -> Any:
        return sum(getattr(part, name) for part in parts)

    return Totals(
        of("messages"),
        of("presences"),
        of("occurrences"),
        of("pair_presences"),
        of("vocabulary"),
        of("pair_vocabulary"),
        of("text"),
        max(part.most for part in parts),
        max(part.most_of_pairs for part in parts),
        summed_numbers(part.numbers for part in parts),
        patterns,
        alike,
    )


def summed_numbers(tables: Iterable[Numbers]) -> Numbers:
    """Sums of numeric features; one that nothing is left of is left out."""
    total: Numbers = {}
    for numbers in tables:
        for name, by_label in numbers.items():
            rows = total.setdefault(name, [[0, 0, 0] for _ in by_label])
            for row, sums in zip(rows, by_label, strict=True):
                for i, x in enumerate(sums):
                    row[i] += x
    return {name: total[name] for name in sorted(total) if any(map(any, total[name]))}


def distinct(counts: Array, times: Array) -> tuple[Array, Array]:
    """The different columns of a table [label, token] in order, and how often each is there."""
    order = _order(counts)
    counts, times = counts[:, order], times[order]
    new = np.zeros(len(order), bool)
    for row in counts:
        new |= changes(row)
    first = np.flatnonzero(new)
    return counts[:, first], np.add.reduceat(times, first) if len(first) else times


def _order(counts: Array) -> Array:
    """By the first label, then by the second and so on: as one number each, where that is wide enough."""
    widths = [int(row.max(initial=0)).bit_length() for row in counts]
    if sum(widths) > KEY_BITS or counts.min(initial=0) < 0:
        return np.lexsort(counts[::-1])
    keys = np.zeros(counts.shape[1], np.uint64)
    for row, width in zip(counts, widths, strict=True):
        keys = (keys << np.uint64(width)) | row.astype(np.uint64)
    return order_of(keys)
