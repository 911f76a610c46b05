"""The count table: all that is ever learned, and all that is needed to forget it again.

A model is a table of raw integer counts, and count tables add and subtract. For each token and label: in how
many messages it is, and how often. For each pair of neighbouring words: in how many messages. For each label:
how many messages. For each numeric feature and label: n, Σx, Σx². So learning a message is adding its table,
forgetting is subtracting it, and training on many machines is a sum, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import changes, distinct_columns, order_of, range_of, texts_at
from spamnb.tables.learned import Learned, in_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spamnb.arrays import Array
    from spamnb.store.counts import Pair, Row, Token

    Numbers = dict[str, list[list[int | float]]]  # of each numeric feature and label: n, Σx, Σx²

LARGEST = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts in numpy columns: an entry for each token, in order of the tokens' fingerprints.

    A pair of neighbours is a token without text and without occurrences.
    """

    labels: tuple[str, ...]
    messages: tuple[int, ...]  # of each label
    numbers: Numbers
    fingerprints: Array
    ends: Array  # where each token's text ends in `text`
    text: Array
    message_counts: Array  # [label, token] messages that have the token
    occurrence_counts: Array  # [label, token] how often it occurs in them
    days: Array  # day last seen, counted from 1970
    learned: Learned = field(default_factory=lambda: Learned.of([], []))
    since: Array | None = None  # day first seen; None: all on the day they were last seen

    @classmethod
    def empty(cls, labels: Sequence[str]) -> CountTable:
        none = np.empty((len(labels), 0), np.int32)
        return cls(
            tuple(labels),
            (0,) * len(labels),
            {},
            np.empty(0, np.uint64),
            np.empty(0, np.int64),
            np.empty(0, np.uint8),
            none,
            none,
            np.empty(0, np.uint16),
        )

    @classmethod
    def of_message(
        cls,
        labels: Sequence[str],
        label: str,
        tokens: Sequence[Token],
        numbers: Mapping[str, int | float] | None = None,
        pairs: Sequence[Pair] = (),
    ) -> CountTable:
        """Count one message: its tokens, its numeric features and its pairs of neighbours."""
        own, many = list(labels).index(label), len(labels)
        entries = sorted([(number, times) for number, times, _ in tokens] + [(pair[0], 0) for pair in pairs])
        message_counts, occurrence_counts = np.zeros((2, many, len(entries)), np.int32)
        message_counts[own] = 1
        occurrence_counts[own] = [times for _, times in entries]
        return cls(
            tuple(labels),
            tuple(int(place == own) for place in range(many)),
            {
                name: [[1, x, x * x] if place == own else [0, 0, 0] for place in range(many)]
                for name, x in (numbers or {}).items()
            },
            np.array([number for number, _ in entries], np.uint64),
            np.zeros(len(entries), np.int64),
            np.empty(0, np.uint8),
            message_counts,
            occurrence_counts,
            np.zeros(len(entries), np.uint16),
        )

    def __len__(self) -> int:
        return len(self.fingerprints)

    def __add__(self, other: CountTable) -> CountTable:
        return sum_tables([self, other])

    def __sub__(self, other: CountTable) -> CountTable:
        if other.fingerprints is not self.fingerprints:
            return sum_tables([self, replace(other.times(-1), learned=Learned.of([], []))])
        return replace(
            self,
            messages=tuple(a - b for a, b in zip(self.messages, other.messages, strict=True)),
            numbers=summed_numbers([self.numbers, _times(-1, other.numbers)]),
            message_counts=self.message_counts - other.message_counts,
            occurrence_counts=self.occurrence_counts - other.occurrence_counts,
        )

    @property
    def first_days(self) -> Array:
        return self.days if self.since is None else self.since

    @property
    def words(self) -> Array:
        """Which tokens are no pairs."""
        return np.any(self.occurrence_counts, axis=0)

    @property
    def presences(self) -> list[int]:
        """Per label, messages containing a word summed over all words: n_c of binary counts."""
        return self._total(self.message_counts, self.words)

    @property
    def occurrences(self) -> list[int]:
        """Per label, the number of word positions: the textbooks' n_c."""
        return self._total(self.occurrence_counts, self.words)

    @property
    def vocabulary(self) -> int:
        return int(self.words.sum())

    @property
    def pair_presences(self) -> list[int]:
        return self._total(self.message_counts, ~self.words)

    @property
    def pair_vocabulary(self) -> int:
        return int((self.message_counts.any(axis=0) & ~self.words).sum())

    def _total(self, counts: Array, chosen: Array) -> list[int]:
        return [int(row.sum(dtype=np.int64, where=chosen)) for row in counts]

    def histogram(self) -> dict[tuple[int, ...], int]:
        """How many words share the same messages per label: Bernoulli's absent words, in brief."""
        patterns, which = distinct_columns(self.message_counts[:, self.words])
        tokens = np.bincount(which, minlength=patterns.shape[1]).tolist()
        return dict(zip(zip(*patterns.tolist(), strict=True), tokens, strict=True))

    def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """The counts of those tokens that are known."""
        places = self.places(np.array(fingerprints, np.uint64)).tolist()
        return {
            number: (*self.message_counts[:, at].tolist(), *self.occurrence_counts[:, at].tolist())
            for number, at in zip(fingerprints, places, strict=True)
            if at >= 0 and self.occurrence_counts[:, at].any()
        }

    def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """The counts of those pairs of neighbours that are known."""
        places = self.places(np.array(fingerprints, np.uint64)).tolist()
        return {
            number: tuple(self.message_counts[:, at].tolist())
            for number, at in zip(fingerprints, places, strict=True)
            if at >= 0 and not self.occurrence_counts[:, at].any()
        }

    def tokens(self, places: Iterable[int]) -> list[str]:
        """The text of some tokens."""
        text = self.text.tobytes() if len(self.text) < 1 << 26 else self.text
        starts = np.concatenate(([0], self.ends))
        return [bytes(text[starts[at] : self.ends[at]]).decode() for at in places]

    def places(self, fingerprints: Array) -> Array:
        """Where tokens of these fingerprints stand, -1 for an unknown one."""
        if not len(self):
            return np.full(len(fingerprints), -1)
        at = np.minimum(np.searchsorted(self.fingerprints, fingerprints), len(self) - 1)
        return np.where(self.fingerprints[at] == fingerprints, at, -1)

    def only(self, kept: Array) -> CountTable:
        """The table without some of its tokens (a mask of those that stay)."""
        if kept.all():
            return self
        lengths = np.diff(self.ends, prepend=0)
        starts = (self.ends - lengths)[kept]
        return replace(
            self,
            fingerprints=self.fingerprints[kept],
            ends=np.cumsum(lengths[kept]),
            text=texts_at(self.text, starts, lengths[kept]),
            message_counts=self.message_counts[:, kept],
            occurrence_counts=self.occurrence_counts[:, kept],
            days=self.days[kept],
            since=self.first_days[kept],
        )

    def shard(self, shard: int, shards: int) -> CountTable:
        """The tokens in one of so many equal ranges of fingerprints, without the messages learned.

        What is counted by messages belongs to the first shard, so that shards add up to the whole.
        """
        lowest, behind = range_of(shard, shards)
        first = int(np.searchsorted(self.fingerprints, np.uint64(lowest)))
        end = int(np.searchsorted(self.fingerprints, np.uint64(behind - 1), "right"))
        start = int(self.ends[first - 1]) if first else 0
        within = slice(first, end)
        own = replace(
            self,
            fingerprints=self.fingerprints[within].copy(),  # not a view: the rest is to go
            ends=self.ends[within] - start,
            text=self.text[start : int(self.ends[end - 1]) if end > first else start].copy(),
            message_counts=self.message_counts[:, within].copy(),
            occurrence_counts=self.occurrence_counts[:, within].copy(),
            days=self.days[within].copy(),
            since=self.first_days[within].copy(),
            learned=Learned.of([], []),
        )
        return own.counted_in(shard)

    def counted_in(self, shard: int) -> CountTable:
        return self if shard == 0 else replace(self, messages=(0,) * len(self.labels), numbers={})

    def times(self, factor: int) -> CountTable:
        """Counted so often; less than once, to be taken away. Its days say nothing any more."""
        return replace(
            self,
            messages=tuple(factor * count for count in self.messages),
            numbers=_times(factor, self.numbers),
            message_counts=_narrowed(factor * self.message_counts.astype(np.int64)),
            occurrence_counts=_narrowed(factor * self.occurrence_counts.astype(np.int64)),
        )

    def counts(self, fingerprints: Array) -> tuple[Array, Array]:
        """Messages and occurrences [label, token] of some tokens; 0 of an unknown one."""
        places = self.places(fingerprints)
        known = places >= 0
        if not len(self):
            none = np.zeros((len(self.labels), len(fingerprints)), np.int32)
            return none, none
        return self.message_counts[:, places] * known, self.occurrence_counts[:, places] * known

    def settled(self) -> CountTable:
        """Nothing below zero, no token that nothing is left of, and no word that no longer occurs.

        A message may be forgotten twice, or after some of its words were pruned: no harm.
        """
        message_counts = np.maximum(self.message_counts, 0)
        words = self.words | (np.diff(self.ends, prepend=0) > 0)
        settled = replace(
            self,
            messages=tuple(max(0, many) for many in self.messages),
            numbers={
                name: [sums if sums[0] > 0 else [0, 0, 0] for sums in by_label]
                for name, by_label in self.numbers.items()
            },
            message_counts=message_counts,
            occurrence_counts=np.maximum(self.occurrence_counts, message_counts * words),
        )
        left: Array = np.any(message_counts, axis=0)
        return settled.only(left)

    def relabelled(self, labels: Sequence[str]) -> CountTable:
        """The same table with more labels, or in another order."""
        if tuple(labels) == self.labels:
            return self
        places = [labels.index(label) for label in self.labels]

        def spread(rows: Array) -> Array:
            wide = np.zeros((len(labels), len(self)), rows.dtype)
            wide[places] = rows
            return wide

        messages = [0] * len(labels)
        numbers: Numbers = {name: [[0, 0, 0] for _ in labels] for name in self.numbers}
        for old, new in enumerate(places):
            messages[new] = self.messages[old]
            for name, by_label in self.numbers.items():
                numbers[name][new] = list(by_label[old])
        return replace(
            self,
            labels=tuple(labels),
            messages=tuple(messages),
            numbers=numbers,
            message_counts=spread(self.message_counts),
            occurrence_counts=spread(self.occurrence_counts),
            learned=self.learned.relabelled(places),
        )


