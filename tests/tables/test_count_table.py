"""Count tables in bulk add in any order, and say the same as count tables in memory."""

from itertools import product

import numpy as np
import pytest
from helpers.generated import examples_times
from helpers.simple_table import SimpleTable
from helpers.tables import LABELS, assert_same, bulk, fingerprint, mail, saved, table_of
from helpers.textbook import rows_of
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import ModelError
from spamnb.reading.features import fingerprints_of, pair_fingerprint
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.learned import NOT_LEARNED, LearnedMessages, merge_learned


def as_table(columns):
    """The same as a table in memory, token by token."""
    table = SimpleTable(columns.labels)
    table.messages = list(columns.messages)
    table.numbers = columns.numbers
    pairs = {pair_fingerprint(*pair): pair for pair in product("abc", "abc")}
    for at, token in enumerate(columns.tokens(range(len(columns)))):
        if columns.words[at]:
            table.tokens[token] = [
                *columns.message_counts[:, at].tolist(),
                *columns.occurrence_counts[:, at].tolist(),
            ]
        else:
            table.pairs[pairs[int(columns.fingerprints[at])]] = columns.message_counts[:, at].tolist()
    return table


@given(st.lists(mail, min_size=1, max_size=5))
@examples_times(0.6)
def test_the_sum_is_that_of_the_tables_in_memory(shards):
    total = as_table(sum_tables([bulk(shard) for shard in shards]))
    one_pass = table_of([message for shard in shards for message in shard])
    assert total.tokens == one_pass.tokens
    assert total.pairs == one_pass.pairs
    assert total.messages == one_pass.messages
    assert total.numbers == one_pass.numbers


@given(st.lists(mail, min_size=2, max_size=5), st.randoms(use_true_random=False))
@examples_times(0.6)
@pytest.mark.slow
def test_the_order_of_a_sum_makes_no_difference(shards, chance):
    tables = [bulk(shard, learned=[7 * number, 7 * number + 3]) for number, shard in enumerate(shards)]
    shuffled = chance.sample(tables, len(tables))
    assert_same(sum_tables(tables), sum_tables(shuffled))
    assert_same(sum_tables(tables), sum_tables([sum_tables(shuffled[:-1]), shuffled[-1]]))
    assert_same(sum_tables(tables), sum_tables([shuffled[0], sum_tables(shuffled[1:])]))


@given(mail, mail)
@examples_times(0.4)
def test_what_is_taken_away_again_leaves_the_rest(some, more):
    assert_same(bulk(some) + bulk(more) - bulk(more), bulk(some))


@given(mail, st.permutations([*LABELS, "new"]))
@examples_times(0.3)
def test_labels_may_come_and_change_places(some, labels):
    there = bulk(some, learned=[4, 5])
    moved = there.relabelled(labels)
    for label in LABELS:
        old, new = LABELS.index(label), labels.index(label)
        assert moved.messages[new] == there.messages[old]
        assert np.array_equal(moved.message_counts[new], there.message_counts[old])
        assert np.array_equal(moved.occurrence_counts[new], there.occurrence_counts[old])
        assert all(moved.numbers[name][new] == rows[old] for name, rows in there.numbers.items())
    assert moved.learned.label_index(4) == labels.index("ham")
    assert not moved.message_counts[labels.index("new")].any()
    assert_same(moved.relabelled([*LABELS, "new"]), there.relabelled([*LABELS, "new"]))


# Which messages were learned


@given(
    st.lists(
        st.dictionaries(st.integers(0, 6), st.integers(NOT_LEARNED, 2), max_size=5), min_size=1, max_size=5
    )
)
@examples_times(0.6)
def test_what_is_learned_merge_learned_is_what_was_said_last(turns):
    said = {}
    for turn in turns:
        said.update(turn)
    total = merge_learned([LearnedMessages.of(list(turn), list(turn.values())) for turn in turns]).remaining()
    assert total.digests.tolist() == sorted(one for one, place in said.items() if place != NOT_LEARNED)
    assert all(total.label_index(one) == said.get(one, NOT_LEARNED) for one in range(8))


# Fingerprints


tokens = st.text("abcdefghij:@.-äß漢", min_size=1, max_size=40)


@given(tokens, tokens)
def test_a_fingerprint_has_64_bits_and_tells_tokens_apart(one, other):
    assert 0 <= fingerprint(one) < 2**64
    assert (fingerprint(one) == fingerprint(other)) == (one == other)
    assert fingerprints_of([one, other]) == [fingerprint(one), fingerprint(other)]


@given(st.text("abcdef", max_size=12), st.text("abcdef", max_size=12))
def test_a_pair_is_told_from_its_reverse_and_from_its_words(one, other):
    there, back = pair_fingerprint(one, other), pair_fingerprint(other, one)
    assert 0 <= there < 2**64
    assert (there == back) == (one == other)
    words = np.array(fingerprints_of([one, other]), np.uint64)
    assert (words[:1] * np.uint64(0xB5D3C96A1F84E27D) + words[1:]).tolist() == [there]  # as in bulk
    assert there not in fingerprints_of([one + other, f"{one} {other}"]) or not (one and other)


# Writing


def test_a_count_below_zero_is_never_written(tmp_path):
    table = bulk([("ham", {"a": 1}, {})])
    wrong = CountTable(**{**vars(table), "message_counts": table.message_counts - 1})
    path = str(tmp_path / "model")
    with pytest.raises(ModelError, match="head is damaged"):
        saved(path, wrong)
    saved(path, wrong.clipped())
    assert rows_of(StoredModel(path), ["a"]) == {}
    assert (StoredModel(path).presences, StoredModel(path).vocabulary) == ([0, 0, 0], 0)
