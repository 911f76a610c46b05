"""Mail read by threads of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.mailboxes.sources import CHUNK, chunks_by_label
from spamnb.threads import all_cores, in_threads
from spamnb.training.batches import ChunkReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.training.batches import Batch, MailToRead


class LocalPool:
    """Threads of this process: what they read is counted by the one that asks."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        """Read all mail under each label, in order."""
        task = ChunkReader(mail.settings, mail.known)
        return in_threads(task, chunks_by_label(mail.sources, CHUNK), self.jobs)
