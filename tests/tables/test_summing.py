"""The loops below sums of tables, at their edges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spamnb.arrays import Texts
from spamnb.tables.summing import count_rows, merge_texts, merged, places_among

EDGES = [0, 1, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
runs = st.lists(
    st.lists(st.sampled_from([*EDGES, *range(7, 20)]), unique=True).map(sorted), min_size=1, max_size=9
)


def numbers(values):
    return np.array(values, np.uint64)


@given(runs)
def test_runs_are_united(found):
    union, places = merged([numbers(run) for run in found])
    assert union.tolist() == sorted({number for run in found for number in run})
    assert [union[own].tolist() for own in places] == found


@given(runs)
def test_places_of_what_is_there_and_what_is_not(found):
    there, wanted = numbers(found[0]), numbers(found[-1])
    expected = [found[0].index(number) if number in found[0] else -1 for number in found[-1]]
    assert places_among(there, wanted).tolist() == expected


def test_where_several_have_a_text_the_first_counts():
    """Two words with the same fingerprint; a pair, which has no text, with that of a word."""
    first, second = Texts.of([b"one", b"", b"four"]), Texts.of([b"other", b"pair", b"last"])
    texts = merge_texts([first, second], [np.array([0, 1, 3]), np.array([0, 1, 4])], 5)
    assert texts.decoded(range(5)) == ["one", "", "", "four", "last"]


def test_rows_are_added_and_taken_away():
    starts, places = np.array([0, 2, 3, 5]), np.array([0, 3, 3, 1, 3], np.int32)
    times, signs = np.array([1, 65535, 9, 0, 2], np.uint16), np.array([1, 0, -1], np.int32)
    messages, occurrences = np.zeros((2, 4), np.int32)
    count_rows(*(column.data for column in (starts, places, times, signs, messages, occurrences)))
    assert messages.tolist() == [1, -1, 0, 0]
    assert occurrences.tolist() == [1, 0, 0, 65533]
