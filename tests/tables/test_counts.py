"""Count tables add and subtract, in any order."""

from helpers.textbook import bag
from hypothesis import given
from hypothesis import strategies as st

from spamnb.store.table import CountTable

tokens = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), max_size=6)
numbers = st.dictionaries(st.sampled_from(["size", "links"]), st.integers(0, 500), max_size=2)
messages = st.lists(st.tuples(st.sampled_from(["ham", "spam", "work"]), tokens, numbers), max_size=12)


def counted(mail, labels=("ham", "spam", "work")):
    table = CountTable(labels)
    for label, its_tokens, its_numbers in mail:
        table.learn(label, bag(its_tokens), its_numbers)
    return table


@given(messages, messages)
def test_pieces_summed_equal_one_pass(first, second):
    assert counted(first) + counted(second) == counted(first + second)


@given(messages, messages)
def test_merging_is_order_free(first, second):
    assert counted(first) + counted(second) == counted(second) + counted(first)


@given(messages, messages)
def test_what_was_added_can_be_taken_away(first, second):
    difference = (counted(first) + counted(second)) - counted(second)
    assert difference == counted(first)
    assert difference.tokens == counted(first).tokens


@given(messages)
def test_learning_then_forgetting_everything_leaves_nothing(mail):
    table = counted(mail)
    for label, its_tokens, its_numbers in mail:
        table.forget(label, bag(its_tokens), its_numbers)
    assert table == CountTable([])
    assert (table.tokens, table.numbers, sum(table.messages)) == ({}, {}, 0)


@given(messages)
def test_the_order_of_labels_does_not_matter(mail):
    assert counted(mail) == counted(mail, ("work", "spam", "ham"))


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
