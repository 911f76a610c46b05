"""Reading, counting and judging mail by the processes of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.delivery.batch_judge import BatchJudge, numbered_from
from spamnb.mailboxes.labelled import by_label
from spamnb.mailboxes.ranges import RangeTask, joined
from spamnb.mailboxes.sources import chunks
from spamnb.tables.count_table import CountTable
from spamnb.tables.loading import load_table
from spamnb.training.batches import Counting
from spamnb.training.pool import Pile
from spamnb.workers.processes import all_cores, in_parallel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spamnb.delivery.batch_judge import Judgement
    from spamnb.key import Key
    from spamnb.mailboxes.labelled import Sources
    from spamnb.model import Model
    from spamnb.reading.settings import Settings
    from spamnb.store.stored import Stored
    from spamnb.training.batches import Batch


class LocalPool:
    """Processes of this machine."""

    spread = staticmethod(map)

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def batches(
        self,
        sources: Sources,
        settings: Settings,
        known: Any = None,
        key: Key | None = None,
        all_folders: bool = False,
    ) -> Iterator[Batch]:
        """All mail under each label, in order; for a model with a key, its tokens hidden by it."""
        task = RangeTask(Counting(settings, known, key))
        worked = in_parallel(task, by_label(sources, chunks, all_folders), self.jobs)
        for batch, before in joined(worked, lambda chunk, batch: task(chunk, batch.label)):
            yield batch.numbered_from(before)

    def pile(self, base: Stored | None, labels: Sequence[str]) -> Pile:
        return Pile(load_table(base).relabelled(labels) if base else CountTable.empty(labels))

    def verdicts(self, model: Model, paths: Sequence[str]) -> Iterator[Judgement]:
        task = RangeTask(BatchJudge(model))
        worked = in_parallel(task, ((chunk,) for chunk in chunks(paths)), self.jobs)
        for judgement, before in joined(worked, lambda chunk, _: task(chunk)):
            yield numbered_from(before, judgement)

    def status(self) -> str:
        """What there is to tell of the workers meanwhile."""
        return ""
