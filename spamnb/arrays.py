"""Arrays that many modules share: sparse rows of messages, orders, and texts of different lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Array = np.ndarray[Any, Any]

BITS = 64  # of a fingerprint or a digest
BLOCK = 1 << 16  # texts gathered at once: bounds the index array, 8 bytes a character
KEY_BITS = 63  # of one number that stands for the counts of a token
MISSING = -1  # of a numeric feature; those that are there are not negative
UNITS = 2.0**40  # in a nat: what `bayes.classifier.rounded` rounds weights to
WHOLE = 2.0**62  # sums below it are exact in 64 bits


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

    def only(self, entries: Array) -> Rows:
        """All messages with some of their tokens (a mask)."""
        kept = np.flatnonzero(entries)
        return Rows(
            np.searchsorted(kept, self.starts),
            self.places.take(kept),
            self.times.take(kept),
            self.parts.take(kept),
            self.numbers,
        )

    def renumbered(self, places: Array) -> Rows:
        """The same messages in another vocabulary: where each token of this one stands in that."""
        return replace(self, places=places[self.places] if len(places) else self.places)

    def summed(self, values: Array) -> Array:
        """Sum whole numbers [label, entry] over each message."""
        return summed_between(values, self.starts)


def summed_between(values: Array, starts: Array) -> Array:
    """Sum whole numbers [label, entry] from each start to the next."""
    kind = object if values.dtype == object else np.int64
    running = np.zeros((len(values), values.shape[1] + 1), kind)
    values.cumsum(axis=1, dtype=kind, out=running[:, 1:])
    running = running.take(starts, axis=1)
    return running[:, 1:] - running[:, :-1]


def exactly_summed(weights: Array, starts: Array) -> Array:
    """Sum rounded weights [label, entry] from each start to the next, as `fsum` does; some may be -inf."""
    units = weights * UNITS
    infinite = np.isinf(units)
    if infinite.any():
        units[infinite] = 0.0
        return np.where(summed_between(infinite, starts), -np.inf, exactly_summed(units / UNITS, starts))
    largest = max(units.max(initial=0), -units.min(initial=0)) * weights.shape[1]
    whole: Any = units.astype(np.int64) if largest < WHOLE else np.frompyfunc(int, 1, 1)(units)
    return summed_between(whole, starts).astype(float) / UNITS


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


def order_of(numbers: Array) -> Array:
    """The stable order of 64-bit numbers.

    Sorting takes half the time of finding an order, so the last bits of each number make room for its place.
    Where they are needed to tell two numbers apart, which is rare, it is done the long way.
    """
    room = np.uint64((1 << len(numbers).bit_length()) - 1)
    keys = numbers & ~room
    keys |= np.arange(len(numbers), dtype=np.uint64)
    keys.sort()
    alike = np.flatnonzero((keys[:-1] ^ keys[1:]) <= room)
    keys &= room
    order = keys.view(np.int64)
    if np.any(numbers[order[alike]] != numbers[order[alike + 1]]):
        return np.argsort(numbers, kind="stable")
    return order


def changes(numbers: Array) -> Array:
    """Where another number comes than the one before: a mask, true at the first."""
    first = np.ones(len(numbers), bool)
    first[1:] = numbers[1:] != numbers[:-1]
    return first


def distinct_columns(counts: Array) -> tuple[Array, Array]:
    """The different columns of a table of counts in order, and which of them each column is."""
    sizes = [int(row.max(initial=0)) + 1 for row in counts]
    if len(sizes) > 32 or counts.min(initial=0) < 0 or prod(sizes) > (1 << 16) + 16 * counts.shape[1]:
        return _distinct_by_sorting(counts)
    keys = np.zeros(counts.shape[1], np.int64)
    for row, size in zip(counts, sizes, strict=True):
        keys = keys * size + row
    found = np.zeros(prod(sizes), bool)
    found[keys] = True
    patterns = np.flatnonzero(found)
    number = np.zeros(len(found), np.int32)
    number[patterns] = np.arange(len(patterns))
    rows = []
    for size in reversed(sizes):  # not by unravel_index, which takes no more than 64 rows
        patterns, row = np.divmod(patterns, size)
        rows.append(row)
    return np.array(rows[::-1]), number[keys]


def _distinct_by_sorting(counts: Array) -> tuple[Array, Array]:
    order = _order_of_columns(counts)
    counts = counts[:, order]
    new = np.zeros(len(order), bool)
    for row in counts:
        new |= changes(row)
    which = np.empty(len(order), np.int64)
    which[order] = np.cumsum(new) - 1
    return counts[:, new], which


def _order_of_columns(counts: Array) -> Array:
    """By the first row, then by the second and so on: as one number each, where that is wide enough."""
    widths = [int(row.max(initial=0)).bit_length() for row in counts]
    if sum(widths) > KEY_BITS or counts.min(initial=0) < 0:
        return np.lexsort(counts[::-1])
    keys = np.zeros(counts.shape[1], np.uint64)
    for row, width in zip(counts, widths, strict=True):
        keys = (keys << np.uint64(width)) | row.astype(np.uint64)
    return order_of(keys)


def texts_at(text: Array, starts: Array, lengths: Array) -> Array:
    """Some stretches of a text, one behind the other."""
    pieces = [np.empty(0, np.uint8)]
    for block in range(0, len(starts), BLOCK):
        length = lengths[block : block + BLOCK]
        behind = np.cumsum(length)
        source = np.repeat(starts[block : block + BLOCK] - behind + length, length) + np.arange(behind[-1])
        pieces.append(text[source])
    return np.concatenate(pieces)


def range_of(shard: int, shards: int) -> tuple[int, int]:
    """The first 64-bit number of one of so many equal ranges, and the first behind it."""
    width = (1 << BITS) // shards
    return shard * width, (shard + 1) * width


def portions(numbers: Array, shards: int) -> list[Array]:
    """Sorted numbers, by the range each is in."""
    borders = [range_of(shard, shards)[0] for shard in range(1, shards)]
    return np.split(numbers, np.searchsorted(numbers, np.array(borders, np.uint64)))
