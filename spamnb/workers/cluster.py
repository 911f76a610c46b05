"""Reading mail with the workers of a Dask cluster that is already running.

Workers read mail and tokenize it, as threads do on one machine; this process adds up the counts. The model is
the same, byte for byte, as with threads.
"""

from __future__ import annotations

import logging
import os
import socket
from asyncio import CancelledError
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any

from distributed import Client, Future, KilledWorker

from spamnb.errors import DataError, NoInput, SpamnbError, UsageError
from spamnb.files import is_address
from spamnb.mailboxes.chunks import MessageFiles, ReadMessages
from spamnb.mailboxes.sources import Chunk, chunks_by_label
from spamnb.threads import all_cores
from spamnb.training.batches import Batch, ChunkReader, MailToRead

TIMEOUT = 10  # seconds for a scheduler to answer, and for the first worker to come
CHUNK = 8 << 20  # bytes: half a second of tokenizing, and few requests to a store
TASKS_PER_THREAD = 3  # begun ahead, so that no worker has to wait for this process
UNCHANGED = "nothing was changed"


@contextmanager
def connected(address: str) -> Iterator[ClusterPool]:
    """Connect to a cluster, given the scheduler's address or the file that the scheduler wrote."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported once, by spamnb
    where = {"scheduler_file": address} if os.path.exists(address) else {"address": address}
    try:
        client = Client(**where, timeout=TIMEOUT, set_as_default=False)
    except Exception as error:  # of Dask, of its networks, or of what is in the file
        raise NoInput(f"{address}: no cluster answers at this address: {_words(error)}") from error
    try:
        try:
            client.wait_for_workers(1, timeout=TIMEOUT)
        except TimeoutError as error:
            raise NoInput(f"{address}: the cluster has no workers; start some with `dask worker`") from error
        yield ClusterPool(client)
    finally:
        with suppress(Exception):  # if the scheduler is gone, this fails, too
            client.close()


class ClusterPool:
    """Workers of a cluster that read mail; this process adds up the counts, and scores the sample of mail."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.jobs = all_cores()

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        """Let the workers read all mail of each label, and yield it in batches, in order.

        If a worker dies, another one repeats its tasks. Messages that the model has learned are tokenized,
        too: workers do not know which messages these are.
        """
        if any("-" in paths for paths in mail.sources.values()):
            raise UsageError("-: a cluster cannot read standard input; use --jobs NUMBER")
        task = CheckedTask(ChunkReader(mail.settings))
        begun: deque[Future] = deque()
        for chunk, label in chunks_by_label(mail.sources, CHUNK):
            begun.append(self.client.submit(task, chunk, label, pure=False))
            if len(begun) > TASKS_PER_THREAD * sum(_answer(self.client.nthreads).values()):
                yield _answer(begun.popleft().result)
        while begun:
            yield _answer(begun.popleft().result)


class CheckedTask:
    """A task that reads mail on a worker; the worker must have the same spamnb and access to the mail."""

    def __init__(self, read: ChunkReader) -> None:
        self.read = read
        self.version = version("spamnb")

    def __call__(self, chunk: Chunk, label: str) -> Batch:
        name, here = socket.gethostname(), version("spamnb")
        if here != self.version:
            raise UsageError(
                f"worker {name} has spamnb {here}, this machine has {self.version}; install the same version"
            )
        if not isinstance(chunk, ReadMessages):
            paths = chunk.paths if isinstance(chunk, MessageFiles) else [chunk.path]
            for folder in {os.path.dirname(path) or "." for path in paths if not is_address(path)}:
                if not os.path.isdir(folder):  # a message may be gone by now, but not all of them
                    raise DataError(f"{folder}: is missing on {name}; all workers must be able to read it")
        return self.read(chunk, label)


def _answer(ask: Callable[[], Any]) -> Any:
    """Ask the cluster and wait for the answer; an error in the cluster is raised as a SpamnbError."""
    try:
        return ask()
    except SpamnbError:
        raise
    except KilledWorker as error:
        why = "several workers died at the same mail, perhaps out of memory"
        raise SpamnbError(f"{why}; {UNCHANGED}") from error
    except (CancelledError, TimeoutError, OSError) as error:
        raise SpamnbError(f"the cluster does not answer any more; {UNCHANGED}") from error
    except Exception as error:
        raise SpamnbError(f"a worker failed: {_words(error)}; {UNCHANGED}") from error


def _words(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
