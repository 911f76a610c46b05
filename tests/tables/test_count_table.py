"""Count tables in bulk add in any order, and say the same as count tables in memory."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from helpers.generated import examples_times
from helpers.simple_table import SimpleTable
from helpers.tables import LABELS, assert_same, bulk, fingerprint, mail, saved, table_of
from helpers.textbook import rows_of
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import CannotCreate, ModelError
from spamnb.reading.features import fingerprints_of, pair_fingerprint
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.learned import NOT_LEARNED, LearnedMessages, merge_learned
from spamnb.training.writing import write


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


def test_the_later_day_is_kept():
    there = bulk([("ham", {"a": 1, "word": 1})])
    early, late = (replace(there, last_days=np.array(days, np.uint16)) for days in ([5, 9], [7, 8]))
    assert (
        sum_tables([early, late]).last_days.tolist() == sum_tables([late, early]).last_days.tolist() == [7, 9]
    )


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


def test_tables_of_different_labels_add():
    one, other = bulk([("ham", {"a": 2}, {})], ["ham"]), bulk([("spam", {"a": 3}, {})], ["spam"])
    total = sum_tables([one, other])
    assert total.labels == ("ham", "spam")
    assert as_table(total).tokens == {"a": [1, 1, 2, 3]}


def test_places_of_known_and_unknown_tokens():
    table = bulk([("ham", {f"word{n}": 1 for n in range(50)}, {})])
    names = [f"word{n}" for n in range(50)]
    places = table.places(np.array(fingerprints_of(names), np.uint64))
    assert table.tokens(places.tolist()) == names
    unknown = np.array([0, fingerprint("no"), 2**64 - 1], np.uint64)
    assert table.places(unknown).tolist() == [-1, -1, -1]
    assert CountTable.empty(LABELS).places(unknown).tolist() == [-1, -1, -1]


@pytest.mark.slow
def test_a_large_vocabulary_keeps_its_text():
    words = sorted("wörter"[: n % 5 + 1] + str(n) for n in range(70_000))
    halves = [bulk([("ham", dict.fromkeys(words[start::2], 1), {})]) for start in (0, 1)]
    total = sum_tables(halves)
    assert sorted(total.tokens(range(len(total)))) == words
    assert total.fingerprints.tolist() == sorted(map(fingerprint, words))


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


def test_digests_keep_all_of_their_64_bits():
    numbers = [0, 1, 2**63 - 1, 2**63, 2**64 - 1, 2**53 + 1]
    learned = LearnedMessages.of(numbers, list(range(6)))
    assert [learned.label_index(number) for number in numbers] == list(range(6))
    assert [learned.label_index(number) for number in (2, 2**63 + 1, 2**64 - 2, 2**53)] == [NOT_LEARNED] * 4


def test_scores_are_renewed_for_some():
    learned = LearnedMessages.of([1, 5, 9], [0, 0, 1], [0.5, np.nan, 2.0])
    renewed = learned.scored(
        np.array([9, 5], np.uint64), scores=np.array([-1.0, 3.0]), leads=np.array([4.0, 6.0])
    )
    assert renewed.scores.tolist() == [0.5, 3.0, -1.0]
    assert renewed.leads.tolist()[1:] == [6.0, 4.0]
    assert learned.scores.tolist()[0::2] == [0.5, 2.0]


# Fingerprints


tokens = st.text("abcdefghij:@.-äß漢", min_size=1, max_size=40)


@given(tokens, tokens)
def test_a_fingerprint_has_64_bits_and_tells_tokens_apart(one, other):
    assert 0 <= fingerprint(one) < 2**64
    assert (fingerprint(one) == fingerprint(other)) == (one == other)
    assert fingerprints_of([one, other]) == [fingerprint(one), fingerprint(other)]


def test_tokens_of_up_to_eight_bytes_never_collide():
    """Each step can be taken back."""
    back = pow(0x9E3779B97F4A7C15, -1, 2**64)
    for token in ("a", "ä", "now", "subject:", "\U0010ffff\U0010ffff"):
        number = fingerprint(token) * back % 2**64
        number ^= number >> 32
        assert (number * back % 2**64).to_bytes(8, "little").rstrip(b"\0").decode() == token


def test_words_that_differ_little_differ():
    """In two bytes, wherever these stand, or in how often one letter is there."""
    words = {size * "a" for size in range(1, 40)}
    for first, second in combinations(range(24), 2):
        for one, other in product("abcdefghij", repeat=2):
            word = list(24 * "m")
            word[first], word[second] = one, other
            words.add("".join(word))
    assert len({*fingerprints_of(words)}) == len(words)


def test_fingerprints_are_spread_evenly():
    """What a directory by their first bits relies on."""
    for made in ("word{}", "{:08}", "subject:{}", "url:example.com/{}/index"):
        firsts = np.array(fingerprints_of([made.format(n) for n in range(1 << 14)]), np.uint64) >> np.uint64(
            54
        )
        assert np.bincount(firsts.astype(int), minlength=1 << 10).max() < 4 * 16


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


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotCreate, match="cannot write the model"):
        write(str(tmp_path / "file" / "model"), CountTable.empty(LABELS), Settings())
