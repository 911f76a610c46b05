"""What is too much for memory, put into a file until it is needed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from spamnb.arrays import Array, Texts, shard_range
from spamnb.errors import CannotCreate
from spamnb.tables.count_table import CountTable

MOST_SHARDS = 256  # into which a table in a file can be cut
MOST_IN_MEMORY = 64 << 20  # bytes of columns that are kept in memory before there is a file


class SpillFile:
    """A file that has no name: nothing is left of it, however this process ends."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.file: Any = None  # made when it is needed
        self.size = 0
        self.in_memory = 0  # bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.file:
            self.file.close()

    def put(self, column: Array) -> SpilledArray | ColumnInMemory:
        """Write a column behind all others; the first ones stay in memory."""
        if self.in_memory + column.nbytes <= MOST_IN_MEMORY:
            self.in_memory += column.nbytes
            return ColumnInMemory(column)
        at, data = self.size, np.ascontiguousarray(column).view(np.uint8).data
        try:
            if not self.file:
                from tempfile import TemporaryFile  # takes 4 ms to load

                self.file = TemporaryFile(dir=self.folder)  # noqa: SIM115 (closed in __exit__)
            while len(data):
                written = os.pwrite(self.file.fileno(), data, self.size)
                self.size, data = self.size + written, data[written:]
        except OSError as error:
            why = f"cannot write what does not fit into memory: {error.strerror}"
            raise CannotCreate(f"{self.folder}: {why}") from error
        return SpilledArray(self, at, column.dtype, len(column))


@dataclass(frozen=True)
class ColumnInMemory:
    """A column that need not be in a file."""

    column: Array

    @property
    def size(self) -> int:
        return len(self.column)

    def load(self, first: int = 0, end: int | None = None) -> Array:
        return self.column[first:end]


@dataclass(frozen=True)
class SpilledArray:
    """A column in a file."""

    file: SpillFile
    at: int
    kind: np.dtype[Any]
    size: int

    def load(self, first: int = 0, end: int | None = None) -> Array:
        width, end = self.kind.itemsize, self.size if end is None else end
        # Not by the file's position, which processes share.
        data = os.pread(self.file.file.fileno(), (end - first) * width, self.at + first * width)
        return np.frombuffer(data, self.kind)


class SpilledTable:
    """A count table in a file, without the messages learned."""

    def __init__(self, file: SpillFile, table: CountTable) -> None:
        self.size = len(table)
        empty = CountTable.empty(table.labels)
        self.about = replace(empty, messages=table.messages, numbers=table.numbers)  # all but the columns
        lowest = np.array([shard_range(shard, MOST_SHARDS)[0] for shard in range(MOST_SHARDS)], np.uint64)
        self.borders = [*np.searchsorted(table.fingerprints, lowest).tolist(), len(table)]
        self.text_borders = [int(table.texts.ends[border - 1]) if border else 0 for border in self.borders]
        counts = table.texts.lengths, *table.message_counts, *table.occurrence_counts
        columns = table.fingerprints, table.first_days, table.last_days, *map(_narrow, counts)
        self.columns = [*map(file.put, columns)]
        self.text = file.put(table.texts.data)
        self.grams = file.put(table.grams.reshape(-1))
        self.kinds = table.message_counts.dtype, table.occurrence_counts.dtype

    def __len__(self) -> int:
        return self.size

    def shard(self, shard: int = 0, shards: int = 1) -> CountTable:
        """Load one of `shards` equal ranges of fingerprints; there are MOST_SHARDS, or a part of that."""
        within = slice(shard * MOST_SHARDS // shards, (shard + 1) * MOST_SHARDS // shards)
        first, end = self.borders[within.start], self.borders[within.stop]
        text, text_end = self.text_borders[within.start], self.text_borders[within.stop]
        columns = [column.load(first, end) for column in self.columns]
        fingerprints, first_days, last_days, lengths, *counts = columns
        labels = len(self.about.labels)
        about = self.about
        if shard == 0 and self.grams.size:
            about = replace(about, grams=self.grams.load().reshape(labels, -1))
        return replace(
            about.as_shard(shard),
            fingerprints=fingerprints,
            texts=Texts(np.cumsum(lengths, dtype=np.int64), self.text.load(text, text_end)),
            message_counts=np.stack(counts[:labels]).astype(self.kinds[0]),
            occurrence_counts=np.stack(counts[labels:]).astype(self.kinds[1]),
            first_days=first_days,
            last_days=last_days,
        )


def _narrow(column: Array) -> Array:
    """Convert whole numbers to the smallest type that holds them all: most are small."""
    lowest, highest = int(column.min(initial=0)), int(column.max(initial=0))
    return column.astype(np.promote_types(np.min_scalar_type(lowest), np.min_scalar_type(highest)))
