"""Sum of the tables that the processes of this machine count, in little memory.

Tables are added up a few at a time. What they come to, if it is much, lies in a file, cut into shards, until
the shards of all sums are merged in the end.
"""

from __future__ import annotations

import pickle
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from spamnb.errors import CannotCreate
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.loading import load_shard
from spamnb.tables.vocabulary import check_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from spamnb.store.stored_model import StoredModel
    from spamnb.training.pool import Finish

MOST_ENTRIES = 1 << 21  # of tables in memory: some 70 MB, and twice as much while they are summed
SHARDS = 64  # of what is in a file
SHARD_ENTRIES = 1 << 18  # in a shard of what is in memory
FEW_SHARDS = 8  # may stay in memory


class SpilledTable:
    """A table in a file."""

    def __init__(self, file: IO[bytes], table: CountTable) -> None:
        self.file = file
        self.at = file.seek(0, 2)
        pickle.dump(table, file, pickle.HIGHEST_PROTOCOL)

    def load(self) -> CountTable:
        self.file.seek(self.at)
        table: CountTable = pickle.load(self.file)  # noqa: S301 (a file without a name, which nobody else has)
        return table


class LocalTableSum:
    """Sum of tables, and of the model there was before."""

    def __init__(self, base: StoredModel | None, labels: Sequence[str], folder: str = ".") -> None:
        if base:
            check_columns(base)
        self.base = base
        self.labels = labels
        self.folder = folder
        self.tables: list[CountTable] = []
        self.entries = 0  # in all of these
        self.file: IO[bytes] | None = None
        self.spilled: list[list[SpilledTable]] = []  # the shards of each sum in the file

    def add(self, table: CountTable) -> None:
        self.tables.append(table)
        self.entries += len(table)
        if self.entries > MOST_ENTRIES:
            total = self._sum()
            self.spilled.append([self._spill(total.shard(shard, SHARDS)) for shard in range(SHARDS)])

    def _sum(self) -> CountTable:
        """Sum the tables in memory, which are none then."""
        tables, self.tables, self.entries = self.tables, [], 0
        return sum_tables([CountTable.empty(self.labels), *tables])

    def _spill(self, table: CountTable) -> SpilledTable:
        """Put a table into a file that has no name: nothing is left of it however this process ends."""
        try:
            if self.file is None:
                self.file = TemporaryFile(dir=self.folder)  # noqa: SIM115 (closed with this sum)
            return SpilledTable(self.file, table)
        except OSError as error:
            why = f"cannot write what does not fit into memory: {error.strerror}"
            raise CannotCreate(f"{self.folder}: {why}") from error

    def shards(self, finish: Finish) -> list[CountTable | SpilledTable]:
        """Finish the sum."""
        last = self._sum()
        in_base = (len(self.base.column(name)) for name in ("tokens", "pairs")) if self.base else ()
        entries = len(last) + sum(in_base)
        count = SHARDS if self.spilled else 1 << (entries // SHARD_ENTRIES).bit_length()
        shards: list[CountTable | SpilledTable] = []
        for shard in range(count):
            before = CountTable.empty(self.labels)
            if self.base:
                before = load_shard(self.base, shard, count).relabelled(self.labels)
            spilled = [shards_of_sum[shard].load() for shards_of_sum in self.spilled]
            table = finish(sum_tables([before, *spilled, last.shard(shard, count)]), before)
            shards.append(table if count <= FEW_SHARDS else self._spill(table))
        self.spilled = []
        return shards


def map_shards(
    task: Callable[..., Any], shards: Iterable[CountTable | SpilledTable], *more: Iterable[Any]
) -> Iterator[Any]:
    """Yield the results of a task on each shard, in order."""
    for shard, *rest in zip(shards, *more, strict=True):
        yield task(shard.load() if isinstance(shard, SpilledTable) else shard, *rest)
