"""Labelled mail that a command reads, with progress shown on a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import click

from spamnb.cli.shared.progress import progress
from spamnb.errors import DataError, UsageError
from spamnb.labels import is_label
from spamnb.mailboxes.roles import speaks_against
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import check, size_of
from spamnb.workers import open_pool

if TYPE_CHECKING:
    from spamnb.evaluation.corpus import Corpus
    from spamnb.reading.settings import Settings
    from spamnb.training.batches import Batch, Pool


@dataclass
class LabelledMail:
    """The mail named by the options of a command, the number of threads, and failures of reading."""

    folders: Sequence[str]
    ham: Sequence[str]
    spam: Sequence[str]
    label: Sequence[str] = ()
    jobs: int | str | None = None
    sources: dict[str, list[str]] = field(default_factory=dict)  # paths by label
    unreadable: list[Unreadable] = field(default_factory=list)  # of the last reading

    @property
    def labels(self) -> list[str]:
        return list(self.sources)

    @property
    def paths(self) -> list[str]:
        return [path for paths in self.sources.values() for path in paths]

    def find(self) -> None:
        """Fill `sources`: by label, the paths given as `HAM SPAM`, or with --ham, --spam and --label."""
        folders, sources = self.folders, self.sources
        if folders:
            if len(folders) != 2:
                raise UsageError(
                    "name two folders or mailboxes, ham first; "
                    "or use --ham PATH, --spam PATH and --label NAME=PATH"
                )
            sources |= {"ham": [folders[0]], "spam": [folders[1]]}
            refuse_swapped_names(sources)
        for name, paths in (("ham", self.ham), ("spam", self.spam)):
            if paths:
                sources.setdefault(name, []).extend(paths)
        for item in self.label:
            name, equals, path = item.partition("=")
            if not (equals and path and is_label(name)):
                raise UsageError(f"--label takes NAME=PATH, not {item!r}")
            sources.setdefault(name, []).append(path)
        if not sources:
            command = click.get_current_context().command_path
            raise UsageError(f"no mail given; for example: {command} ham/ spam/")
        _check_named_once(sources)

    def check(self, need: str = "") -> None:
        """Raise an error for a missing path or, with `need` (the error's start), for fewer than 2 labels."""
        if need and len(self.sources) < 2:
            command = click.get_current_context().command_path
            raise UsageError(f"{need} needed; for example: {command} ham/ spam/")
        check(self.paths)

    def size(self) -> int:
        return size_of(self.sources)

    def pool(self) -> AbstractContextManager[Pool]:
        """Open the threads or the cluster that read the mail."""
        return open_pool(self.jobs)

    def batches(self, settings: Settings) -> Iterator[Batch]:
        """Yield all the mail in batches, in order, and show progress."""
        from spamnb.training.batches import MailToRead

        found, self.unreadable = 0, []
        with self.pool() as pool, progress("reading", self.size) as step:
            for batch in pool.batches(MailToRead(self.sources, settings)):
                self.unreadable += batch.unreadable
                yield batch
                step(batch.size, len(batch))
                found += len(batch)
        if not found:
            raise DataError(f"no mail found in {', '.join(self.paths)}")

    def corpus(self, settings: Settings, *, is_counted: bool = True) -> Corpus:
        """Read all the mail once, for an evaluation; with `is_counted`, also count its features."""
        batches = self.batches(settings)
        first = next(batches)  # further batches are read while this thread loads numpy
        from spamnb.evaluation.corpus import Corpus

        return Corpus.of(self.labels, chain([first], batches), is_counted=is_counted)


def refuse_swapped_names(sources: dict[str, list[str]]) -> None:
    """Refuse paths whose names contradict their labels, such as a folder Junk given first, as ham."""
    named = [(label, path) for label, paths in sources.items() for path in paths]
    if wrong := " and ".join(f"{path} as {label}" for label, path in named if speaks_against(label, path)):
        raise UsageError(
            f"{wrong}: are these swapped? Ham comes first. If not, use --ham and --spam. Nothing was changed"
        )


def _check_named_once(sources: dict[str, list[str]]) -> None:
    """Refuse a path that is named under two labels, and `-` if named twice: it can be read only once."""
    label_of: dict[str, str] = {}
    for name, paths in sources.items():
        for path in paths:
            before = label_of.setdefault(path if path == "-" else os.path.realpath(path), name)
            if before != name:
                raise UsageError(f"{path}: this is named both as {before} and as {name}; name it once")
    if sum(paths.count("-") for paths in sources.values()) > 1:
        raise UsageError("-: standard input can be named only once")
