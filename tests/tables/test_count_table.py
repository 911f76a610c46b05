"""Count tables in bulk add in any order and in any parts, and what is taken away again leaves the rest."""

import errno
from pathlib import Path

import numpy as np
import pytest
from helpers.generated import examples_times
from helpers.tables import ABOUT, LABELS, assert_same, bulk, mail, saved
from helpers.textbook import rows_of
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import CannotCreate, ModelError
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.loading import load_table
from spamnb.tables.saving import save
from spamnb.tables.spilling import MOST_IN_MEMORY, SpillFile


@given(st.lists(mail, min_size=2, max_size=5), st.randoms(use_true_random=False))
@examples_times(0.6)
def test_the_sum_of_tables_in_any_order_is_the_table_of_all(shards, chance):
    tables = [bulk(shard) for shard in shards]
    first, *rest = chance.sample(tables, len(tables))
    total = sum_tables([first, sum_tables(rest)])
    assert_same(total, bulk([message for shard in shards for message in shard]))
    assert_same(total - sum_tables(rest), first)


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


@pytest.mark.parametrize("top", [9, 300, 70_000])  # counts of one, two and four bytes
def test_the_same_file_in_however_many_parts(top, tmp_path):
    some: list[tuple] = [
        (LABELS[n % 3], {f"word{m}": top for m in range(n, 3 * n)}, {}, {("a", "b")}) for n in range(40)
    ]
    table, about = bulk(some, learned=[3, 2**63, 2**64 - 1]), ABOUT | {"labels": LABELS}
    files = []
    for many in (1, 2, 64):
        shards = [table.shard(number, many) for number in range(many)]
        files.append(Path(save(str(tmp_path / f"{many}"), shards, table.learned, about)).read_bytes())
    assert len(set(files)) == 1
    assert_same(load_table(StoredModel.open(saved(str(tmp_path / "model"), table))), table)


def test_a_count_below_zero_is_never_written(tmp_path):
    table = bulk([("ham", {"a": 1}, {})])
    wrong = CountTable(**{**vars(table), "message_counts": table.message_counts - 1})
    path = str(tmp_path / "model")
    with pytest.raises(ModelError, match="head is damaged"):
        saved(path, wrong)
    saved(path, wrong.clipped())
    assert rows_of(StoredModel(path), ["a"]) == {}
    assert (StoredModel(path).presences, StoredModel(path).vocabulary) == ([0, 0, 0], 0)


def test_a_word_that_is_left_in_messages_still_occurs():
    """Forgotten after it was pruned: it may have occurred more often there than it does by now."""
    word = bulk([("ham", {"mill": 1, "moon": 2})])
    left = sum_tables([word, word, bulk([("ham", {"moon": 9})]).scaled(-1)]).clipped()
    assert {*left.tokens(range(len(left)))} == {"mill", "moon"}
    assert (left.occurrence_counts >= left.message_counts).all()


def test_a_full_disk_is_an_error_that_says_where(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with SpillFile(str(tmp_path)) as file, pytest.raises(CannotCreate, match="No space left"):
        file.put(np.empty(MOST_IN_MEMORY + 1, np.uint8))
