"""Arrays that many modules share: sparse rows of messages, orders, and texts of different lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from spamnb.core.native import copied_texts, distinct_values, order_of_values, places_of_values

Array = np.ndarray[Any, Any]

FINGERPRINT_BITS = 64  # a digest has as many
MASK = (1 << FINGERPRINT_BITS) - 1
MOST_DIMENSIONS = 32  # of an array, before numpy 2
KEY_BITS = 63  # all counts of a token fit into one number
MISSING = -1  # in place of a numeric feature, which is never negative


def entries_of(starts: Array, messages: Array) -> tuple[Array, Array]:
    """Find the entries of some messages, in the order given, and where those of each start among these."""
    lengths = np.diff(starts)[messages]
    ends = np.cumsum(lengths)
    entries = np.repeat(starts[messages] - ends + lengths, lengths) + np.arange(lengths.sum())
    return entries, np.concatenate(([0], ends))


@dataclass(frozen=True, eq=False)
class Sets:
    """A set of numbers of 32 bits for each message: the counters of its grams."""

    starts: Array  # where the set of each message starts, and the end of the last one
    members: Array

    @classmethod
    def empty(cls, count: int) -> Sets:
        return cls(np.zeros(count + 1, np.int64), np.empty(0, np.uint32))

    def chosen(self, messages: Array) -> Sets:
        """Choose messages, in the order given."""
        entries, starts = entries_of(self.starts, messages)
        return Sets(starts, self.members[entries])


@dataclass(frozen=True, eq=False)
class Rows:
    """Messages as the places of their tokens in some vocabulary, and how often each occurs."""

    starts: Array  # where the row of each message starts, and the end of the last row
    places: Array
    times: Array  # 0 for a pair of neighbours
    parts: Array  # HEAD or BODY, where each stands
    numbers: Mapping[str, Array]  # values, MISSING where there is none
    grams: Sets

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Array:
        return np.diff(self.starts)

    def chosen(self, messages: Array) -> Rows:
        """Choose messages, in the order given."""
        entries, starts = entries_of(self.starts, messages)
        return Rows(
            starts,
            self.places[entries],
            self.times[entries],
            self.parts[entries],
            {name: values[messages] for name, values in self.numbers.items()},
            self.grams.chosen(messages),
        )

    def only(self, entries: Array) -> Rows:
        """Keep some tokens of all messages; `entries` is a mask."""
        kept = np.flatnonzero(entries)
        return Rows(
            np.searchsorted(kept, self.starts),
            self.places.take(kept),
            self.times.take(kept),
            self.parts.take(kept),
            self.numbers,
            self.grams,
        )

    def renumbered(self, places: Array) -> Rows:
        """Change the vocabulary: `places` tells where each token of the old one stands in the new one."""
        return replace(self, places=places[self.places] if len(places) else self.places)

    def counted(self, entries: Array) -> Array:
        """Count the entries of each message that a mask has."""
        return np.diff(np.searchsorted(np.flatnonzero(entries), self.starts))

    def summed(self, values: Array) -> Array:
        """Sum whole numbers, one an entry, over each message."""
        running = np.zeros(len(values) + 1, np.int64)
        values.cumsum(dtype=np.int64, out=running[1:])
        return np.diff(running.take(self.starts))

    def number_sums(self, steps: Array, label_count: int) -> dict[str, list[list[int | float]]]:
        """Sum numeric features: n, Σx and Σx² by label. Steps: rows of message, label index, and 1 or -1."""
        values = np.array([*self.numbers.values()], np.int64).reshape(-1, len(self))
        sums: dict[str, list[list[int | float]]] = {
            name: [[0, 0, 0] for _ in range(label_count)] for name in self.numbers
        }
        for label_index in sorted_distinct(steps[:, 1]).tolist():
            messages, _, signs = steps[steps[:, 1] == label_index].T
            x = values[:, messages]
            counted = (x != MISSING) * signs
            of_label = np.stack((counted, counted * x, counted * x * x)).sum(axis=2).T.tolist()
            for by_label, sums_of_label in zip(sums.values(), of_label, strict=True):
                by_label[label_index] = sums_of_label
        return sums


def stacked(pieces: Sequence[Rows]) -> Rows:
    """Put the messages of several pieces one after the other; all have the same vocabulary."""
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
        Sets(
            np.cumsum(np.concatenate([np.zeros(1, np.int64), *(np.diff(p.grams.starts) for p in pieces)])),
            np.concatenate([np.empty(0, np.uint32), *(piece.grams.members for piece in pieces)]),
        ),
    )


def stable_order(values: Array) -> Array:
    """Find the order that sorts 64-bit numbers; equal ones stay in their order."""
    return np.frombuffer(order_of_values(values), np.int64)


def distinct(values: Array) -> tuple[Array, Array]:
    """Find the first of each of the different 64-bit numbers, in their order, and which of them each is."""
    firsts, places = distinct_values(values)
    return np.frombuffer(firsts, np.int64), np.frombuffer(places, np.int32)


def places_among(values: Array, wanted: Array) -> Array:
    """Find the places of sorted values among other sorted ones, -1 for one that is not there."""
    return np.frombuffer(places_of_values(values, wanted), np.int64)


def run_starts(values: Array) -> Array:
    """Mark the first of each run of equal values; the mask is true there."""
    first = np.ones(len(values), bool)
    first[1:] = values[1:] != values[:-1]
    return first


def sorted_distinct(values: Array) -> Array:
    """Sort values, each once; np.unique takes 24 times as long since numpy 2.3, and loads numpy.ma."""
    ordered = np.sort(values)
    return ordered[run_starts(ordered)]


def quantile(ordered: Array, share: float) -> float:
    """Find the value that a share of sorted values is below; between two of them in proportion.

    As np.quantile does, which loads numpy.ma, and so does np.median: 12 ms.
    """
    place = share * (len(ordered) - 1)
    before = int(place)
    low, high, way = float(ordered[before]), float(ordered[min(before + 1, len(ordered) - 1)]), place - before
    return high - (high - low) * (1 - way) if way >= 0.5 else low + (high - low) * way


def distinct_columns(counts: Array) -> tuple[Array, Array]:
    """Find the different columns of a table of counts, in order, and which of them each column is."""
    sizes = [int(row.max(initial=0)) + 1 for row in counts]
    few = len(sizes) <= MOST_DIMENSIONS and prod(sizes) <= (1 << 16) + 16 * counts.shape[1]
    if not few or counts.min(initial=0) < 0:
        return _distinct_by_sorting(counts)
    keys = np.zeros(counts.shape[1], np.int64)
    for row, size in zip(counts, sizes, strict=True):
        keys = keys * size + row
    found = np.zeros(prod(sizes), bool)  # for each column that there could be: no sorting is needed
    found[keys] = True
    patterns = np.flatnonzero(found)
    number = np.zeros(len(found), np.min_scalar_type(len(patterns)))
    number[patterns] = np.arange(len(patterns))
    which = number[keys].astype(np.int32)
    rows = []
    for size in reversed(sizes):  # not by unravel_index, which takes no more than 64 rows
        patterns, row = np.divmod(patterns, size)
        rows.append(row)
    return np.array(rows[::-1]), which


def counted_columns(counts: Array) -> tuple[Array, Array]:
    """Find the different columns of a table of counts, in order, and how many columns are like each."""
    keys = _column_keys(counts)
    if keys is None:
        patterns, which = distinct_columns(counts)
        return patterns, np.bincount(which, minlength=patterns.shape[1])
    keys.sort()
    first = np.flatnonzero(run_starts(keys))
    keys, times, rows = keys[first], np.diff(first, append=len(keys)), []
    for row in counts[::-1]:
        width = np.uint64(int(row.max(initial=0)).bit_length())
        rows.append(keys & ((np.uint64(1) << width) - np.uint64(1)))
        keys = keys >> width
    return np.array(rows[::-1], np.int64), times


def _distinct_by_sorting(counts: Array) -> tuple[Array, Array]:
    keys = _column_keys(counts)
    order = np.lexsort(counts[::-1]) if keys is None else stable_order(keys)
    counts = counts[:, order]
    new = np.zeros(len(order), bool)
    for row in counts:
        new |= run_starts(row)
    which = np.empty(len(order), np.int64)
    which[order] = np.cumsum(new) - 1
    return counts[:, new], which


def _column_keys(counts: Array) -> Array | None:
    """Make a number of each column, by which they are ordered as by their rows; None if 63 bits do not do."""
    widths = [int(row.max(initial=0)).bit_length() for row in counts]
    if sum(widths) > KEY_BITS or counts.min(initial=0) < 0:
        return None
    keys = np.zeros(counts.shape[1], np.uint64)
    for row, width in zip(counts, widths, strict=True):
        keys = (keys << np.uint64(width)) | row.astype(np.uint64)
    return keys


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts of different lengths, one behind the other in an array of bytes."""

    ends: Array  # where each ends in `data`
    data: Array

    @classmethod
    def empty(cls, count: int) -> Texts:
        """Make `count` texts of no characters."""
        return cls(np.zeros(count, np.int64), np.empty(0, np.uint8))

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        return cls(np.cumsum(list(map(len, texts)), dtype=np.int64), np.frombuffer(b"".join(texts), np.uint8))

    @property
    def lengths(self) -> Array:
        return np.diff(self.ends, prepend=0)

    def __getitem__(self, which: Array | slice) -> Texts:
        """Choose texts: by a mask, by different places, or a slice, which shares memory with these."""
        if isinstance(which, slice):
            start, end = (int(self.ends[at - 1]) if at else 0 for at in (which.start, which.stop))
            return Texts(self.ends[which] - start, self.data[start:end])
        places = np.flatnonzero(which) if which.dtype == bool else which
        ends, data = copied_texts(self.data, self.ends, places)
        return Texts(np.frombuffer(ends, np.int64), np.frombuffer(data, np.uint8))

    @classmethod
    def joined(cls, pieces: Sequence[Texts]) -> Texts:
        """Put texts one behind the other."""
        starts = np.cumsum([0, *(len(piece.data) for piece in pieces)])
        ends = [piece.ends + start for piece, start in zip(pieces, starts, strict=False)]
        return cls(np.concatenate(ends), np.concatenate([piece.data for piece in pieces]))

    def decoded(self, places: Iterable[int]) -> list[str]:
        data, ends = self.data.data, self.ends
        return [str(data[ends[at - 1] if at else 0 : ends[at]], "utf-8") for at in places]


def shard_range(shard: int, shards: int) -> tuple[int, int]:
    """Find the first of the 64-bit numbers that belong to a shard, and the first behind them."""
    width = (1 << FINGERPRINT_BITS) // shards
    return shard * width, (shard + 1) * width


def split_by_shard(values: Array, shards: int) -> list[Array]:
    """Split sorted 64-bit numbers by the shard that each belongs to."""
    borders = [shard_range(shard, shards)[0] for shard in range(1, shards)]
    return np.split(values, np.searchsorted(values, np.array(borders, np.uint64)))
