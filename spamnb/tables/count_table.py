"""Count tables in bulk: sorted numpy columns that add and subtract."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import changes, distinct_columns, order_of, range_of, texts_at
from spamnb.store.records import KEY
from spamnb.tables.layout import checked, record_type
from spamnb.tables.learned import Learned, in_turn
from spamnb.tables.totals import summed_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spamnb.arrays import Array
    from spamnb.store.journal_record import Entry
    from spamnb.store.records import Column
    from spamnb.store.stored import Stored
    from spamnb.store.table import Row

LARGEST = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class Columns:
    """A count table: one column entry a token, in order of the tokens' fingerprints.

    A pair of neighbours is a token without text and without occurrences.
    """

    labels: tuple[str, ...]
    messages: tuple[int, ...]
    numbers: dict[str, list[list[int | float]]]
    hashes: Array
    ends: Array  # where each token's text ends in `text`
    text: Array
    containing: Array  # [label, token] messages that contain it
    occurring: Array  # [label, token] occurrences
    days: Array  # day last seen, counted from 1970
    learned: Learned = field(default_factory=lambda: Learned.of([], []))
    since: Array | None = None  # day first seen; None: all on the day they were last seen

    @classmethod
    def empty(cls, labels: Sequence[str]) -> Columns:
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
    def load(cls, stored: Stored) -> Columns:
        """The whole of a model file, its checksums verified, and its journal added."""
        column = checked(stored)
        learned = Learned(column["digests"], column["digest_labels"].astype(np.int8), column["digest_scores"])
        base = replace(cls._of_file(stored, column), learned=learned)
        return added([base, *(from_entry(entry, base.labels) for entry in stored.journal.entries)])

    @classmethod
    def load_shard(cls, stored: Stored, shard: int, shards: int) -> Columns:
        """The same of a shard of the tokens, without the messages learned. Checksums are not looked at."""

        def stretch(name: str, first: int, end: int) -> Array:
            column = stored.column(name)
            data = column.file.read(column.at + first * column.width, (end - first) * column.width)
            return np.frombuffer(data, record_type(column.kind))

        first, end = _shard_records(stored.column("tokens"), shard, shards)
        first_pair, end_pair = _shard_records(stored.column("pairs"), shard, shards)
        ends = stretch("ends", first, end).astype(np.int64)
        start = stored.column("ends")[first - 1] if first else 0
        column = {
            "tokens": stretch("tokens", first, end),
            "pairs": stretch("pairs", first_pair, end_pair),
            "ends": ends - start,
            "text": stretch("text", start, int(ends[-1]) if len(ends) else start),
            "days": stretch("days", first, end),
            "first_days": stretch("first_days", first, end),
            "pair_days": stretch("pair_days", first_pair, end_pair),
        }
        base = cls._of_file(stored, column)._counted_in(shard)
        later = (from_entry(entry, base.labels).shard(shard, shards) for entry in stored.journal.entries)
        return replace(added([base, *later]), learned=Learned.of([], []))

    @classmethod
    def _of_file(cls, stored: Stored, column: Mapping[str, Array]) -> Columns:
        """The table that some columns of a file make, all of them or a stretch of each."""
        many, head = len(stored.labels), stored.head

        def both(words: Array, pairs: Array) -> Array:
            return np.concatenate((words, pairs))[order]

        tokens, pairs = column["tokens"], column["pairs"]
        order = order_of(np.concatenate((tokens["key"], pairs["key"])))
        counts, pair_counts = tokens["counts"].T, pairs["counts"].T
        kind = np.int32 if max(counts.max(initial=0), pair_counts.max(initial=0)) <= LARGEST else np.int64
        none = np.zeros(len(pairs), np.uint8)
        return cls(
            tuple(stored.labels),
            tuple(head["messages"]),
            head["numbers"],
            both(tokens["key"], pairs["key"]),
            np.cumsum(both(np.diff(column["ends"].astype(np.int64), prepend=0), none)),
            column["text"],
            np.array([both(counts[k], pair_counts[k]) for k in range(many)], kind),
            np.array([both(counts[many + k], none) for k in range(many)], kind),
            both(column["days"], column["pair_days"]),
            since=both(column["first_days"], column["pair_days"]),
        )

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def first_days(self) -> Array:
        return self.days if self.since is None else self.since

    @property
    def words(self) -> Array:
        """Which tokens are no pairs."""
        return np.any(self.occurring, axis=0)

    @property
    def presences(self) -> list[int]:
        """Per label, messages containing a word summed over all words: n_c of binary counts."""
        return self._total(self.containing, self.words)

    @property
    def occurrences(self) -> list[int]:
        """Per label, the number of word positions: the textbooks' n_c."""
        return self._total(self.occurring, self.words)

    @property
    def vocabulary(self) -> int:
        return int(self.words.sum())

    @property
    def pair_presences(self) -> list[int]:
        return self._total(self.containing, ~self.words)

    @property
    def pair_vocabulary(self) -> int:
        return int((self.containing.any(axis=0) & ~self.words).sum())

    def _total(self, counts: Array, chosen: Array) -> list[int]:
        return [int(row.sum(dtype=np.int64, where=chosen)) for row in counts]

    def histogram(self) -> dict[tuple[int, ...], int]:
        """How many words share the same messages per label: Bernoulli's absent words, in brief."""
        patterns, which = distinct_columns(self.containing[:, self.words])
        tokens = np.bincount(which, minlength=patterns.shape[1]).tolist()
        return dict(zip(zip(*patterns.tolist(), strict=True), tokens, strict=True))

    def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """The counts of those tokens that are known."""
        places = self.places(np.array(fingerprints, np.uint64)).tolist()
        return {
            number: (*self.containing[:, at].tolist(), *self.occurring[:, at].tolist())
            for number, at in zip(fingerprints, places, strict=True)
            if at >= 0 and self.occurring[:, at].any()
        }

    def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        """The counts of those pairs of neighbours that are known."""
        places = self.places(np.array(fingerprints, np.uint64)).tolist()
        return {
            number: tuple(self.containing[:, at].tolist())
            for number, at in zip(fingerprints, places, strict=True)
            if at >= 0 and not self.occurring[:, at].any()
        }

    def tokens(self, places: Iterable[int]) -> list[str]:
        """The text of some tokens."""
        text = self.text.tobytes() if len(self.text) < 1 << 26 else self.text
        starts = np.concatenate(([0], self.ends))
        return [bytes(text[starts[at] : self.ends[at]]).decode() for at in places]

    def places(self, hashes: Array) -> Array:
        """Where tokens of these fingerprints stand, -1 for an unknown one."""
        if not len(self):
            return np.full(len(hashes), -1)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[at] == hashes, at, -1)

    def only(self, kept: Array) -> Columns:
        """The table without some of its tokens (a mask of those that stay)."""
        if kept.all():
            return self
        lengths = np.diff(self.ends, prepend=0)
        starts = (self.ends - lengths)[kept]
        return replace(
            self,
            hashes=self.hashes[kept],
            ends=np.cumsum(lengths[kept]),
            text=texts_at(self.text, starts, lengths[kept]),
            containing=self.containing[:, kept],
            occurring=self.occurring[:, kept],
            days=self.days[kept],
            since=self.first_days[kept],
        )

    def shard(self, shard: int, shards: int) -> Columns:
        """The tokens in one of so many equal ranges of fingerprints, without the messages learned.

        What is counted by messages belongs to the first shard, so that shards add up to the whole.
        """
        lowest, behind = range_of(shard, shards)
        first = int(np.searchsorted(self.hashes, np.uint64(lowest)))
        end = int(np.searchsorted(self.hashes, np.uint64(behind - 1), "right"))
        start = int(self.ends[first - 1]) if first else 0
        within = slice(first, end)
        own = replace(
            self,
            hashes=self.hashes[within].copy(),  # not a view: the rest is to go
            ends=self.ends[within] - start,
            text=self.text[start : int(self.ends[end - 1]) if end > first else start].copy(),
            containing=self.containing[:, within].copy(),
            occurring=self.occurring[:, within].copy(),
            days=self.days[within].copy(),
            since=self.first_days[within].copy(),
            learned=Learned.of([], []),
        )
        return own._counted_in(shard)

    def _counted_in(self, shard: int) -> Columns:
        return self if shard == 0 else replace(self, messages=(0,) * len(self.labels), numbers={})

    def times(self, factor: int) -> Columns:
        """Counted so often; less than once, to be taken away. Its days say nothing any more."""
        numbers = {
            name: [[factor * x for x in sums] for sums in by_label] for name, by_label in self.numbers.items()
        }
        return replace(
            self,
            messages=tuple(factor * count for count in self.messages),
            numbers=numbers,
            containing=_narrowed(factor * self.containing.astype(np.int64)),
            occurring=_narrowed(factor * self.occurring.astype(np.int64)),
        )

    def less(self, other: Columns) -> Columns:
        """The table without some of its messages, whose table has the same tokens in the same places."""
        return replace(
            self,
            messages=tuple(a - b for a, b in zip(self.messages, other.messages, strict=True)),
            numbers={
                name: [
                    [a - b for a, b in zip(mine, theirs, strict=True)]
                    for mine, theirs in zip(by_label, other.numbers[name], strict=True)
                ]
                for name, by_label in self.numbers.items()
            },
            containing=self.containing - other.containing,
            occurring=self.occurring - other.occurring,
        )

    def counts(self, hashes: Array) -> tuple[Array, Array]:
        """Messages and occurrences [label, token] of some tokens; 0 of an unknown one."""
        places = self.places(hashes)
        known = places >= 0
        if not len(self):
            none = np.zeros((len(self.labels), len(hashes)), np.int32)
            return none, none
        return self.containing[:, places] * known, self.occurring[:, places] * known

    def settled(self) -> Columns:
        """Nothing below zero, no token that nothing is left of, and no word that no longer occurs.

        A message may be forgotten twice, or after some of its words were pruned: no harm.
        """
        containing = np.maximum(self.containing, 0)
        words = self.words | (np.diff(self.ends, prepend=0) > 0)
        settled = replace(
            self,
            messages=tuple(max(0, many) for many in self.messages),
            numbers={
                name: [sums if sums[0] > 0 else [0, 0, 0] for sums in by_label]
                for name, by_label in self.numbers.items()
            },
            containing=containing,
            occurring=np.maximum(self.occurring, containing * words),
        )
        left: Array = np.any(containing, axis=0)
        return settled.only(left)

    def relabelled(self, labels: Sequence[str]) -> Columns:
        """The same table with more labels, or in another order."""
        if tuple(labels) == self.labels:
            return self
        places = [labels.index(label) for label in self.labels]

        def spread(rows: Array) -> Array:
            wide = np.zeros((len(labels), len(self)), rows.dtype)
            wide[places] = rows
            return wide

        messages = [0] * len(labels)
        numbers: dict[str, list[list[int | float]]] = {
            name: [[0, 0, 0] for _ in labels] for name in self.numbers
        }
        for old, new in enumerate(places):
            messages[new] = self.messages[old]
            for name, by_label in self.numbers.items():
                numbers[name][new] = list(by_label[old])
        return replace(
            self,
            labels=tuple(labels),
            messages=tuple(messages),
            numbers=numbers,
            containing=spread(self.containing),
            occurring=spread(self.occurring),
            learned=self.learned.relabelled(places),
        )


