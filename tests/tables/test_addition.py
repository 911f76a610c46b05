"""Count tables add and subtract, in any order."""

from helpers.tables import assert_same
from helpers.textbook import bag
from hypothesis import given
from hypothesis import strategies as st

from spamnb.tables.count_table import CountTable, sum_tables

LABELS = ("ham", "spam", "work")

tokens = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), max_size=6)
numbers = st.dictionaries(st.sampled_from(["size", "links"]), st.integers(0, 500), max_size=2)
messages = st.lists(st.tuples(st.sampled_from(LABELS), tokens, numbers), max_size=12)


def counted(mail, labels=LABELS):
    tables = [CountTable.of_message(labels, label, bag(words), own) for label, words, own in mail]
    return sum_tables([CountTable.empty(labels), *tables])


@given(messages, messages)
def test_pieces_summed_equal_one_pass(first, second):
    assert_same(counted(first) + counted(second), counted(first + second))
    assert_same(counted(second) + counted(first), counted(first + second))


@given(messages, messages)
def test_what_was_added_can_be_taken_away(first, second):
    assert_same(counted(first) + counted(second) - counted(second), counted(first))


@given(messages)
def test_learning_then_forgetting_everything_leaves_nothing(mail):
    table = counted(mail)
    for label, words, own in mail:
        table -= CountTable.of_message(LABELS, label, bag(words), own)
    assert_same(table, CountTable.empty(LABELS))


@given(messages)
def test_the_order_of_labels_does_not_matter(mail):
    assert_same(counted(mail, LABELS[::-1]).relabelled(LABELS), counted(mail))


@given(messages)
def test_the_histogram_holds_every_token_once(mail):
    table = counted(mail)
    histogram = table.histogram()
    assert sum(histogram.values()) == table.vocabulary
    for place in range(3):
        presences = sum(counts[place] * tokens for counts, tokens in histogram.items())
        assert presences == table.presences[place]


def test_numbers_keep_partial_sums():
    table = counted([("ham", {}, {"size": 3}), ("ham", {}, {"size": 4}), ("spam", {}, {})])
    assert table.numbers == {"size": [[2, 7, 25], [0, 0, 0], [0, 0, 0]]}
