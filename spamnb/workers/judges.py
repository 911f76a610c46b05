"""Judging mail by the processes of this machine; numpy is not needed for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spamnb.mailboxes.ranges import ChunkTask, join_ranges
from spamnb.mailboxes.sources import chunks
from spamnb.workers.batch_judge import BatchJudge, with_index_offset
from spamnb.workers.processes import all_cores, in_parallel

if TYPE_CHECKING:
    from spamnb.model import Model
    from spamnb.workers.batch_judge import Judgement


class LocalJudges:
    """Processes of this machine."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def verdicts(self, model: Model, paths: Sequence[str], envelopes: bool = False) -> Iterator[Judgement]:
        """Judge all mail below some paths, in order; with the head of each message, if it is wanted."""
        task = ChunkTask(BatchJudge(model, envelopes))
        results = in_parallel(task, ((chunk,) for chunk in chunks(paths)), self.jobs)
        for judgement, before in join_ranges(results, lambda chunk, _: task(chunk)):
            yield with_index_offset(judgement, before)

    def status(self) -> str:
        """Words about the workers for the progress line; there is nothing to say about local ones."""
        return ""
