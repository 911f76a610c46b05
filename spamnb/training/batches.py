"""Batches: messages read, tokenized and counted together.

A batch is what one chunk of mail becomes: for each message the tokens it contains, as places in the
batch's own vocabulary, sorted by fingerprint. Training sums its rows, evaluation keeps them,
classification scores them. A batch does not depend on the number of threads.
A pool of workers reads and counts them, on this machine or elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spamnb.arrays import Array, Rows, Sets, Texts
from spamnb.core.native import BatchReader, count_rows
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.skipped import Unreadable
from spamnb.reading.batch import read_columns
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import LARGEST_INT32, CountTable
from spamnb.tables.saving import MapShards
from spamnb.tables.spilling import SpillFile

AT_ONCE = 1 << 20  # bytes of mail that are read before the next are asked for


class TableSum(Protocol):
    """Sum of the counts added to it, wherever they are."""

    def add(self, batch: Batch, steps: Array, day: int) -> None: ...
    def shards(self) -> Sequence[Any]: ...


class Pool(Protocol):
    """Workers that read and count mail, and sum tables, with a file for what is too much for memory."""

    @property
    def map(self) -> MapShards: ...
    @property
    def map_shards(self) -> MapShards: ...
    def batches(self, mail: MailToRead) -> Iterator[Batch]: ...
    def table_sum(self, base: StoredModel | None, labels: Sequence[str], file: SpillFile, /) -> TableSum: ...
    def in_background(self, task: Callable[[], Any], /) -> AbstractContextManager[Callable[[], Any]]: ...


@dataclass(frozen=True)
class MailToRead:
    """Mail under each label, and how it is to be read."""

    sources: Mapping[str, Sequence[str]]  # the paths of each label
    settings: Settings
    known: Known | None = None


# Returns the digests, sorted, of the messages that are learned under a label: they need not be tokenized.
Known = Callable[[str], Array]


class Chunk(Protocol):
    """A piece of mail, however it was cut."""

    @property
    def size(self) -> int: ...
    def messages(self) -> Iterator[RawMessage | Unreadable]: ...


@dataclass(frozen=True, eq=False)
class SampledMessages:
    """Messages of a sample, from one batch: the columns of their rows that scores ask for."""

    digests: Array
    labels: Array  # label indices
    starts: Array
    places: Array
    parts: Array
    fingerprints: Array  # of the vocabulary of these rows
    gram_starts: Array
    grams: Array

    @classmethod
    def of(cls, digests: Array, labels: Array, rows: Rows, fingerprints: Array) -> SampledMessages:
        grams = rows.grams.starts, rows.grams.members
        return cls(digests, labels, rows.starts, rows.places, rows.parts, fingerprints, *grams)

    @property
    def rows(self) -> Rows:
        """Rows in which each token is once."""
        once, grams = np.broadcast_to(np.uint16(1), len(self.places)), Sets(self.gram_starts, self.grams)
        return Rows(self.starts, self.places, once, self.parts, {}, grams)

    def chosen(self, messages: Array) -> SampledMessages:
        """Choose some of the messages, and the vocabulary they need."""
        if len(messages) == len(self.digests):
            return self
        rows = self.rows.chosen(messages)
        used = np.zeros(len(self.fingerprints), bool)
        used[rows.places] = True
        rows = rows.renumbered(np.cumsum(used, dtype=np.int32) - 1)
        return self.of(self.digests[messages], self.labels[messages], rows, self.fingerprints[used])


@dataclass(frozen=True, eq=False)
class Batch:
    label: str | None
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    digests: Array
    dates: list[str]  # as they are written, "" where there is none
    rows: Rows  # in the batch's own vocabulary
    fingerprints: Array
    texts: Texts
    unreadable: list[Unreadable]  # and what was passed over on purpose
    size: int  # bytes of mail

    def __len__(self) -> int:
        return len(self.names)

    def sampled(self, messages: Array, label_indices: Array) -> SampledMessages:
        """Choose messages to be scored."""
        labels = np.zeros(len(self), np.int64)
        labels[messages] = label_indices
        everything = SampledMessages.of(self.digests, labels, self.rows, self.fingerprints)
        return everything.chosen(np.sort(messages))

    def table(self, labels: Sequence[str], steps: Array, day: int) -> CountTable:
        """Sum messages up, but for grams: rows of message, label index, and 1 to add or -1 to subtract."""
        size, rows = len(self.fingerprints), self.rows
        if rows.times.sum() > LARGEST_INT32:
            raise OverflowError("too many words for one batch")
        message_counts, occurrence_counts = np.zeros((2, len(labels), size), np.int32)
        count_rows(rows.starts, rows.places, rows.times, steps, message_counts, occurrence_counts)
        messages = np.zeros(len(labels), np.int64)
        np.add.at(messages, steps[:, 1], steps[:, 2])
        days = np.broadcast_to(np.uint16(day), size)
        return CountTable(
            tuple(labels),
            tuple(messages.tolist()),
            rows.number_sums(steps, len(labels)),
            self.fingerprints,
            self.texts,
            message_counts,
            occurrence_counts,
            days,
            days,
        )


def batch_of(
    chunk: Chunk,
    label: str | None,
    reader: BatchReader,
    known: Array | None = None,
    *,
    digests: bool = True,
    numbers: bool = True,
) -> Batch:
    """Read and tokenize a chunk, but for messages whose digests are among the `known` ones.

    Verdicts need no digests, which are 0 then, and most no numbers.
    """
    names: list[tuple[str, int | None]] = []
    unreadable: list[Unreadable] = []
    data: list[bytes] = []
    size = 0
    for raw in chunk.messages():
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        names.append((raw.path, raw.index))
        data.append(raw.data)
        size += len(raw.data)
        if size >= AT_ONCE:
            reader.add(data, known, digests, numbers)
            data, size = [], 0
    reader.add(data, known, digests, numbers)
    return Batch(label, names, *read_columns(reader), unreadable, chunk.size)


class ChunkReader:
    """Makes a batch of each chunk, for any number of threads at a time."""

    def __init__(self, settings: Settings, known: Known | None = None) -> None:
        self.settings = settings
        self.known = known
        self.spare: list[BatchReader] = []  # that no thread uses
        self.known_digests: dict[str, Array] = {}  # by label

    def __reduce__(self) -> tuple[Any, ...]:
        return ChunkReader, (self.settings, self.known)

    def __call__(self, chunk: Chunk, label: str) -> Batch:
        if self.known and label not in self.known_digests:
            self.known_digests[label] = self.known(label)
        try:
            reader = self.spare.pop()
        except IndexError:
            reader = BatchReader(self.settings)
        batch = batch_of(chunk, label, reader, self.known_digests.get(label))
        self.spare.append(reader)  # not after an error, which may leave half a batch in it
        return batch
