"""The workers of a cluster as a crew: mail is read and counted where they are, and stays there."""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from distributed import KilledWorker

from spamnb.bulk.crew import by_label
from spamnb.cluster import tasks
from spamnb.cluster.reduction import Added, Reduction, depth_for
from spamnb.counts.journal import Journal
from spamnb.errors import NoInput, SpamnbError, UsageError
from spamnb.mail.ranges import Range, joined, ranges
from spamnb.mail.skipped import failures
from spamnb.mail.sources import total_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from distributed import Client, Future

    from spamnb.bulk.batches import Batch
    from spamnb.bulk.calibration import Piece
    from spamnb.bulk.classifying import Judgement
    from spamnb.bulk.columns import Array
    from spamnb.bulk.crew import Sources
    from spamnb.cluster.tasks import Heading
    from spamnb.counts.store import Stored
    from spamnb.key import Key
    from spamnb.mail.ranges import Work
    from spamnb.mail.sources import Unreadable
    from spamnb.model import Model
    from spamnb.tokens.settings import Settings

AHEAD = 3  # pieces of work for each thread of the workers, so that none has to wait for us
GLANCE = 2.0  # seconds until we look again how many workers there are
UNCHANGED = "nothing was changed"
KEYED = "a model with a key, and the key stays on this machine; leave --cluster out"


class Far:
    """A batch on a worker."""

    def __init__(self, crew: Cluster, label: str, read: Future, heading: Heading) -> None:
        self.crew = crew
        self.label = label
        self.read = read
        self.digests = heading.digests
        self.unreadable = heading.unreadable
        self.size = heading.size
        self.checksum = tasks.checksum_of(heading.digests)
        self.before = 0  # messages of its mailbox in the batches before it

    def __len__(self) -> int:
        return len(self.digests)

    def whole(self) -> Batch:
        batch: Batch = self.crew.result(self.crew.submit(tasks.contents, self.read))
        return replace(batch, names=[_numbered(*name, self.before) for name in batch.names])

    def piece(self, messages: Array, places: Array) -> Piece:
        piece: Piece = self.crew.result(
            self.crew.submit(tasks.piece, self.read, messages, places, self.checksum)
        )
        return piece

    def table(self, labels: Sequence[str], chosen: Array, day: int) -> Future:
        return self.crew.submit(tasks.table, self.read, labels, chosen, day, self.checksum)


