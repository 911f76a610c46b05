"""Count tables in bulk: sorted numpy columns that add and subtract."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bulk.learned import NOWHERE, Learned, in_turn
from spamnb.bulk.model_file import checked
from spamnb.bulk.sorting import changes, order_of, texts_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.counts.journal import Entry
    from spamnb.counts.store import Stored

    Array = np.ndarray[Any, Any]


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
        many, head = len(stored.labels), stored.head

        def both(words: Array, pairs: Array) -> Array:
            return np.concatenate((words, pairs))[order]

        tokens, pairs = column["tokens"], column["pairs"]
        order = order_of(np.concatenate((tokens["key"], pairs["key"])))
        counts, pair_counts = tokens["counts"].T, pairs["counts"].T
        none = np.zeros(len(pairs), np.uint8)
        base = cls(
            tuple(stored.labels),
            tuple(head["messages"]),
            head["numbers"],
            both(tokens["key"], pairs["key"]),
            np.cumsum(both(np.diff(column["ends"].astype(np.int64), prepend=0), none)),
            column["text"],
            np.array([both(counts[k], pair_counts[k]) for k in range(many)], np.int32),
            np.array([both(counts[many + k], none) for k in range(many)], np.int32),
            both(column["days"], column["pair_days"]),
            Learned(column["digests"], column["digest_labels"].astype(np.int8), column["digest_scores"]),
            both(column["first_days"], column["pair_days"]),
        )
        if not stored.journal.entries:
            return base
        return added([base, *(from_entry(entry, base.labels) for entry in stored.journal.entries)])

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def first_days(self) -> Array:
        return self.days if self.since is None else self.since

    @property
    def words(self) -> Array:
        """Which tokens are no pairs."""
        return np.any(self.occurring, axis=0)

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

    def settled(self) -> Columns:
        """Nothing below zero, and no token that nothing is left of.

        A message may be forgotten twice, or after some of its words were pruned: no harm.
        """
        settled = replace(
            self, containing=np.maximum(self.containing, 0), occurring=np.maximum(self.occurring, 0)
        )
        left: Array = np.any(settled.containing, axis=0)
        return settled.only(left)

    def relabelled(self, labels: Sequence[str]) -> Columns:
        """The same table with more labels, or in another order."""
        if tuple(labels) == self.labels:
            return self
        places = [labels.index(label) for label in self.labels]

        def spread(rows: Array) -> Array:
            wide = np.zeros((len(labels), len(self)), np.int32)
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
        return np.stack([np.add.reduceat(np.concatenate(column)[order], first) for column in columns])

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
        _numbers(tables),
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


def _numbers(tables: Sequence[Columns]) -> dict[str, list[list[int | float]]]:
    total: dict[str, list[list[int | float]]] = {}
    for table in tables:
        for name, by_label in table.numbers.items():
            rows = total.setdefault(name, [[0, 0, 0] for _ in by_label])
            for row, sums in zip(rows, by_label, strict=True):
                for i, x in enumerate(sums):
                    row[i] += x
    return {name: total[name] for name in sorted(total) if any(n for n, _, _ in total[name])}


def from_entry(entry: Entry, labels: Sequence[str]) -> Columns:
    """One journal record as a table."""
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
    breaks = np.flatnonzero(text == ord("\n"))
    lengths = np.zeros(size, np.int64)
    lengths[:words] = np.diff(breaks, prepend=-1) - 1
    hashes = np.array([*entry.hashes, *entry.pairs], np.uint64)
    order = order_of(hashes)
    place = NOWHERE if entry.after is None else labels.index(entry.after)
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
        Learned.of([entry.digest], [place], [entry.score]),
    )