def added(tables: Sequence[Columns]) -> Columns:
    """The sum of tables, and what was learned in turn."""
    labels = tuple(dict.fromkeys(label for table in tables for label in table.labels))
    tables = [table.relabelled(labels) for table in tables]
    if len(tables) == 1:
        return tables[0]
    hashes = np.concatenate([table.hashes for table in tables])
    order = order_of(hashes)
    hashes = hashes[order]
    first = np.flatnonzero(changes(hashes))

    def summed(name: str) -> Array:
        """Label by label, for the sake of memory."""
        if not len(first):
            return tables[0].containing[:, :0]
        columns = zip(*(getattr(table, name) for table in tables), strict=True)
        ordered = (np.concatenate(column)[order] for column in columns)
        return np.stack([_narrowed(np.add.reduceat(column, first, dtype=np.int64)) for column in ordered])

    containing, occurring = summed("containing"), summed("occurring")
    days = np.concatenate([table.days for table in tables])[order]
    since = np.concatenate([table.first_days for table in tables])[order]
    if len(first):
        days, since = np.maximum.reduceat(days, first), np.minimum.reduceat(since, first)
    filled = containing.any(axis=0) | occurring.any(axis=0)
    left: Any = slice(None) if filled.all() else filled
    hashes = hashes[first][left]
    ends, text = _gathered(tables, order[first][left])
    return Columns(
        labels,
        tuple(sum(column) for column in zip(*(table.messages for table in tables), strict=True)),
        summed_numbers(table.numbers for table in tables),
        hashes,
        ends,
        text,
        containing[:, left],
        occurring[:, left],
        days[left],
        in_turn([table.learned for table in tables]),
        since[left],
    )


