"""Reading and judging mail in bulk, by threads of this process or by a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from spamnb.errors import needs_extra
from spamnb.mailboxes.sources import CHUNK, chunks_by_label
from spamnb.threads import all_cores, in_threads
from spamnb.training.batches import ChunkReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.training.batches import Batch, MailToRead, Pool


class LocalPool:
    """Threads of this process that read mail; the thread that asks for batches adds them to counts."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        """Read all mail of each label, and yield it in batches, in order."""
        task = ChunkReader(mail.settings, mail.learned_hashes)
        return in_threads(task, chunks_by_label(mail.sources, CHUNK), self.jobs)


def open_pool(jobs: int | str | None) -> AbstractContextManager[Pool]:
    """Return a pool: `jobs` threads or, if `jobs` is a Dask scheduler's address or file, that cluster."""
    if not isinstance(jobs, str):
        return nullcontext(LocalPool(jobs))
    try:
        from spamnb.workers.cluster import connected
    except ModuleNotFoundError as error:
        raise needs_extra("a cluster", "cluster") from error
    return connected(jobs)
