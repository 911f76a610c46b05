"""Tasks of workers. They depend on their arguments and the mail alone, so another worker can repeat them."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Sequence
from copy import deepcopy
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from spamnb.arrays import Array
from spamnb.bayes.verdict import Cutoffs
from spamnb.bayes.view import View
from spamnb.errors import DataError
from spamnb.mailboxes.chunks import MessageFiles, ReadMessages
from spamnb.mailboxes.ranges import ChunkTask, MailboxRange
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import Chunk, is_remote, split_number
from spamnb.model import Model
from spamnb.reading.settings import Settings
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.training.batches import Batch, ChunkReader, SampledMessages
from spamnb.workers.batch_judge import BatchJudge

if TYPE_CHECKING:
    from spamnb.workers.batch_judge import Judgement

    Read = tuple[MailboxRange | None, Batch]  # the chunk, if it is a range, and its messages


class Heading(NamedTuple):
    """Facts about a batch that tell which of its messages are to be counted."""

    range: MailboxRange | None
    digests: Array
    unreadable: list[Unreadable]
    size: int


class ModelFiles(NamedTuple):
    """A model to be sent: the bytes of its file and its journal, its view and its cutoffs."""

    model: bytes
    journal: bytes
    view: View | None  # None: the model's own
    cutoffs: Cutoffs | None


def installed_version() -> str:
    return version("spamnb")


def missing(paths: Sequence[str]) -> list[str]:
    """Find paths that this machine does not have."""
    local = [path for path in paths if not is_remote(path)]
    return [path for path in local if not os.path.exists(path) and not split_number(path)[0]]


def batch(chunk: Chunk, label: str, settings: Settings) -> Read:
    """Read and tokenize a chunk."""
    _check_folders(chunk)
    return ChunkTask(ChunkReader(settings))(chunk, label)


def heading(read: Read) -> Heading:
    chunk, batch = read
    return Heading(chunk, batch.digests, batch.unreadable, batch.size)


def contents(read: Read) -> Batch:
    return read[1]


def table(read: Read, labels: Sequence[str], chosen: Array, day: int, checksum: int) -> CountTable:
    _check_unchanged(read[1], checksum)
    return read[1].table(labels, chosen, day)


def sampled(read: Read, messages: Array, label_indices: Array, checksum: int) -> SampledMessages:
    _check_unchanged(read[1], checksum)
    return read[1].sampled(messages, label_indices)


def checksum_of(digests: Array) -> int:
    return crc32(digests.tobytes())


def _check_unchanged(batch: Batch, checksum: int) -> None:
    """Raise an error if a batch does not have the messages that were chosen from.

    A worker may have died, and another worker may have read the mail anew.
    """
    if checksum_of(batch.digests) != checksum:
        path = batch.names[0][0] if batch.names else "mail"
        raise DataError(f"{path}: changed while it was read; nothing was changed here; try again")


def shard(table: CountTable, shard: int, shards: int) -> CountTable:
    """Cut a shard out, into memory of its own: so the rest can be freed."""
    return deepcopy(table.shard(shard, shards))


def finished(tables: Sequence[CountTable]) -> CountTable:
    """Sum tables; no count is below zero."""
    return sum_tables(tables).clipped()


def judged(chunk: Chunk, files: ModelFiles, envelopes: bool) -> tuple[MailboxRange | None, Judgement]:
    _check_folders(chunk)
    judge = _judge(files)
    judge.envelopes = envelopes
    return ChunkTask(judge)(chunk)


def _check_folders(chunk: Chunk) -> None:
    """Raise an error if a folder of a chunk is not on this machine; a message may be gone by now."""
    if isinstance(chunk, ReadMessages):
        return
    paths = chunk.paths if isinstance(chunk, MessageFiles) else [chunk.path]
    for folder in {os.path.dirname(path) or "." for path in paths if not is_remote(path)}:
        if not os.path.isdir(folder):
            raise DataError(f"{folder}: not there on {socket.gethostname()}, where workers are to read it")


_judges: dict[str, BatchJudge] = {}


def _judge(files: ModelFiles) -> BatchJudge:
    """Open the model that was sent, once in each process; only the last one is kept."""
    limits = (files.cutoffs.ham, files.cutoffs.spam) if files.cutoffs else None
    name = repr((crc32(files.model), crc32(files.journal), files.view and files.view.as_map(), limits))
    judge = _judges.get(name)
    if judge is None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            for data, ending in ((files.model, ""), (files.journal, ".journal")):
                with open(path + ending, "wb") as file:
                    file.write(data)
            judge = BatchJudge(Model.open(path, files.view, files.cutoffs, layered=False))
        _judges.clear()
        _judges[name] = judge
    return judge
