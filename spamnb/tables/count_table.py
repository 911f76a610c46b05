"""The count table: all that is ever learned, and all that is needed to forget it again.

A model is a table of raw integer counts, and count tables add and subtract. For each token and label: in how
many messages it is, and how often. For each pair of neighbouring words: in how many messages. For each label:
how many messages. For each numeric feature and label: n, Σx, Σx². So learning a message is adding its table,
forgetting is subtracting it, and training on many machines is a sum, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import Array, Sets, Texts, counted_columns, distinct, shard_range
from spamnb.core.native import COUNTERS, TableAdder
from spamnb.core.native import count_grams as add_grams
from spamnb.tables.learned import NOT_LEARNED, NOTHING_LEARNED, LearnedMessages, merge_learned

if TYPE_CHECKING:
    from spamnb.store.counts import Row

NumberSums = dict[str, list[list[int | float]]]  # of each numeric feature and label: n, Σx, Σx²


def add_sums(tables: Iterable[NumberSums]) -> NumberSums:
    """Add sums up; a feature whose sums are all zero is left out."""
    total: NumberSums = {}
    for numbers in tables:
        for name, by_label in numbers.items():
            rows = total.setdefault(name, [[0, 0, 0] for _ in by_label])
            for row, sums in zip(rows, by_label, strict=True):
                for i, x in enumerate(sums):
                    row[i] += x
    return {name: total[name] for name in sorted(total) if any(map(any, total[name]))}


def scale_sums(factor: int, numbers: NumberSums) -> NumberSums:
    """Multiply all sums by a whole number; by -1 to subtract them."""
    return {name: [[factor * x for x in sums] for sums in by_label] for name, by_label in numbers.items()}


LARGEST_INT32, LARGEST_UINT16 = (1 << 31) - 1, (1 << 16) - 1
NO_GRAMS: Array = np.empty((0, 0), np.int32)


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts in numpy columns: an entry for each token and each pair, in order of their fingerprints.

    A pair is an entry without text and without occurrences; all others are called words here.
    """

    labels: tuple[str, ...]
    messages: tuple[int, ...]  # of each label
    numbers: NumberSums
    fingerprints: Array
    texts: Texts
    message_counts: Array  # [label, token] messages that have the token
    occurrence_counts: Array  # [label, token] how often it occurs in them
    first_days: Array  # day a token was first seen, counted from 1970
    last_days: Array
    learned: LearnedMessages = NOTHING_LEARNED
    # [label, counter] messages that have a gram of the counter; nothing if grams are not counted
    grams: Array = field(default_factory=lambda: NO_GRAMS)

    @classmethod
    def empty(cls, labels: Sequence[str]) -> CountTable:
        counts, days = np.empty((len(labels), 0), np.int32), np.empty(0, np.uint16)
        messages = (0,) * len(labels)
        return cls(
            tuple(labels), messages, {}, np.empty(0, np.uint64), Texts.empty(0), counts, counts, days, days
        )

    def __len__(self) -> int:
        return len(self.fingerprints)

    def __add__(self, other: CountTable) -> CountTable:
        return sum_tables([self, other])

    def __sub__(self, other: CountTable) -> CountTable:
        """Take the counts of some messages away; which messages are learned stays as it is."""
        if other.fingerprints is not self.fingerprints:  # else the columns match, as those of folds
            return sum_tables([self, replace(other.scaled(-1), learned=NOTHING_LEARNED)])
        return replace(
            self,
            messages=tuple(a - b for a, b in zip(self.messages, other.messages, strict=True)),
            numbers=add_sums([self.numbers, scale_sums(-1, other.numbers)]),
            message_counts=self.message_counts - other.message_counts,
            occurrence_counts=self.occurrence_counts - other.occurrence_counts,
            grams=sum_grams([self.grams, -other.grams]),
        )

    @property
    def words(self) -> Array:
        """Mask of the tokens that are words, not pairs."""
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
        """Map messages per label to the number of words that have them: what Bernoulli's model needs."""
        patterns, tokens = counted_columns(self.message_counts[:, self.words])
        return dict(zip(zip(*patterns.tolist(), strict=True), tokens.tolist(), strict=True))

    def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """Look up the counts of words for one message; unknown ones are left out."""
        return {
            fingerprint: (*self.message_counts[:, at].tolist(), *self.occurrence_counts[:, at].tolist())
            for fingerprint, at in self._known(fingerprints)
            if self.occurrence_counts[:, at].any()
        }

    def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """Look up the counts of pairs of neighbours; unknown ones are left out."""
        return {
            fingerprint: tuple(self.message_counts[:, at].tolist())
            for fingerprint, at in self._known(fingerprints)
            if not self.occurrence_counts[:, at].any()
        }

    def counts_of_grams(self, counters: Sequence[int]) -> bytearray:
        """Look up the counts of a message's grams, label by label."""
        return bytearray(self.grams[:, counters].T.astype(np.uint64).tobytes())

    def _known(self, fingerprints: Sequence[int]) -> Iterator[tuple[int, int]]:
        places = self.places(np.array(fingerprints, np.uint64)).tolist()
        return ((fingerprint, at) for fingerprint, at in zip(fingerprints, places, strict=True) if at >= 0)

    def tokens(self, places: Iterable[int]) -> list[str]:
        """Texts of the tokens at some places."""
        return self.texts.decoded(places)

    def places(self, fingerprints: Array) -> Array:
        """Find the places of tokens in this table, -1 for an unknown one."""
        if not len(self):
            return np.full(len(fingerprints), -1)
        at = np.minimum(np.searchsorted(self.fingerprints, fingerprints), len(self) - 1)
        return np.where(self.fingerprints[at] == fingerprints, at, -1)

    def only(self, kept: Array) -> CountTable:
        """Drop tokens; `kept` is a mask of those that stay."""
        return self if kept.all() else self._entries(kept)

    def _entries(self, which: Array | slice) -> CountTable:
        """Choose entries: by a mask, by their places in order, or a slice, which shares memory with this."""
        return replace(
            self,
            fingerprints=self.fingerprints[which],
            texts=self.texts[which],
            message_counts=self.message_counts[:, which],
            occurrence_counts=self.occurrence_counts[:, which],
            first_days=self.first_days[which],
            last_days=self.last_days[which],
        )

    def shard(self, shard: int, shards: int) -> CountTable:
        """Slice one of `shards` equal ranges of fingerprints, without the messages learned."""
        lowest, behind = shard_range(shard, shards)
        first = int(np.searchsorted(self.fingerprints, np.uint64(lowest)))
        end = int(np.searchsorted(self.fingerprints, np.uint64(behind - 1), "right"))
        return replace(self._entries(slice(first, end)), learned=NOTHING_LEARNED).as_shard(shard)

    def as_shard(self, shard: int) -> CountTable:
        """Leave counts of messages, not of tokens, to the first shard, so that shards add up to the whole."""
        if shard == 0:
            return self
        return replace(self, messages=(0,) * len(self.labels), numbers={}, grams=NO_GRAMS)

    def scaled(self, factor: int) -> CountTable:
        """Multiply all counts by a whole number; by -1 to subtract the table. Its days mean nothing then."""
        return replace(
            self,
            messages=tuple(factor * count for count in self.messages),
            numbers=scale_sums(factor, self.numbers),
            message_counts=_narrowed(factor * self.message_counts.astype(np.int64)),
            occurrence_counts=_narrowed(factor * self.occurrence_counts.astype(np.int64)),
            grams=_narrowed(factor * self.grams.astype(np.int64)),
        )

    def clipped(self) -> CountTable:
        """Raise negative counts to zero, and drop tokens that are left in no message.

        Forgetting a message twice, or after some of its words were pruned, makes counts negative.
        """
        message_counts = np.maximum(self.message_counts, 0)
        words = self.words | (self.texts.lengths > 0)  # words of 0 occurrences have a text
        clipped = replace(
            self,
            messages=tuple(max(0, count) for count in self.messages),
            numbers={
                name: [sums if sums[0] > 0 and sums[2] >= 0 else [0, 0, 0] for sums in by_label]
                for name, by_label in self.numbers.items()
            },
            message_counts=message_counts,
            occurrence_counts=np.maximum(self.occurrence_counts, message_counts * words),
            grams=np.maximum(self.grams, 0),
        )
        return clipped.only(np.any(message_counts, axis=0))

    def relabelled(self, labels: Sequence[str]) -> CountTable:
        """Give the table more labels, fewer, or another order of them; labels of one name are added up."""
        if tuple(labels) == self.labels:
            return self
        indices = [labels.index(label) if label in labels else NOT_LEARNED for label in self.labels]

        def spread(rows: Array) -> Array:
            wide = np.zeros((len(labels), rows.shape[1]), rows.dtype)
            for new, row in zip(indices, rows, strict=True):
                if new != NOT_LEARNED:
                    wide[new] += row
            return wide

        messages = [0] * len(labels)
        numbers: NumberSums = {name: [[0, 0, 0] for _ in labels] for name in self.numbers}
        for old, new in enumerate(indices):
            if new == NOT_LEARNED:
                continue
            messages[new] += self.messages[old]
            for name, by_label in self.numbers.items():
                numbers[name][new] = [a + b for a, b in zip(numbers[name][new], by_label[old], strict=True)]
        return replace(
            self,
            labels=tuple(labels),
            messages=tuple(messages),
            numbers=numbers,
            message_counts=spread(self.message_counts),
            occurrence_counts=spread(self.occurrence_counts),
            learned=self.learned.relabelled(indices),
            grams=spread(self.grams) if self.grams.size else self.grams,
        )


