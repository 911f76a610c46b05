"""Reading and counting mail by the processes of this machine, in little memory.

Tables are added up a few at a time. What they come to, if it is much, lies in a file until the same shard of
each is merged in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from spamnb.mailboxes.sources import CHUNK, chunks_by_label
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import NO_GRAMS, CountTable, sum_tables
from spamnb.tables.loading import load_shard
from spamnb.tables.spilling import MOST_SHARDS, SpilledTable, SpillFile
from spamnb.tables.vocabulary import check_columns
from spamnb.training.batches import Batch, ChunkReader, MailToRead
from spamnb.workers.processes import all_cores, in_background, in_parallel

FEW_ENTRIES, MOST_ENTRIES = 3 << 19, 1 << 21  # of tables in memory, 35 bytes each; the file has as many
SHARD_ENTRIES = 1 << 18


class LocalTableSum:
    """Sum of tables, and of the model there was before."""

    def __init__(self, base: StoredModel | None, labels: Sequence[str], file: SpillFile) -> None:
        if base:
            check_columns(base)
        self.base = base
        self.labels = labels
        self.file = file
        self.tables: list[CountTable] = []
        self.spilled: list[SpilledTable] = []
        self.grams = NO_GRAMS  # of all tables: 2 MB each; 32 bits are enough for the messages of one run

    def add(self, table: CountTable) -> None:
        if table.grams.size:
            self.grams = self.grams if self.grams.size else np.zeros_like(table.grams)
            self.grams += table.grams
        self.tables.append(replace(table, grams=NO_GRAMS))
        limit = max(FEW_ENTRIES, sum(map(len, self.spilled)))
        if sum(map(len, self.tables)) > min(limit, MOST_ENTRIES):
            self.spilled.append(SpilledTable(self.file, sum_tables(self.tables)))
            self.tables = []

    def shards(self) -> list[SpilledTable]:
        """Finish the sum. It goes back into the file: scores need the memory."""
        of_base = [len(self.base.column(name)) for name in ("tokens", "pairs")] if self.base else []
        entries = sum([*of_base, *map(len, self.spilled), *map(len, self.tables)])
        count = min(1 << (entries // SHARD_ENTRIES).bit_length(), MOST_SHARDS)
        shards: list[SpilledTable] = []
        grams = replace(CountTable.empty(self.labels), grams=self.grams)
        for shard in range(count):
            before = [load_shard(self.base, shard, count)] if self.base else []
            spilled = [table.shard(shard, count) for table in self.spilled]
            tables = [table.shard(shard, count) for table in self.tables]
            total = sum_tables([grams.as_shard(shard), *before, *spilled, *tables]).clipped()
            shards.append(SpilledTable(self.file, total))
        self.spilled, self.tables = [], []
        return shards


def map_shards(
    task: Callable[..., Any], shards: Iterable[SpilledTable], *more: Iterable[Any]
) -> Iterator[Any]:
    """Yield the results of a task on each shard, in order."""
    for shard, *rest in zip(shards, *more, strict=True):
        yield task(shard.shard(), *rest)


class LocalPool:
    """Processes of this machine."""

    chunk_size = CHUNK
    map_shards = staticmethod(map_shards)

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        """Read all mail under each label, in order."""
        task = ChunkReader(mail.settings, mail.known)
        return self.results(task, chunks_by_label(mail.sources, self.chunk_size))

    def results(self, task: Callable[..., Any], work: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield the results of a task for each tuple of arguments, in order."""
        return in_parallel(task, work, self.jobs)

    def in_background(self, task: Callable[[], Any]) -> AbstractContextManager[Callable[[], Any]]:
        return in_background(task, self.jobs)

    def table_sum(self, base: StoredModel | None, labels: Sequence[str], file: SpillFile) -> LocalTableSum:
        return LocalTableSum(base, labels, file)
