"""Loops over arrays that numpy has no function for, or a slow one: sorting, looking up, counting.

Interpreted, they take half the time if they are given the memoryview `array.data`: its numbers are
Python's own, not numpy's.
"""

from __future__ import annotations

from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DIGIT_BITS = 11
DIGIT_COUNT, LAST_DIGIT = 1 << DIGIT_BITS, (1 << DIGIT_BITS) - 1


def sort_by_digit(keys: Any, ordered: Any, shift: int) -> None:
    """Sort keys by DIGIT_BITS of their bits alone; those alike stay in their order."""
    starts = array("q", bytes(8 * (DIGIT_COUNT + 1)))
    for at in range(len(keys)):
        starts[(keys[at] >> shift & LAST_DIGIT) + 1] += 1
    for digit in range(DIGIT_COUNT):
        starts[digit + 1] += starts[digit]
    for at in range(len(keys)):
        key = keys[at]
        digit = key >> shift & LAST_DIGIT
        ordered[starts[digit]] = key
        starts[digit] += 1


def insertion_sort(keys: Any) -> bool:
    """Sort keys that are nearly sorted; return False, and leave them half sorted, if they are not."""
    moves, most = 0, 4 * len(keys)
    for at in range(1, len(keys)):
        key, to = keys[at], at
        while to and keys[to - 1] > key and moves < most:
            keys[to] = keys[to - 1]
            to -= 1
            moves += 1
        keys[to] = key
    return moves < most


def number_runs(values: Any, keys: Any, index_mask: int, firsts: Any, places: Any) -> int:
    """Number the runs of equal values, note the first of each, and return how many there are.

    The bits of `index_mask` of each key are the place of a value; -1 if these are not in order.
    """
    runs, before = 0, 0
    for at in range(len(keys)):
        place = keys[at] & index_mask
        value = values[place]
        if value != before or not at:
            if value < before:
                return -1
            firsts[runs] = place
            runs += 1
            before = value
        places[place] = runs - 1
    return runs


def copy_texts(data: Any, ends: Any, chosen: Any, copied: Any, copied_ends: Any) -> int:
    """Copy chosen texts, one behind the other, note where each ends, and return where the last one does."""
    to = 0
    for index in range(len(chosen)):
        which = chosen[index]
        for at in range(ends[which - 1] if which else 0, ends[which]):
            copied[to] = data[at]
            to += 1
        copied_ends[index] = to
    return to


def find_places(values: Any, wanted: Any, places: Any) -> None:
    """Find the places of sorted values among other sorted ones, and note those that are there."""
    at, size = 0, len(values)
    for index in range(len(wanted)):
        value = wanted[index]
        while at + 8 <= size and values[at + 7] < value:  # most often few are wanted
            at += 8
        if at + 8 <= size:  # branch-free: the tests are unpredictable
            at += 4 * (values[at + 3] < value)
            at += 2 * (values[at + 1] < value)
            at += values[at] < value
        else:
            while at < size and values[at] < value:
                at += 1
        if at < size and values[at] == value:
            places[index] = at


def count_rows(starts: Any, places: Any, times: Any, signs: Any, messages: Any, occurrences: Any) -> None:
    """Add the tokens of each message, or take them away, or neither, as its sign is 1, -1 or 0."""
    for message in range(len(signs)):
        sign = signs[message]
        if sign:
            for entry in range(starts[message], starts[message + 1]):
                place = places[entry]
                messages[place] += sign
                occurrences[place] += sign * times[entry]


def count_sets(starts: Any, members: Any, signs: Any, messages: Any) -> None:
    """Add the members of each message's set, or take them away, or neither, as its sign is 1, -1 or 0."""
    for message in range(len(signs)):
        sign = signs[message]
        if sign:
            for entry in range(starts[message], starts[message + 1]):
                messages[members[entry]] += sign


def add_row(total: Any, places: Any, row: Any) -> None:
    """Add the values of a row at their places in a sum."""
    for at in range(len(places)):
        total[places[at]] += row[at]


def widen_days(first_days: Any, last_days: Any, places: Any, own_first: Any, own_last: Any) -> None:
    """Extend first and last seen days, at some places, to days of their own."""
    for at in range(len(places)):
        place, first, last = places[at], own_first[at], own_last[at]
        first_days[place] = min(first_days[place], first)
        last_days[place] = max(last_days[place], last)