def sum_tables(tables: Sequence[CountTable]) -> CountTable:
    """Add tables up. A message that several tables know has the label of the last one."""
    labels = tuple(dict.fromkeys(label for table in tables for label in table.labels))
    tables = [table.relabelled(labels) for table in tables]
    if len(tables) == 1:
        return tables[0]
    messages = tuple(sum(column) for column in zip(*(table.messages for table in tables), strict=True))
    numbers, grams = add_sums(table.numbers for table in tables), sum_grams([table.grams for table in tables])
    learned = merge_learned([table.learned for table in tables]).remaining()
    tables = [table for table in tables if len(table)] or tables[:1]
    if len(tables) == 1:
        return replace(tables[0], messages=messages, numbers=numbers, learned=learned, grams=grams)
    columns: list[Any] = [*_added_columns(tables, len(labels)), learned, grams]
    return CountTable(labels, messages, numbers, *columns)


def _added_columns(tables: Sequence[CountTable], label_count: int) -> tuple[Any, ...]:
    """Add up the columns of tables of the same labels, without tokens of which nothing is left."""
    if all(table.message_counts.dtype == table.occurrence_counts.dtype == np.int32 for table in tables):
        columns = [
            (
                table.fingerprints,
                table.texts.ends,
                table.texts.data,
                _in_rows(table.message_counts),
                _in_rows(table.occurrence_counts),
                table.first_days,
                table.last_days,
            )
            for table in tables
        ]
        found = TableAdder(columns, label_count).add_up()
        if found:
            fingerprints, ends, letters, *counts, first_days, last_days = found
            return (
                np.frombuffer(fingerprints, np.uint64),
                Texts(np.frombuffer(ends, np.int64), np.frombuffer(letters, np.uint8)),
                *(np.frombuffer(each, np.int32).reshape(label_count, -1) for each in counts),
                np.frombuffer(first_days, np.uint16),
                np.frombuffer(last_days, np.uint16),
            )
    return _added_large_columns(tables, label_count)


