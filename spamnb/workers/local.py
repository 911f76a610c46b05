"""Reading, counting and judging mail by the processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spamnb.delivery.batch_judge import BatchJudge, numbered_from
from spamnb.mailboxes.labelled import chunks_by_label
from spamnb.mailboxes.ranges import ChunkTask, join_ranges
from spamnb.mailboxes.sources import chunks
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.tables.spilling import SpillFile
from spamnb.training.batches import Batch, ChunkReader
from spamnb.training.pool import MailToRead
from spamnb.workers.processes import all_cores, in_parallel
from spamnb.workers.table_sum import LocalTableSum, map_shards

if TYPE_CHECKING:
    from spamnb.delivery.batch_judge import Judgement


class LocalPool:
    """Processes of this machine."""

    map_shards = staticmethod(map_shards)

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        """Read all mail under each label, in order."""
        task = ChunkTask(ChunkReader(mail.settings, mail.known, mail.key))
        found = chunks_by_label(mail.sources, chunks, mail.all_folders)
        results = in_parallel(task, found, self.jobs)
        for batch, before in join_ranges(results, lambda chunk, batch: task(chunk, batch.label)):
            yield batch.numbered_from(before)

    def table_sum(self, base: StoredModel | None, labels: Sequence[str], file: SpillFile) -> LocalTableSum:
        return LocalTableSum(base, labels, file)

    def verdicts(self, model: Model, paths: Sequence[str]) -> Iterator[Judgement]:
        """Judge all mail below some paths, in order."""
        task = ChunkTask(BatchJudge(model))
        results = in_parallel(task, ((chunk,) for chunk in chunks(paths)), self.jobs)
        for judgement, before in join_ranges(results, lambda chunk, _: task(chunk)):
            yield numbered_from(before, judgement)

    def status(self) -> str:
        """Words about the workers for the progress line; there is nothing to say about local ones."""
        return ""
