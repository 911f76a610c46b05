"""Labelled mail that a command reads, with progress shown on a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from spamnb.cli.shared.progress import progress
from spamnb.errors import DataError, UsageError
from spamnb.labels import is_label
from spamnb.mailboxes.labelled import size_of
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import check, split_number
from spamnb.rights import others
from spamnb.workers import open_pool

if TYPE_CHECKING:
    from spamnb.evaluation.corpus import Corpus
    from spamnb.reading.settings import Settings
    from spamnb.training.batches import Batch
    from spamnb.workers.cluster.pool import ClusterPool
    from spamnb.workers.local import LocalPool


@dataclass
class LabelledMail:
    """Mail that the options of a command name, who reads it, and what could not be read of it."""

    folders: Sequence[str]
    ham: Sequence[str]
    spam: Sequence[str]
    label: Sequence[str] = ()
    all_folders: bool = False
    jobs: int | None = None
    cluster: str | None = None
    skip_unreadable: bool = False
    sources: dict[str, list[str]] = field(default_factory=dict)  # paths by label
    unreadable: list[Unreadable] = field(default_factory=list)  # when it was last read

    @property
    def labels(self) -> list[str]:
        return list(self.sources)

    @property
    def paths(self) -> list[str]:
        return [path for paths in self.sources.values() for path in paths]

    def find(self, any_label: str | None = None) -> None:
        """List the paths of each label, from `HAM SPAM`, `--ham PATH`, `--spam PATH`, `--label NAME=PATH`.

        Where mail needs no label, all that is named without one goes under `any_label`.
        """
        folders, sources = self.folders, self.sources
        if folders and any_label:
            sources[any_label] = [*folders]
        elif folders:
            if len(folders) != 2:
                raise UsageError(
                    "name two folders or mailboxes, ham first; or use --ham PATH and --spam PATH"
                )
            sources |= {"ham": [folders[0]], "spam": [folders[1]]}
        for name, paths in (("ham", self.ham), ("spam", self.spam)):
            if paths:
                sources.setdefault(name, []).extend(paths)
        for item in self.label:
            name, equals, path = item.partition("=")
            if not (equals and path and is_label(name)):
                raise UsageError(f"--label takes NAME=PATH, not {item!r}")
            sources.setdefault(name, []).append(path)
        if not sources:
            words = "--forget message" if any_label else "ham/ spam/"
            raise UsageError(
                f"no mail given; for example: {click.get_current_context().command_path} {words}"
            )
        with others():
            _check_named_once(sources)

    def check(self, need: str = "") -> None:
        """Raise an error if a path is not there, or if there are too few labels and two are needed."""
        if need and len(self.sources) < 2:
            command = click.get_current_context().command_path
            raise UsageError(f"{need} needed; for example: {command} ham/ spam/")
        with others():
            check(self.paths)

    def size(self) -> int:
        with others():
            return size_of(self.sources, self.all_folders)

    def pool(self) -> AbstractContextManager[LocalPool | ClusterPool]:
        """Open the workers that read it."""
        return open_pool(self.paths, self.cluster, self.jobs, self.skip_unreadable)

    def batches(self, settings: Settings) -> Iterator[Batch]:
        """Read all the mail, in order."""
        from spamnb.training.batches import MailToRead

        found, self.unreadable = 0, []
        with self.pool() as pool, progress("reading", self.size, note=pool.status) as step:
            for batch in pool.batches(MailToRead(self.sources, settings, all_folders=self.all_folders)):
                self.unreadable += batch.unreadable
                yield batch.whole()
                step(batch.size, len(batch))
                found += len(batch)
        if not found:
            raise DataError(f"no mail found in {', '.join(self.paths)}")

    def corpus(self, settings: Settings) -> Corpus:
        """Read all the mail once, to be split in any way."""
        from spamnb.evaluation.corpus import Corpus

        return Corpus.of(self.labels, self.batches(settings))


def _check_named_once(sources: dict[str, list[str]]) -> None:
    """Refuse standard input named twice, as it has one message, and a folder named under two labels."""
    label_of: dict[str, str] = {}
    for name, paths in sources.items():
        for path in paths:
            before = label_of.setdefault(_real_path(path), name)
            if before != name:
                raise UsageError(f"{path}: given as both {before} and {name}: choose one")
    for name, paths in sources.items():
        for path in paths:
            box = split_number(path)[0]
            if box and label_of.get(_real_path(box), name) != name:
                other = label_of[_real_path(box)]
                raise UsageError(f"{path}: given as {name}, but all of {box} as {other}: choose one")
    if sum(paths.count("-") for paths in sources.values()) > 1:
        raise UsageError("-: standard input can be given only once")


def _real_path(path: str) -> str:
    return path if path == "-" else os.path.realpath(path)