def _in_rows(counts: Array) -> Array:
    """Return counts whose rows are each in one piece: numpy puts chosen columns one behind the other."""
    return counts if counts.strides[1] == counts.itemsize else np.ascontiguousarray(counts)


def _added_large_columns(tables: Sequence[CountTable], label_count: int) -> tuple[Any, ...]:
    """Add up columns as `_added_columns` does, where 32 bits may not hold the sums."""
    fingerprints = np.concatenate([table.fingerprints for table in tables])
    firsts, places = distinct(fingerprints)

    def added(counts: list[Array]) -> Array:
        total = np.zeros((label_count, len(firsts)), np.int64)
        for row, own_rows in zip(total, zip(*counts, strict=True), strict=True):
            np.add.at(row, places, np.concatenate(own_rows))
        return total

    message_counts = added([table.message_counts for table in tables])
    occurrence_counts = added([table.occurrence_counts for table in tables])
    first_days, last_days = np.full(len(firsts), LARGEST_UINT16, np.uint16), np.zeros(len(firsts), np.uint16)
    np.minimum.at(first_days, places, np.concatenate([table.first_days for table in tables]))
    np.maximum.at(last_days, places, np.concatenate([table.last_days for table in tables]))
    filled = np.flatnonzero(message_counts.any(axis=0) | occurrence_counts.any(axis=0))
    return (
        fingerprints[firsts[filled]],
        Texts.joined([table.texts for table in tables])[firsts[filled]],  # of several, the first counts
        _narrowed(message_counts[:, filled]),
        _narrowed(occurrence_counts[:, filled]),
        first_days[filled],
        last_days[filled],
    )


def count_grams(grams: Sets, signs: Array) -> Array:
    """Count grams by signs [label, message]: 1 where a message is added to a label, -1 where taken away."""
    if not len(grams.members):
        return NO_GRAMS
    counts = np.zeros((len(signs), COUNTERS), np.int32)
    labels, messages = np.nonzero(signs)
    steps = np.stack((messages, labels, signs[labels, messages]), axis=1).astype(np.int64)
    add_grams(grams.starts, grams.members, steps, counts)
    return counts


def sum_grams(tables: Sequence[Array]) -> Array:
    """Add up the counts of grams; those of tables that have none are empty."""
    counted = [grams for grams in tables if grams.size]
    if len(counted) <= 1:
        return counted[0] if counted else NO_GRAMS
    total = np.zeros(counted[0].shape, np.int64)
    for grams in counted:
        total += grams
    return _narrowed(total)


def _narrowed(sums: Array) -> Array:
    """Convert to 32 bits where all sums fit: tables are the most of the memory that training takes."""
    if sums.dtype == np.int32:
        return sums
    fits = sums.max(initial=0) <= LARGEST_INT32 and sums.min(initial=0) >= -LARGEST_INT32
    return sums.astype(np.int32) if fits else sums
