"""Sum of tables as a tree, on workers that none of the tables may be too large for.

BRANCHING tables become one, and that is cut into BRANCHING ranges of fingerprints, each to be summed with
others of the same range: on the way a table covers more mail and fewer of its tokens. So none grows beyond
what some mail holds, until there are enough ranges; these are the shards of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.loading import load_shard
from spamnb.tables.vocabulary import Vocabulary
from spamnb.workers.cluster import tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client, Future

    from spamnb.store.stored_model import StoredModel
    from spamnb.training.pool import Finish

BRANCHING = 8
MAIL_OF_A_TABLE = 256 << 20  # bytes whose tokens one table may have: some 300 MB of memory while it is summed
DEEPEST = 4  # 4096 shards


def depth_for(size: int) -> int:
    """How often tables are cut on their way, for so many bytes of mail."""
    depth = 0
    while depth < DEEPEST and size > MAIL_OF_A_TABLE * BRANCHING**depth:
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
            Vocabulary(base).check()

    def add(self, table: Future) -> None:
        self._put(0, 0, table)

    def _put(self, level: int, shard: int, table: Future) -> None:
        waiting = self.waiting.setdefault((level, shard), [])
        waiting.append(table)
        if len(waiting) == BRANCHING:
            self._sum(level, shard)

    def _sum(self, level: int, shard: int) -> None:
        """Sum the tables that wait for it, and move the sum a level up."""
        total = self.client.submit(sum_tables, self.waiting.pop((level, shard)), pure=False)
        if level >= self.depth:
            self._put(level + 1, shard, total)
            return
        shards = BRANCHING ** (level + 1)
        for above in range(shard * BRANCHING, (shard + 1) * BRANCHING):
            table = self.client.submit(CountTable.shard, total, above, shards, pure=False)
            self._put(level + 1, above, table)

    def shards(self, finish: Finish) -> list[Future] | list[ShardToAdd]:
        """Finish the sum; its shards stay on the workers."""
        for level in range(self.depth):
            for shard in range(BRANCHING**level):
                if (level, shard) in self.waiting:
                    self._sum(level, shard)
        every = range(BRANCHING**self.depth)
        if self.base is None:
            return [
                self.client.submit(tasks.finished, self._tables(shard), finish, pure=False) for shard in every
            ]
        totals = [self.client.submit(sum_tables, self._tables(shard), pure=False) for shard in every]
        return [ShardToAdd(self.base, shard, len(every), total, finish) for shard, total in enumerate(totals)]

    def _tables(self, shard: int) -> list[CountTable | Future]:
        """Tables of a shard for its last sum: an empty one, then those of the highest level first."""
        levels = sorted([level for level, other in self.waiting if other == shard and level >= self.depth])
        tables = [table for level in reversed(levels) for table in self.waiting.pop((level, shard))]
        return [CountTable.empty(self.labels), *tables]


@dataclass(frozen=True)
class ShardToAdd:
    """A shard of a sum, to be added to that of the model, which workers do not see.

    What is sent to workers by hand is lost with them. So it is added by this process, one shard at a time.
    """

    base: StoredModel
    shard: int
    shards: int
    total: Future
    finish: Finish

    def table(self, total: CountTable) -> CountTable:
        before = load_shard(self.base, self.shard, self.shards).relabelled(total.labels)
        return self.finish(sum_tables([before, total]), before)