class Cluster:
    """For the mail below some paths. `depth` is that of the tree of sums, by default as the mail asks for."""

    def __init__(
        self,
        client: Client,
        paths: Sequence[str],
        skip_unreadable: bool = False,
        depth: int | None = None,
    ) -> None:
        self.client = client
        self.skip_unreadable = skip_unreadable
        self._check(paths)
        self.depth = depth_for(total_size(paths)) if depth is None else depth
        self._workers = 0
        self._threads = 0
        self._looked = 0.0

    def _check(self, paths: Sequence[str]) -> None:
        """What is to be read must be there for every worker."""
        if "-" in paths:
            raise UsageError("-: standard input is here only; leave --cluster out")
        for worker, lacking in self.client.run(tasks.missing, list(paths)).items():
            if lacking:
                raise NoInput(f"{lacking[0]}: not there for the worker {worker}; share it, or use an address")

    def batches(
        self,
        sources: Sources,
        settings: Settings,
        known: Any = None,
        key: Key | None = None,
        all_folders: bool = False,
    ) -> Iterator[Far]:
        """All mail under each label, in order. What is known is read all the same: workers do not know it."""
        del known
        if key:
            raise UsageError(KEYED)
        label = ""

        def begun(chunk: Work, label: str) -> tuple[Future, Future]:
            read = self.submit(tasks.batch, chunk, label, settings)
            return read, self.submit(tasks.heading, read)

        def ended(chunk: Any, label: str, read: Future, heading: Future) -> tuple[Any, Far]:
            told = self.result(heading)
            if isinstance(chunk, Range):
                chunk.found = told.found
            return chunk, Far(self, label, read, told)

        def worked() -> Iterator[tuple[Work, Far]]:
            nonlocal label
            for (chunk, label), futures in self._in_order(begun, by_label(sources, ranges, all_folders)):
                yield ended(chunk, label, *futures)

        def again(chunk: Range) -> tuple[Range, Far]:
            return ended(chunk, label, *begun(chunk, label))

        for _, far, before in joined(worked(), again):
            far.before = before
            self._accept(far.unreadable)
            yield far
            del far

    def pile(self, base: Stored | None, labels: Sequence[str]) -> Reduction:
        return Reduction(self.client, base, labels, self.depth)

    def spread(
        self, task: Callable[..., Any], parts: Sequence[Future | Added], *more: Iterable[Any]
    ) -> Iterator[Any]:
        work = zip(parts, *more, strict=True)
        if isinstance(parts[0], Added):
            for part, *rest in work:
                yield task(part.table(self.result(part.total)), *rest)
            return
        for _, future in self._in_order(lambda *own: self.submit(task, *own), work):
            yield self.result(future)

    def verdicts(self, model: Model, paths: Sequence[str]) -> Iterator[Judgement]:
        if model.key:
            raise UsageError(KEYED)
        own = model.calibration is not None  # and not another view
        files = tasks.ModelFiles(*_contents(model), None if own else model.view, model.cutoffs)
        (sent,) = self.client.scatter([files], broadcast=True, hash=False)

        def begun(chunk: Work) -> Future:
            return self.submit(tasks.judged, chunk, sent)

        def ended(chunk: Any, future: Future) -> tuple[Any, Judgement]:
            found, judgement = self.result(future)
            if isinstance(chunk, Range):
                chunk.found = found
            return chunk, judgement

        def again(chunk: Range) -> tuple[Range, Judgement]:
            return ended(chunk, begun(chunk))

        work = ((chunk,) for chunk in ranges(paths))
        worked = (ended(chunk, future) for (chunk,), future in self._in_order(begun, work))
        for _, (verdicts, unreadable, size), before in joined(worked, again):
            self._accept(unreadable)
            numbered = [(*_numbered(path, at, before), verdict) for path, at, verdict in verdicts]
            yield numbered, unreadable, size

    def told(self) -> str:
        self._look()
        return f", {self._workers} worker{'' if self._workers == 1 else 's'}"

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future:
        return self.client.submit(task, *arguments, pure=False)

    def result(self, future: Future) -> Any:
        try:
            return future.result()
        except SpamnbError:
            raise
        except KilledWorker as error:
            raise SpamnbError(
                f"several workers died over the same mail (out of memory?); {UNCHANGED}"
            ) from error
        except (CancelledError, TimeoutError, OSError) as error:
            raise SpamnbError(f"the cluster is gone; {UNCHANGED}") from error
        except Exception as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise SpamnbError(f"a worker failed: {why}; {UNCHANGED}") from error

    def _in_order(
        self, begin: Callable[..., Any], work: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Pieces of work and what was begun for each, in order; a few ahead of the one that is waited for."""
        begun: deque[tuple[tuple[Any, ...], Any]] = deque()
        for arguments in work:
            begun.append((arguments, begin(*arguments)))
            self._look()
            while len(begun) > AHEAD * max(1, self._threads):
                yield begun.popleft()
        while begun:
            yield begun.popleft()

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked > GLANCE:
            threads = self.client.nthreads()
            self._workers, self._threads, self._looked = len(threads), sum(threads.values()), now

    def _accept(self, unreadable: list[Unreadable]) -> None:
        failed = failures(unreadable)
        if failed and not self.skip_unreadable:
            first = failed[0]
            why = f"{first.why}; {UNCHANGED} (--skip-unreadable goes on without it)"
            raise first.error(f"{first.path}: {why}")


def _numbered(path: str, index: int | None, before: int) -> tuple[str, int | None]:
    return path, None if index is None else index + before


def _contents(model: Model) -> tuple[bytes, bytes]:
    """The model file and the journal that were opened, whatever is there by now."""
    file, journal, data = model.stored.file, model.stored.journal, b""
    if journal.entries:
        with open(f"{file.path}.journal", "rb") as now:
            data = now.read(journal.size)
        if len(Journal.of(data, model.stored.generation, model.labels).entries) != len(journal.entries):
            raise SpamnbError(f"{file.path}: learned meanwhile; try again")
    return file.read(0, file.size), data