def sum_tables(tables: Sequence[CountTable]) -> CountTable:
    """The sum of tables, and what was learned in turn."""
    labels = tuple(dict.fromkeys(label for table in tables for label in table.labels))
    tables = [table.relabelled(labels) for table in tables]
    if len(tables) == 1:
        return tables[0]
    fingerprints = np.concatenate([table.fingerprints for table in tables])
    order = order_of(fingerprints)
    fingerprints = fingerprints[order]
    first = np.flatnonzero(changes(fingerprints))

    def summed(name: str) -> Array:
        """Label by label, for the sake of memory."""
        if not len(first):
            return tables[0].message_counts[:, :0]
        columns = zip(*(getattr(table, name) for table in tables), strict=True)
        ordered = (np.concatenate(column)[order] for column in columns)
        return np.stack([_narrowed(np.add.reduceat(column, first, dtype=np.int64)) for column in ordered])

    message_counts, occurrence_counts = summed("message_counts"), summed("occurrence_counts")
    days = np.concatenate([table.days for table in tables])[order]
    since = np.concatenate([table.first_days for table in tables])[order]
    if len(first):
        days, since = np.maximum.reduceat(days, first), np.minimum.reduceat(since, first)
    filled = message_counts.any(axis=0) | occurrence_counts.any(axis=0)
    left: Any = slice(None) if filled.all() else filled
    fingerprints = fingerprints[first][left]
    ends, text = _gathered(tables, order[first][left])
    return CountTable(
        labels,
        tuple(sum(column) for column in zip(*(table.messages for table in tables), strict=True)),
        summed_numbers(table.numbers for table in tables),
        fingerprints,
        ends,
        text,
        message_counts[:, left],
        occurrence_counts[:, left],
        days[left],
        in_turn([table.learned for table in tables]),
        since[left],
    )


def _gathered(tables: Sequence[CountTable], chosen: Array) -> tuple[Array, Array]:
    """The text of the chosen tokens, numbered through all tables, one behind the other."""
    offsets = np.cumsum([0, *(len(table.text) for table in tables)])
    ends = np.concatenate([table.ends + offset for table, offset in zip(tables, offsets, strict=False)])
    lengths = np.diff(ends, prepend=0).astype(np.int32)
    text = np.concatenate([table.text for table in tables])
    ends, lengths = ends[chosen], lengths[chosen]
    return np.cumsum(lengths), texts_at(text, ends - lengths, lengths)


def _narrowed(sums: Array) -> Array:
    """As 32 bits where they fit: the tables of most are a third of the memory."""
    fits = sums.max(initial=0) <= LARGEST and sums.min(initial=0) >= -LARGEST
    return sums.astype(np.int32) if fits else sums


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


def _times(factor: int, numbers: Numbers) -> Numbers:
    return {name: [[factor * x for x in sums] for sums in by_label] for name, by_label in numbers.items()}
