"""Tables and samples that lie in a file until they are needed."""

import errno

import numpy as np
import pytest
from helpers.tables import LABELS, assert_same, bulk, mail
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import CannotCreate
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.spilling import MOST_SHARDS, SpilledTable, SpillFile
from spamnb.workers import local
from spamnb.workers.local import LocalTableSum, map_shards


@given(mail, st.sampled_from([1, 2, 8, MOST_SHARDS]))
def test_a_table_comes_back_shard_by_shard(some, shards):
    table = bulk(some)
    with SpillFile(".") as file:
        spilled = SpilledTable(file, table)
        assert len(spilled) == len(table)
        for shard in range(shards):
            assert_same(spilled.shard(shard, shards), table.shard(shard, shards))


@given(st.lists(mail, min_size=1, max_size=6), st.sampled_from([0, 3, 100]))
def test_the_sum_is_the_same_in_memory_and_in_a_file(pieces, limit):
    with SpillFile(".") as file, pytest.MonkeyPatch.context() as patch:
        for name in ("FEW_ENTRIES", "MOST_ENTRIES"):
            patch.setattr(local, name, limit)
        patch.setattr(local, "SHARD_ENTRIES", 2)
        total = LocalTableSum(None, LABELS, file)
        for piece in pieces:
            total.add(bulk(piece))
        shards = list(map_shards(lambda table: table, total.shards()))
    empty = CountTable.empty(LABELS)
    assert_same(sum_tables([empty, *shards]), sum_tables([empty, *map(bulk, pieces)]))


def test_a_full_disk_is_an_error_that_says_where(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with SpillFile(str(tmp_path)) as file, pytest.raises(CannotCreate, match="No space left"):
        file.put(np.zeros(100, np.uint8))
