"""Workers of a cluster as a pool: they read and count mail, and batches and tables stay with them."""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from distributed import Client, Future, KilledWorker

from spamnb.arrays import Array
from spamnb.errors import NoInput, SpamnbError, UsageError
from spamnb.files import counted
from spamnb.mailboxes.labelled import chunks_by_label
from spamnb.mailboxes.ranges import MailboxRange, join_ranges
from spamnb.mailboxes.skipped import Unreadable, failures
from spamnb.mailboxes.sources import Chunk, chunks, total_size
from spamnb.model import Model
from spamnb.store.journal import Journal
from spamnb.store.stored_model import StoredModel
from spamnb.tables.spilling import SpillFile
from spamnb.training.batches import Batch, MailToRead, SampledMessages
from spamnb.workers.batch_judge import with_index_offset
from spamnb.workers.cluster import tasks
from spamnb.workers.cluster.table_sum import ClusterTableSum, ShardToAdd, depth_for
from spamnb.workers.cluster.tasks import Heading

if TYPE_CHECKING:
    from spamnb.workers.batch_judge import Judgement

TASKS_PER_THREAD = 3  # begun ahead, so that no worker has to wait for this process
CHUNK_SIZE = 8 << 20  # bytes: half a second of tokenizing, and few requests to a store
MAX_PACKED = 4 << 20  # bytes: a larger compressed mailbox is read by this process, as it cannot be cut
RECOUNT_AFTER = 2.0  # seconds until workers are counted again
UNCHANGED = "nothing was changed"
LAYERED = "a model on top of a base, which is not sent; leave --cluster out, or add --no-base"

cut_mail = partial(chunks, size=CHUNK_SIZE, max_packed=MAX_PACKED)


class RemoteBatch:
    """A batch that is on a worker, as training sees it."""

    def __init__(self, pool: ClusterPool, label: str, read: Future, heading: Heading) -> None:
        self.pool = pool
        self.label = label
        self.read = read
        self.digests = heading.digests
        self.unreadable = heading.unreadable
        self.size = heading.size
        self.checksum = tasks.checksum_of(heading.digests)
        self.before = 0  # number of messages in earlier batches of its mailbox

    def __len__(self) -> int:
        return len(self.digests)

    def whole(self) -> Batch:
        batch: Batch = self.pool.result(self.pool.submit(tasks.contents, self.read))
        return batch.with_index_offset(self.before)

    def sampled(self, messages: Array, label_indices: Array) -> SampledMessages:
        found: SampledMessages = self.pool.result(
            self.pool.submit(tasks.sampled, self.read, messages, label_indices, self.checksum)
        )
        return found

    def table(self, labels: Sequence[str], chosen: Array, day: int) -> Future:
        return self.pool.submit(tasks.table, self.read, labels, chosen, day, self.checksum)


