"""Loops over arrays, at their edges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spamnb.array_loops import count_rows
from spamnb.arrays import Texts, distinct, places_among

EDGES = [0, 1, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
runs = st.lists(
    st.lists(st.sampled_from([*EDGES, *range(7, 20)]), unique=True).map(sorted), min_size=1, max_size=9
)


def numbers(values):
    return np.array(values, np.uint64)


@given(runs)
def test_the_first_of_equal_numbers(found):
    every = [number for run in found for number in run]
    firsts, places = distinct(numbers(every))
    assert firsts.tolist() == [every.index(number) for number in sorted(set(every))]
    assert [every[firsts[place]] for place in places] == every


def test_numbers_made_to_be_alike():
    """Their first bits are the same, and they come in the order that takes longest."""
    every = [(5 << 60) + n // 2 for n in range(3000, 0, -1)]
    firsts, places = distinct(numbers(every))
    assert [every[first] for first in firsts] == sorted(set(every))
    assert [every[firsts[place]] for place in places] == every


@given(runs)
def test_places_of_what_is_there_and_what_is_not(found):
    there, wanted = numbers(found[0]), numbers(found[-1])
    expected = [found[0].index(number) if number in found[0] else -1 for number in found[-1]]
    assert places_among(there, wanted).tolist() == expected


def test_texts_are_joined_and_chosen():
    joined = Texts.joined([Texts.of([b"one", b"", b"four"]), Texts.of([]), Texts.of([b"other", b"last"])])
    assert joined.decoded(range(5)) == ["one", "", "four", "other", "last"]
    assert joined[np.array([4, 0, 1, 3])].decoded(range(4)) == ["last", "one", "", "other"]
    assert joined[np.array([], np.int64)].decoded([]) == []
    assert joined[joined.lengths == 4].decoded(range(2)) == ["four", "last"]


def test_rows_are_added_and_taken_away():
    starts, places = np.array([0, 2, 3, 5]), np.array([0, 3, 3, 1, 3], np.int32)
    times, signs = np.array([1, 65535, 9, 0, 2], np.uint16), np.array([1, 0, -1], np.int32)
    messages, occurrences = np.zeros((2, 4), np.int32)
    count_rows(*(column.data for column in (starts, places, times, signs, messages, occurrences)))
    assert messages.tolist() == [1, -1, 0, 0]
    assert occurrences.tolist() == [1, 0, 0, 65533]
