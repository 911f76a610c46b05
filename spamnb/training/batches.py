"""Batches: messages read, tokenized and counted together.

A batch is what one chunk of mail becomes: for each message the tokens it contains, as places in the
batch's own vocabulary, sorted by fingerprint. Training sums its rows, evaluation keeps them,
classification scores them. A batch does not depend on the number of processes.
A pool of workers reads and counts them, on this machine or elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spamnb.array_loops import count_rows
from spamnb.arrays import Array, Rows, Sets, Texts, sorted_distinct
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.skipped import Unreadable
from spamnb.reading.batch import BatchBuilder
from spamnb.reading.dates import MAX_DATE
from spamnb.reading.features import Features
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import LARGEST_INT32, CountTable, count_grams
from spamnb.tables.saving import MapShards
from spamnb.tables.spilling import SpillFile


class TableSum(Protocol):
    """Sum of the tables added to it, wherever they are."""

    def add(self, table: Any) -> None: ...
    def shards(self) -> Sequence[Any]: ...


class Pool(Protocol):
    """Workers that read and count mail, and sum tables, with a file for what is too much for memory."""

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
    known: IsKnown | None = None  # tells which messages need not be tokenized


IsKnown = Callable[[int, str | None], bool]  # (digest, label): is it learned already?


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

    def table(self, labels: Sequence[str], chosen: Array, day: int) -> CountTable:
        """Sum messages up; `chosen` has rows of message, label index, and 1 to add or -1 to subtract."""
        size = len(self.fingerprints)
        if self.rows.times.sum() > LARGEST_INT32:
            raise OverflowError("too many words for one batch")
        message_counts, occurrence_counts = np.zeros((2, len(labels), size), np.int32)
        messages, label_indices, steps = chosen.T
        signs = np.zeros((len(labels), len(self)), np.int32)
        np.add.at(signs, (label_indices, messages), steps.astype(np.int32))
        rows = self.rows
        for k in sorted_distinct(label_indices).tolist():
            columns = rows.starts, rows.places, rows.times, signs[k], message_counts[k], occurrence_counts[k]
            count_rows(*(column.data for column in columns))
        days = np.broadcast_to(np.uint16(day), size)
        return CountTable(
            tuple(labels),
            tuple(signs.sum(axis=1).tolist()),
            self.rows.number_sums(chosen, len(labels)),
            self.fingerprints,
            self.texts,
            message_counts,
            occurrence_counts,
            days,
            days,
            grams=count_grams(rows.grams, signs),
        )


def batch_of(
    chunk: Chunk,
    label: str | None,
    tokenizer: Tokenizer,
    known: IsKnown | None = None,
    *,
    digests: bool = True,
    numbers: bool = True,
) -> Batch:
    """Read and tokenize a chunk. `known(digest, label)` tells which messages need not be tokenized.

    Verdicts need no digests, which are 0 then, and most no numbers.
    """
    builder, features = BatchBuilder(), Features()
    names, found, dates, unreadable = [], [], [], []
    for raw in chunk.messages():
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        message = read(raw.data)
        names.append((raw.path, raw.index))
        found.append(digest(message) if digests else 0)
        dates.append((message.get("date") or "")[:MAX_DATE])
        if known is not None and known(found[-1], label):
            builder.add(None)
        else:
            builder.add(tokenizer.features(message, numbers, features))
    return Batch(label, names, np.array(found, np.uint64), dates, *builder.build(), unreadable, chunk.size)


class ChunkReader:
    """Makes a batch of each chunk; the tokenizer is made once in each process."""

    def __init__(self, settings: Settings, known: IsKnown | None = None) -> None:
        self.settings = settings
        self.known = known
        self.tokenizer: Tokenizer | None = None

    def __call__(self, chunk: Chunk, label: str) -> Batch:
        if self.tokenizer is None:
            self.tokenizer = Tokenizer(self.settings)
        return batch_of(chunk, label, self.tokenizer, self.known)
