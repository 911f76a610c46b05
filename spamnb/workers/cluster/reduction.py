"""Tables summed as a tree, on workers that none of them may be too large for.

FAN tables become one, and that is cut into FAN ranges of fingerprints, each to be summed with its likes: on
the way a table covers more mail and fewer of its tokens. So none grows beyond what some mail holds, until
there are enough ranges; these are the parts of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.loading import load_slice
from spamnb.tables.vocabulary import Vocabulary
from spamnb.workers.cluster import tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client, Future

    from spamnb.store.stored import Stored
    from spamnb.training.pool import Finish

FAN = 8
LEAF = 256 << 20  # bytes of mail whose tokens one table may have: some 300 MB of memory while it is summed
DEEPEST = 4  # 4096 parts


def depth_for(size: int) -> int:
    """How often tables are cut on their way, for so many bytes of mail."""
    depth = 0
    while depth < DEEPEST and size > LEAF * FAN**depth:
        depth += 1
    return depth


class Reduction:
    def __init__(self, client: Client, base: Stored | None, labels: Sequence[str], depth: int) -> None:
        self.client = client
        self.base = base
        self.labels = labels
        self.depth = depth
        self.waiting: dict[tuple[int, int], list[Future]] = {}  # by level, and range on that level
        if base:
            Vocabulary(base).check()

    def add(self, table: Future) -> None:
        self._put(0, 0, table)

    def _put(self, level: int, part: int, table: Future) -> None:
        waiting = self.waiting.setdefault((level, part), [])
        waiting.append(table)
        if len(waiting) == FAN:
            self._sum(level, part)

    def _sum(self, level: int, part: int) -> None:
        """What waits there goes a level up."""
        total = self.client.submit(tasks.sum_of, self.waiting.pop((level, part)), pure=False)
        if level >= self.depth:
            self._put(level + 1, part, total)
            return
        parts = FAN ** (level + 1)
        for own in range(part * FAN, part * FAN + FAN):
            self._put(level + 1, own, self.client.submit(tasks.part_of, total, own, parts, pure=False))

    def parts(self, finish: Finish) -> list[Future] | list[Added]:
        """The sum in parts; they stay where they are."""
        for level in range(self.depth):
            for part in range(FAN**level):
                if (level, part) in self.waiting:
                    self._sum(level, part)
        every = range(FAN**self.depth)
        if self.base is None:
            return [
                self.client.submit(tasks.finished, *self._tables(part), finish, pure=False) for part in every
            ]
        totals = [self.client.submit(tasks.total_of, *self._tables(part), pure=False) for part in every]
        return [Added(self.base, part, len(every), total, finish) for part, total in enumerate(totals)]

    def _tables(self, part: int) -> tuple[CountTable, list[Future]]:
        """What is to be summed at last, the oldest first: they are on the highest level."""
        levels = sorted([level for level, own in self.waiting if own == part and level >= self.depth])
        tables = [table for level in reversed(levels) for table in self.waiting.pop((level, part))]
        return CountTable.empty(self.labels), tables


@dataclass(frozen=True)
class Added:
    """A part of a sum, and of the model it adds to: that workers do not see, and what is sent to them by hand
    is lost with them. So this is done here, one part at a time."""

    base: Stored
    part: int
    parts: int
    total: Future
    finish: Finish

    def table(self, total: CountTable) -> CountTable:
        before = load_slice(self.base, self.part, self.parts).relabelled(total.labels)
        return self.finish(sum_tables([before, total]), before)
