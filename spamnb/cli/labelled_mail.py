"""Labelled mail that a command reads, with progress shown on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spamnb.cli.progress import progress
from spamnb.errors import DataError
from spamnb.mailboxes.labelled import size_of
from spamnb.mailboxes.skipped import Unreadable
from spamnb.workers import open_pool

if TYPE_CHECKING:
    from spamnb.evaluation.corpus import Corpus
    from spamnb.key import Key
    from spamnb.reading.settings import Settings
    from spamnb.training.batches import Batch


class LabelledMail:
    """Mail below the paths of each label, and what could not be read of it."""

    def __init__(
        self,
        sources: dict[str, list[str]],
        all_folders: bool,
        cluster: str | None = None,
        jobs: int | None = None,
        skip_unreadable: bool = False,
    ) -> None:
        self.sources = sources
        self.all_folders = all_folders
        self.cluster = cluster
        self.jobs = jobs
        self.skip_unreadable = skip_unreadable
        self.unreadable: dict[str, Unreadable] = {}  # by path: mail may be read more than once

    @property
    def labels(self) -> list[str]:
        return list(self.sources)

    @property
    def paths(self) -> list[str]:
        return [path for paths in self.sources.values() for path in paths]

    def batches(self, settings: Settings, key: Key | None = None) -> Iterator[Batch]:
        """Read all the mail, in order."""
        from spamnb.training.batches import MailToRead

        found = 0
        with (
            open_pool(self.paths, self.cluster, self.jobs, self.skip_unreadable) as pool,
            progress("reading", lambda: size_of(self.sources, self.all_folders), note=pool.status) as step,
        ):
            for batch in pool.batches(MailToRead(self.sources, settings, key, all_folders=self.all_folders)):
                self.unreadable |= {item.path: item for item in batch.unreadable}
                yield batch.whole()
                step(batch.size, len(batch))
                found += len(batch)
        if not found:
            raise DataError(f"no mail found in {', '.join(self.paths)}")

    def corpus(self, settings: Settings) -> Corpus:
        """Read all the mail once, to be split in any way."""
        from spamnb.evaluation.corpus import Corpus

        return Corpus.of(self.labels, self.batches(settings))
