"""Protocols of the workers that read and count mail, on this machine or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spamnb.arrays import Array
from spamnb.key import Key
from spamnb.mailboxes.labelled import Sources
from spamnb.mailboxes.skipped import Unreadable
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.saving import MapShards
from spamnb.tables.spilling import SpillFile
from spamnb.training.batches import Batch, Known, SampledMessages

Finish = Callable[[CountTable, CountTable], CountTable]  # takes the sum, and the model before


class Counted(Protocol):
    """A batch, in this process or on a worker."""

    @property
    def label(self) -> str | None: ...
    @property
    def digests(self) -> Array: ...
    @property
    def unreadable(self) -> list[Unreadable]: ...
    @property
    def size(self) -> int: ...
    def __len__(self) -> int: ...
    def whole(self) -> Batch: ...
    def sampled(self, messages: Array, label_indices: Array) -> SampledMessages: ...
    def table(self, labels: Sequence[str], chosen: Array, day: int) -> Any: ...


class TableSum(Protocol):
    """Sum of the tables added to it, wherever they are."""

    def add(self, table: Any) -> None: ...
    def shards(self, finish: Finish) -> Sequence[Any]: ...


class Pool(Protocol):
    """Workers that read and count mail, and sum tables, with a file for what is too much for memory."""

    @property
    def map_shards(self) -> MapShards: ...
    def batches(self, mail: MailToRead) -> Iterator[Counted]: ...
    def table_sum(self, base: StoredModel | None, labels: Sequence[str], file: SpillFile, /) -> TableSum: ...
    def status(self) -> str: ...


@dataclass(frozen=True)
class MailToRead:
    """Mail under each label, and how it is to be read."""

    sources: Sources
    settings: Settings
    key: Key | None = None  # of a model that keeps no words
    known: Known | None = None  # tells which messages need not be tokenized
    all_folders: bool = False  # also folders whose names speak against their label