def _gathered(tables: Sequence[Columns], chosen: Array) -> tuple[Array, Array]:
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


def _shard_records(column: Column, shard: int, shards: int) -> tuple[int, int]:
    """Where the records of a shard start and end in a file."""

    def key(place: int) -> int:
        return int.from_bytes(column.file.read(column.at + place * column.width, KEY), "little")

    def place(number: int) -> int:
        return bisect_left(range(len(column)), number, key=key)

    first, end = range_of(shard, shards)
    return place(first), place(end)


def from_entry(entry: Entry, labels: Sequence[str]) -> Columns:
    """Make a table of one journal record: what the message adds to a label, and takes away from another."""
    many, words, size = len(labels), len(entry.hashes), len(entry.hashes) + len(entry.pairs)
    messages = [0] * many
    containing, occurring = np.zeros((many, size), np.int32), np.zeros((many, size), np.int32)
    numbers: dict[str, list[list[int | float]]] = {
        name: [[0, 0, 0] for _ in labels] for name in entry.numbers
    }
    for place, sign in entry.steps:
        messages[place] += sign
        containing[place] += sign
        occurring[place, :words] += sign * np.array(entry.occurrences, np.int32)
        for name, x in entry.numbers.items():
            sums = numbers[name][place]
            numbers[name][place] = [sums[0] + sign, sums[1] + sign * x, sums[2] + sign * x * x]
    text = np.frombuffer(entry.text, np.uint8)
    lengths = np.zeros(size, np.int64)
    lengths[:words] = np.diff(np.flatnonzero(text == ord("\n")), prepend=-1) - 1
    hashes = np.concatenate((np.array(entry.hashes, np.uint64), np.array(entry.pairs, np.uint64)))
    order = order_of(hashes)
    return Columns(
        tuple(labels),
        tuple(messages),
        numbers,
        hashes[order],
        np.cumsum(lengths[order]),
        text[text != ord("\n")],
        containing[:, order],
        occurring[:, order],
        np.full(size, entry.day, np.uint16),
        Learned.of_entry(entry, labels),
    )
