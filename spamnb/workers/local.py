"""Reading and counting mail by threads of this process, in little memory.

Tables are added up a few at a time. What they come to, if it is much, lies in a file until the same shard of
each is merged in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.core.native import COUNTERS, count_grams
from spamnb.mailboxes.sources import CHUNK, chunks_by_label
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import NO_GRAMS, CountTable, sum_tables
from spamnb.tables.loading import load_shard
from spamnb.tables.spilling import MOST_SHARDS, SpilledTable, SpillFile
from spamnb.tables.vocabulary import check_columns
from spamnb.training.batches import Batch, ChunkReader, MailToRead
from spamnb.workers.threads import all_cores, in_background, in_threads

FEW_ENTRIES, MOST_ENTRIES = 3 << 19, 1 << 21  # of tables in memory, 35 bytes each; the file has as many
SHARD_ENTRIES = 1 << 18


class LocalTableSum:
    """Sum of the counts of batches, and of the model there was before."""

    def __init__(
        self, base: StoredModel | None, labels: Sequence[str], file: SpillFile, jobs: int = 1
    ) -> None:
        if base:
            check_columns(base)
        self.base = base
        self.labels = labels
        self.file = file
        self.jobs = jobs
        self.tables: list[CountTable] = []
        self.spilled: list[SpilledTable] = []
        self.grams = NO_GRAMS  # 32 bits are enough for the messages of one run

    def add(self, batch: Batch, steps: Array, day: int) -> None:
        """Add messages of a batch: rows of message, label index, and 1 to add or -1 to subtract."""
        grams = batch.rows.grams
        if len(grams.members):
            self.grams = self.grams if self.grams.size else np.zeros((len(self.labels), COUNTERS), np.int32)
            count_grams(grams.starts, grams.members, steps, self.grams)
        self.tables.append(batch.table(self.labels, steps, day))
        limit = max(FEW_ENTRIES, sum(map(len, self.spilled)))
        if sum(map(len, self.tables)) > min(limit, MOST_ENTRIES):
            self.spilled.append(SpilledTable(self.file, sum_tables(self.tables)))
            self.tables = []

    def shards(self) -> list[SpilledTable | CountTable]:
        """Finish the sum. If it is large, it goes back into the file: scores need the memory."""
        of_base = [len(self.base.column(name)) for name in ("tokens", "pairs")] if self.base else []
        entries = sum([*of_base, *map(len, self.spilled), *map(len, self.tables)])
        count = min(1 << (entries // SHARD_ENTRIES).bit_length(), MOST_SHARDS)
        is_large = entries > MOST_ENTRIES
        shards: list[SpilledTable | CountTable] = []
        for total in in_threads(self._shard, ((shard, count) for shard in range(count)), self.jobs):
            shards.append(SpilledTable(self.file, total) if is_large else total)
        self.spilled, self.tables = [], []
        return shards

    def _shard(self, shard: int, count: int) -> CountTable:
        """Sum up one of `count` equal ranges of fingerprints."""
        grams = replace(CountTable.empty(self.labels), grams=self.grams)
        before = [load_shard(self.base, shard, count)] if self.base else []
        spilled = [table.shard(shard, count) for table in self.spilled]
        tables = [table.shard(shard, count) for table in self.tables]
        return sum_tables([grams.as_shard(shard), *before, *spilled, *tables]).clipped()


class LocalPool:
    """Threads of this process."""

    chunk_size = CHUNK

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        """Read all mail under each label, in order."""
        task = ChunkReader(mail.settings, mail.known)
        return self.results(task, chunks_by_label(mail.sources, self.chunk_size))

    def results(self, task: Callable[..., Any], work: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield the results of a task for each tuple of arguments, in order."""
        return in_threads(task, work, self.jobs)

    def map(self, task: Callable[..., Any], *work: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of a task as `map` does, in order."""
        return in_threads(task, zip(*work, strict=True), self.jobs)

    def map_shards(
        self, task: Callable[..., Any], shards: Iterable[SpilledTable | CountTable], *more: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield the results of a task on each shard, in order."""

        def run(shard: SpilledTable | CountTable, *rest: Any) -> Any:
            return task(shard.shard() if isinstance(shard, SpilledTable) else shard, *rest)

        return self.map(run, shards, *more)

    def in_background(self, task: Callable[[], Any]) -> AbstractContextManager[Callable[[], Any]]:
        return in_background(task, self.jobs)

    def table_sum(self, base: StoredModel | None, labels: Sequence[str], file: SpillFile) -> LocalTableSum:
        return LocalTableSum(base, labels, file, self.jobs)
