"""Loops of counting and summing that numpy has no function for: sorted runs merged, rows counted.

Interpreted, the loops take half the time if they are given the memoryview `array.data`: its numbers are
Python's own, not numpy's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array


def merged(runs: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Unite sorted runs of distinct numbers: the union, and where the numbers of each run stand in it."""
    half = len(runs) // 2
    if not half:
        return runs[0], [np.arange(len(runs[0]))]
    (first, in_first), (second, in_second) = merged(runs[:half]), merged(runs[half:])
    union = np.empty(len(first) + len(second), np.uint64)
    of_first, of_second = np.empty(len(first), np.int64), np.empty(len(second), np.int64)
    size = merge_two(*(array.data for array in (first, second, union, of_first, of_second)))
    places = [of_first[own] for own in in_first] if len(in_first) > 1 else [of_first]
    places += [of_second[own] for own in in_second] if len(in_second) > 1 else [of_second]
    return union[:size].copy(), places


def merge_two(first: Any, second: Any, union: Any, of_first: Any, of_second: Any) -> int:
    """Unite two runs, note the place of each number, and return how many there are."""
    at, beside, size = 0, 0, 0
    first_end, second_end = len(first), len(second)
    while at < first_end and beside < second_end:
        number, other = first[at], second[beside]
        union[size] = number if number < other else other
        of_first[at] = of_second[beside] = size  # the larger of them is noted again
        at += number <= other
        beside += other <= number
        size += 1
    while at < first_end:
        union[size] = first[at]
        of_first[at] = size
        at += 1
        size += 1
    while beside < second_end:
        union[size] = second[beside]
        of_second[beside] = size
        beside += 1
        size += 1
    return size


def merge_texts(texts: Sequence[Texts], places: Sequence[Array], size: int) -> Texts:
    """Put texts at their places among `size` texts; where several have the same place, the first counts."""
    data = np.concatenate([own.data for own in texts])
    starts, lengths = np.zeros((2, size), np.int64)
    behind = len(data)
    for own, own_places in zip(reversed(texts), reversed(places), strict=True):
        behind -= len(own.data)
        own_lengths = own.lengths
        lengths[own_places] = own_lengths
        starts[own_places] = own.ends - own_lengths + behind
    ends = np.cumsum(lengths)
    chosen = np.empty(int(ends[-1]), np.uint8)
    copy_texts(data.data, starts.data, lengths.data, chosen.data)
    return Texts(ends, chosen)


def copy_texts(data: Any, starts: Any, lengths: Any, chosen: Any) -> None:
    """Copy texts, one behind the other."""
    to = 0
    for index in range(len(starts)):
        for at in range(starts[index], starts[index] + lengths[index]):
            chosen[to] = data[at]
            to += 1


def places_among(numbers: Array, wanted: Array) -> Array:
    """Find the places of sorted numbers among other sorted ones, -1 for one that is not there."""
    places = np.full(len(wanted), -1)
    find_places(numbers.data, wanted.data, places.data)
    return places


def find_places(numbers: Any, wanted: Any, places: Any) -> None:
    at, index = 0, 0
    while at < len(numbers) and index < len(wanted):
        while at + 8 < len(numbers) and numbers[at + 8] <= wanted[index]:  # most often few are wanted
            at += 8
        if numbers[at] == wanted[index]:
            places[index] = at
        if numbers[at] < wanted[index]:
            at += 1
        else:
            index += 1


def count_rows(starts: Any, places: Any, times: Any, signs: Any, messages: Any, occurrences: Any) -> None:
    """Add the tokens of each message, or take them away, or neither, as its sign is 1, -1 or 0."""
    for message in range(len(signs)):
        sign = signs[message]
        if sign:
            for entry in range(starts[message], starts[message + 1]):
                messages[places[entry]] += sign
                occurrences[places[entry]] += sign * times[entry]