class ClusterPool:
    """Workers of a cluster, for the mail below some paths.

    `depth` is the depth of the tree of sums; by default, it follows from the size of the mail.
    """

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
        self._counted_at = 0.0

    def _check(self, paths: Sequence[str]) -> None:
        """Raise an error if a path is not there for every worker."""
        if "-" in paths:
            raise UsageError("-: standard input is here only; leave --cluster out")
        for worker, lacking in self.client.run(tasks.missing, list(paths)).items():
            if lacking:
                raise NoInput(f"{lacking[0]}: not there for the worker {worker}; share it, or use an address")

    def batches(self, mail: MailToRead) -> Iterator[RemoteBatch]:
        """Have all mail under each label read, in order.

        Messages that the model has learned are tokenized, too: workers do not know which they are.
        """

        def begin(chunk: Chunk, label: str) -> tuple[Future, Future]:
            read = self.submit(tasks.batch, chunk, label, mail.settings)
            return read, self.submit(tasks.heading, read)

        def end(label: str, read: Future, heading: Future) -> tuple[MailboxRange | None, RemoteBatch]:
            found = self.result(heading)
            return found.range, RemoteBatch(self, label, read, found)

        def redo(chunk: MailboxRange, batch: RemoteBatch) -> tuple[MailboxRange | None, RemoteBatch]:
            return end(batch.label, *begin(chunk, batch.label))

        work = self._in_order(begin, chunks_by_label(mail.sources, cut_mail))
        results = (end(label, *futures) for (_, label), futures in work)
        for batch, before in join_ranges(results, redo):
            batch.before = before
            self._check_read(batch.unreadable)
            yield batch
            del batch  # its worker need not keep it while the next one is awaited

    in_background = nullcontext

    def table_sum(
        self, base: StoredModel | None, labels: Sequence[str], _file: SpillFile | None = None
    ) -> ClusterTableSum:
        return ClusterTableSum(self.client, base, labels, self.depth)

    def map_shards(
        self, task: Callable[..., Any], shards: Sequence[Future | ShardToAdd], *more: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield the results of a task on each shard, in order."""
        work = zip(shards, *more, strict=True)
        if isinstance(shards[0], ShardToAdd):
            for shard, *rest in work:
                yield task(shard.table(self.result(shard.total)), *rest)
            return
        for _, future in self._in_order(lambda *arguments: self.submit(task, *arguments), work):
            yield self.result(future)

    def verdicts(self, model: Model, paths: Sequence[str], envelopes: bool = False) -> Iterator[Judgement]:
        """Have all mail below some paths judged, in order."""
        if model.base:
            raise UsageError(LAYERED)
        has_own_view = model.calibration is not None
        files = tasks.ModelFiles(*_contents(model), None if has_own_view else model.view, model.cutoffs)
        (sent,) = self.client.scatter([files], broadcast=True, hash=False)

        def begin(chunk: Chunk) -> Future:
            return self.submit(tasks.judged, chunk, sent, envelopes)

        def redo(chunk: MailboxRange, _: Judgement) -> tuple[MailboxRange | None, Judgement]:
            result: tuple[MailboxRange | None, Judgement] = self.result(begin(chunk))
            return result

        work = self._in_order(begin, ((chunk,) for chunk in cut_mail(paths)))
        for judgement, before in join_ranges((self.result(future) for _, future in work), redo):
            self._check_read(judgement[1])
            yield with_index_offset(judgement, before)

    def status(self) -> str:
        """Words about the workers for the progress line."""
        self._count_workers()
        return f", {counted(self._workers, 'worker')}"

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future:
        return self.client.submit(task, *arguments, pure=False)

    def result(self, future: Future) -> Any:
        """Wait for a result; what may go wrong on a cluster becomes a SpamnbError."""
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
        """Yield arguments and what `begin` returned for them, in order, with some tasks begun ahead."""
        begun: deque[tuple[tuple[Any, ...], Any]] = deque()
        for arguments in work:
            begun.append((arguments, begin(*arguments)))
            self._count_workers()
            while len(begun) > TASKS_PER_THREAD * max(1, self._threads):
                yield begun.popleft()
        while begun:
            yield begun.popleft()

    def _count_workers(self) -> None:
        now = time.monotonic()
        if now - self._counted_at > RECOUNT_AFTER:
            threads = self.client.nthreads()
            self._workers, self._threads, self._counted_at = len(threads), sum(threads.values()), now

    def _check_read(self, unreadable: list[Unreadable]) -> None:
        """Raise an error if mail could not be read, and may not be skipped."""
        failed = failures(unreadable)
        if failed and not self.skip_unreadable:
            first = failed[0]
            why = f"{first.why}; {UNCHANGED} (--skip-unreadable goes on without it)"
            raise first.error(f"{first.path}: {why}")


def _contents(model: Model) -> tuple[bytes, bytes]:
    """Bytes of the model file and the journal that were opened, whatever is there by now."""
    file, journal, data = model.stored.file, model.stored.journal, b""
    if journal.records:
        with open(f"{file.path}.journal", "rb") as current:
            data = current.read(journal.size)
        if len(Journal.of(data, model.stored.generation, model.labels).records) != len(journal.records):
            raise SpamnbError(f"{file.path}: learned meanwhile; try again")
    return file.read(0, file.size), data
