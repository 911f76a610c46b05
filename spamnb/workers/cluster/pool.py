"""The workers of a cluster as a pool: mail is read and counted where they are, and stays there."""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from distributed import KilledWorker

from spamnb.delivery.batch_judge import numbered_from
from spamnb.errors import NoInput, SpamnbError, UsageError
from spamnb.mailboxes.labelled import by_label
from spamnb.mailboxes.ranges import joined
from spamnb.mailboxes.skipped import failures
from spamnb.mailboxes.sources import chunks, total_size
from spamnb.store.journal import Journal
from spamnb.workers.cluster import tasks
from spamnb.workers.cluster.reduction import Added, Reduction, depth_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from distributed import Client, Future

    from spamnb.arrays import Array
    from spamnb.delivery.batch_judge import Judgement
    from spamnb.key import Key
    from spamnb.mailboxes.labelled import Sources
    from spamnb.mailboxes.ranges import Range
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.mailboxes.sources import Chunk
    from spamnb.model import Model
    from spamnb.reading.settings import Settings
    from spamnb.store.stored import Stored
    from spamnb.training.batches import Batch, SampledMessages
    from spamnb.workers.cluster.tasks import Heading

AHEAD = 3  # pieces of work for each thread of the workers, so that none has to wait for us
RANGE = 8 << 20  # bytes of a piece of work: half a second of tokenizing, and few requests to a store
MAX_PACKED = 4 << 20  # bytes of a compressed mailbox that goes out whole; it cannot be cut
GLANCE = 2.0  # seconds until we look again how many workers there are
UNCHANGED = "nothing was changed"
KEYED = "a model with a key, and the key stays on this machine; leave --cluster out"

cut = partial(chunks, size=RANGE, max_packed=MAX_PACKED)


class RemoteBatch:
    """A batch on a worker."""

    def __init__(self, pool: ClusterPool, label: str, read: Future, heading: Heading) -> None:
        self.pool = pool
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
        batch: Batch = self.pool.result(self.pool.submit(tasks.contents, self.read))
        return batch.numbered_from(self.before)

    def sampled(self, messages: Array, places: Array) -> SampledMessages:
        piece: SampledMessages = self.pool.result(
            self.pool.submit(tasks.sampled, self.read, messages, places, self.checksum)
        )
        return piece

    def table(self, labels: Sequence[str], chosen: Array, day: int) -> Future:
        return self.pool.submit(tasks.table, self.read, labels, chosen, day, self.checksum)


class ClusterPool:
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
    ) -> Iterator[RemoteBatch]:
        """All mail under each label, in order. What is known is read all the same: workers do not know it."""
        del known
        if key:
            raise UsageError(KEYED)

        def begun(chunk: Chunk, label: str) -> tuple[Future, Future]:
            read = self.submit(tasks.batch, chunk, label, settings)
            return read, self.submit(tasks.heading, read)

        def ended(label: str, read: Future, heading: Future) -> tuple[Range | None, RemoteBatch]:
            found = self.result(heading)
            return found.range, RemoteBatch(self, label, read, found)

        def again(chunk: Range, batch: RemoteBatch) -> tuple[Range | None, RemoteBatch]:
            return ended(batch.label, *begun(chunk, batch.label))

        work = self._in_order(begun, by_label(sources, cut, all_folders))
        worked = (ended(label, *futures) for (_, label), futures in work)
        for batch, before in joined(worked, again):
            batch.before = before
            self._accept(batch.unreadable)
            yield batch
            del batch

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

        def begun(chunk: Chunk) -> Future:
            return self.submit(tasks.judged, chunk, sent)

        def again(chunk: Range, _: Judgement) -> tuple[Range | None, Judgement]:
            worked_again: tuple[Range | None, Judgement] = self.result(begun(chunk))
            return worked_again

        work = self._in_order(begun, ((chunk,) for chunk in cut(paths)))
        for judgement, before in joined((self.result(future) for _, future in work), again):
            self._accept(judgement[1])
            yield numbered_from(before, judgement)

    def status(self) -> str:
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


def _contents(model: Model) -> tuple[bytes, bytes]:
    """The model file and the journal that were opened, whatever is there by now."""
    file, journal, data = model.stored.file, model.stored.journal, b""
    if journal.records:
        with open(f"{file.path}.journal", "rb") as now:
            data = now.read(journal.size)
        if len(Journal.of(data, model.stored.generation, model.labels).records) != len(journal.records):
            raise SpamnbError(f"{file.path}: learned meanwhile; try again")
    return file.read(0, file.size), data
