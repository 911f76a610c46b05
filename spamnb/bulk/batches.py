"""Many messages as sparse rows: read, tokenized and numbered, on all cores.

A batch is what one chunk of mail becomes: for each message the tokens it contains, as places in the
batch's own vocabulary, sorted by fingerprint. Training sums its rows, evaluation keeps them,
classification scores them. It is the same for any number of processes.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bulk.columns import Columns
from spamnb.bulk.scoring import MISSING, Rows
from spamnb.counts.fingerprint import fingerprints
from spamnb.errors import SpamnbError
from spamnb.mail.identity import digest
from spamnb.mail.message import read
from spamnb.mail.sources import Unreadable, chunks
from spamnb.tokens.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spamnb.bulk.columns import Array
    from spamnb.mail.sources import Chunk
    from spamnb.tokens.settings import Settings

AHEAD = 2  # chunks handed out beyond one a process: enough to keep them busy, and memory bounded


@dataclass(frozen=True, eq=False)
class Batch:
    label: str | None
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    digests: Array
    rows: Rows  # in the batch's own vocabulary
    hashes: Array
    ends: Array
    text: Array
    unreadable: list[Unreadable]
    size: int  # bytes of mail

    def __len__(self) -> int:
        return len(self.names)

    def table(self, labels: Sequence[str], steps: Iterable[tuple[int, int, int]], day: int) -> Columns:
        """The sum of some messages: (message, place of the label, 1 or -1) each."""
        chosen = np.array(list(steps), np.int64).reshape(-1, 3)
        many, size = len(labels), len(self.hashes)
        containing = np.zeros((many, size), np.int64)
        occurring = np.zeros((many, size), np.int64)
        owner = np.repeat(np.arange(len(self)), self.rows.lengths)
        for place in range(many):
            mine = chosen[chosen[:, 1] == place]
            sign = np.zeros(len(self), np.int64)
            np.add.at(sign, mine[:, 0], mine[:, 2])
            weight = sign[owner]
            containing[place] = np.bincount(self.rows.places, weight, size)
            occurring[place] = np.bincount(self.rows.places, weight * self.rows.times, size)
        messages = np.bincount(chosen[:, 1], chosen[:, 2], many).astype(int).tolist()
        return Columns(
            tuple(labels),
            tuple(messages),
            self._sums(chosen, many),
            self.hashes,
            self.ends,
            self.text,
            containing,
            occurring,
            np.full(size, day, np.uint16),
        )

    def _sums(self, chosen: Array, many: int) -> dict[str, list[list[int | float]]]:
        sums: dict[str, list[list[int | float]]] = {}
        for name, values in self.rows.numbers.items():
            rows = sums[name] = [[0, 0, 0] for _ in range(many)]
            there = chosen[values[chosen[:, 0]] != MISSING]
            for place in range(many):
                mine = there[there[:, 1] == place]
                x, sign = values[mine[:, 0]], mine[:, 2]
                rows[place] = [int(sign.sum()), int((sign * x).sum()), int((sign * x * x).sum())]
        return sums


class _Numbering(dict[str, int]):
    """Numbers tokens in the order they come."""

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self)
        return number


def batch_of(chunk: Chunk, label: str | None, tokenizer: Tokenizer, known: Any = None) -> Batch:
    """Read and tokenize a chunk. `known(digest, label)` tells which messages need not be tokenized."""
    numbering = _Numbering()
    names, digests, unreadable = [], [], []
    lengths, places, times = [0], [], []
    measured: list[dict[str, int]] = []
    for raw in chunk.messages():
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        identity = digest(raw.data)
        names.append((raw.path, raw.index))
        digests.append(identity)
        if known is not None and known(identity, label):
            lengths.append(0)
            measured.append({})
            continue
        features = tokenizer.features(read(raw.data))
        lengths.append(len(features.tokens))
        places.append(
            np.fromiter(map(numbering.__getitem__, features.tokens), np.int32, len(features.tokens))
        )
        times.append(np.fromiter(features.tokens.values(), np.uint16, len(features.tokens)))
        measured.append(features.numbers)
    tokens = list(numbering)
    hashes = np.array(fingerprints(tokens), np.uint64)
    order = np.argsort(hashes, kind="stable")
    place_of = np.empty(len(order), np.int32)
    place_of[order] = np.arange(len(order), dtype=np.int32)
    encoded = [tokens[at].encode() for at in order]
    rows = Rows(
        np.cumsum(lengths),
        place_of[np.concatenate(places)] if places else np.empty(0, np.int32),
        np.concatenate(times) if times else np.empty(0, np.uint16),
        {
            name: np.array([numbers.get(name, MISSING) for numbers in measured], np.int64)
            for name in dict.fromkeys(name for numbers in measured for name in numbers)
        },
    )
    return Batch(
        label,
        names,
        np.array(digests, np.uint64),
        rows,
        hashes[order],
        np.cumsum([len(token) for token in encoded]) if encoded else np.empty(0, np.int64),
        np.frombuffer(b"".join(encoded), np.uint8),
        unreadable,
        chunk.size,
    )


def read_batches(
    sources: Mapping[str, Sequence[str]], settings: Settings, jobs: int, known: Any = None
) -> Iterator[Batch]:
    """Batches of all mail under each label, in order."""
    everything = [path for paths in sources.values() for path in paths]
    work = (
        (chunk, label)
        for label, paths in sources.items()
        for chunk in chunks(paths, without=[path for path in everything if path not in paths])
    )
    yield from in_parallel(_Counting(settings, known), work, jobs)


class _Counting:
    """The work of one process on one chunk; the tokenizer is made once in each process."""

    def __init__(self, settings: Settings, known: Any) -> None:
        self.settings = settings
        self.known = known
        self.tokenizer: Tokenizer | None = None

    def __call__(self, chunk: Chunk, label: str) -> Batch:
        if self.tokenizer is None:
            self.tokenizer = Tokenizer(self.settings)
        return batch_of(chunk, label, self.tokenizer, self.known)


_task: Any = None


def _prepare(task: Any) -> None:
    global _task
    _task = task
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops us


def _run(arguments: tuple[Any, ...]) -> Any:
    return _task(*arguments)


def _nothing() -> None:
    pass


def in_parallel(task: Any, work: Iterable[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Results in the order of the work, a bounded number of pieces under way."""
    if jobs == 1:
        for arguments in work:
            yield task(*arguments)
        return
    # fork: a spawned process needs 0.3 s to import what this one has. It is done before any thread starts.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("fork"), initializer=_prepare, initargs=(task,))
    try:
        pool.submit(_nothing).result()
        waiting: deque[Future[Any]] = deque()
        for arguments in work:
            waiting.append(pool.submit(_run, arguments))
            if len(waiting) > jobs + AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise SpamnbError("a worker process was killed (out of memory?); nothing was changed") from error
    finally:
        pool.shutdown(cancel_futures=True)


def all_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
