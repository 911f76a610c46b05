"""Sum of tables as a tree, in which no table is too large for a worker.

BRANCHING tables are summed, and the sum is cut into BRANCHING ranges of fingerprints, each to be summed with
tables of the same range: from level to level, a table covers more mail, but fewer of its tokens. So no table
grows beyond the tokens of MAIL_PER_TABLE. The ranges of the last cut are the shards of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distributed import Client, Future

from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.loading import load_shard
from spamnb.tables.vocabulary import check_columns
from spamnb.workers.cluster import tasks

BRANCHING = 8
MAIL_PER_TABLE = 256 << 20  # bytes: to sum the tokens of so much mail takes some 300 MB of memory
MAX_DEPTH = 4  # makes BRANCHING**4 = 4096 shards


def depth_for(size: int) -> int:
    """Number of levels on which tables are cut, for `size` bytes of mail."""
    depth = 0
    while depth < MAX_DEPTH and size > MAIL_PER_TABLE * BRANCHING**depth:
        depth += 1
    return depth


class ClusterTableSum:
    """Sum of tables that are on the workers of a cluster, and of the model there was before."""

    def __init__(self, client: Client, base: StoredModel | None, labels: Sequence[str], depth: int) -> None:
        self.client = client
        self.base = base
        self.labels = labels
        self.depth = depth
        self.waiting: dict[tuple[int, int], list[Future]] = {}  # by level, and shard on that level
        if base:
            check_columns(base)

    def add(self, table: Future) -> None:
        self._put(0, 0, table)

    def _put(self, level: int, shard: int, table: Future) -> None:
        waiting = self.waiting.setdefault((level, shard), [])
        waiting.append(table)
        if len(waiting) == BRANCHING:
            self._sum(level, shard)

    def _sum(self, level: int, shard: int) -> None:
        """Sum the tables that wait, and move the sum a level up, cut unless it has been cut often enough."""
        total = self.client.submit(sum_tables, self.waiting.pop((level, shard)), pure=False)
        if level >= self.depth:
            self._put(level + 1, shard, total)
            return
        shards = BRANCHING ** (level + 1)
        for above in range(shard * BRANCHING, (shard + 1) * BRANCHING):
            table = self.client.submit(tasks.shard, total, above, shards, pure=False)
            self._put(level + 1, above, table)

    def shards(self) -> list[Future] | list[ShardToAdd]:
        """Finish the sum; its shards stay on the workers."""
        for level in range(self.depth):
            for shard in range(BRANCHING**level):
                if (level, shard) in self.waiting:
                    self._sum(level, shard)
        every = range(BRANCHING**self.depth)
        if self.base is None:
            return [self.client.submit(tasks.finished, self._tables(shard), pure=False) for shard in every]
        totals = [self.client.submit(sum_tables, self._tables(shard), pure=False) for shard in every]
        return [ShardToAdd(self.base, shard, len(every), total) for shard, total in enumerate(totals)]

    def _tables(self, shard: int) -> list[CountTable | Future]:
        """Tables of a shard for its last sum: an empty one, then those of the highest level first."""
        levels = sorted([level for level, other in self.waiting if other == shard and level >= self.depth])
        tables = [table for level in reversed(levels) for table in self.waiting.pop((level, shard))]
        return [CountTable.empty(self.labels), *tables]


@dataclass(frozen=True)
class ShardToAdd:
    """A shard of a sum, to be added to the same shard of the model there was before.

    This process adds them, one shard at a time: a model sent to workers by hand would be lost if they die.
    """

    base: StoredModel
    shard: int
    shards: int
    total: Future

    def table(self, total: CountTable) -> CountTable:
        before = load_shard(self.base, self.shard, self.shards).relabelled(total.labels)
        return sum_tables([before, total]).clipped()
