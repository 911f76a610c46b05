"""Many messages as sparse rows: read, tokenized and numbered, on all cores.

A batch is what one chunk of mail becomes: for each message the tokens it contains, as places in the
batch's own vocabulary, sorted by fingerprint. Training sums its rows, evaluation keeps them,
classification scores them. It is the same for any number of processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bulk.columns import Columns
from spamnb.bulk.scoring import MISSING, Rows
from spamnb.bulk.workers import in_parallel
from spamnb.counts.fingerprint import MULTIPLIER, fingerprints
from spamnb.mail.dates import MAX_DATE
from spamnb.mail.identity import digest
from spamnb.mail.message import read
from spamnb.mail.sources import Unreadable, chunks
from spamnb.tokens.parts import part_of
from spamnb.tokens.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from spamnb.bulk.columns import Array
    from spamnb.mail.sources import Chunk
    from spamnb.tokens.settings import Settings
    from spamnb.tokens.tokenizer import Features

BREAK = -1  # between two texts


@dataclass(frozen=True, eq=False)
class Batch:
    label: str | None
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    digests: Array
    dates: list[str]  # as they are written, "" where there is none
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
        containing = np.zeros((many, size), np.int32)
        occurring = np.zeros((many, size), np.int32)
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


class _Gathering:
    """Messages of a batch as they come: their tokens by number, their words in order."""

    def __init__(self) -> None:
        self.numbering = _Numbering()
        self.lengths: list[int] = []
        self.numbers = [np.empty(0, np.int32)]
        self.times = [np.empty(0, np.uint16)]
        self.measured: list[dict[str, int]] = []
        self.sequence: list[int] = []  # of words, a BREAK behind each text
        self.stretches: list[int] = []  # how much of it is a message's

    def add(self, features: Features) -> None:
        tokens, number = features.tokens, self.numbering.__getitem__
        self.lengths.append(len(tokens))
        self.numbers.append(np.fromiter(map(number, tokens), np.int32, len(tokens)))
        self.times.append(np.fromiter(tokens.values(), np.uint16, len(tokens)))
        self.measured.append(features.numbers)
        before = len(self.sequence)
        for run in features.runs:
            self.sequence.extend(map(number, run))
            self.sequence.append(BREAK)
        self.stretches.append(len(self.sequence) - before)

    def skip(self) -> None:
        """A message that need not be tokenized."""
        self.lengths.append(0)
        self.measured.append({})
        self.stretches.append(0)

    def finished(self) -> tuple[Rows, Array, Array, Array]:
        """All messages as rows; the fingerprints of their vocabulary, and where its texts end."""
        tokens = list(self.numbering)
        words = np.array(fingerprints(tokens), np.uint64)
        parts = np.array([part_of(token) for token in tokens], np.uint8)
        owners, pairs, pair_at, pair_parts = self._pairs(words, parts)
        hashes = np.concatenate((words, pairs))
        order = np.argsort(hashes, kind="stable")
        place_of = np.empty(len(order), np.int32)
        place_of[order] = np.arange(len(order), dtype=np.int32)
        numbers = np.concatenate(self.numbers)
        owners = np.concatenate((np.repeat(np.arange(len(self.lengths)), self.lengths), owners))
        by_owner = np.argsort(owners, kind="stable")
        rows = Rows(
            np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(self.lengths))))),
            np.concatenate((place_of[numbers], place_of[len(words) + pair_at]))[by_owner],
            np.concatenate([*self.times, np.zeros(len(pair_at), np.uint16)])[by_owner],
            np.concatenate((parts[numbers], pair_parts))[by_owner],
            {
                name: np.array([own.get(name, MISSING) for own in self.measured], np.int64)
                for name in dict.fromkeys(name for own in self.measured for name in own)
            },
        )
        texts = [token.encode() for token in tokens]
        sizes = np.zeros(len(hashes), np.int64)
        sizes[: len(words)] = [len(text) for text in texts]
        text = b"".join([texts[at] for at in order[order < len(words)].tolist()])
        return rows, hashes[order], np.cumsum(sizes[order]), np.frombuffer(text, np.uint8)

    def _pairs(self, words: Array, parts: Array) -> tuple[Array, Array, Array, Array]:
        """Pairs of neighbours, each message's once: its owner; all pairs there are; which it is; its part."""
        sequence = np.array(self.sequence, np.int32)
        owners = np.repeat(np.arange(len(self.stretches)), self.stretches)[:-1]
        first, second = sequence[:-1], sequence[1:]
        neighbours = (first != BREAK) & (second != BREAK)
        owners, first, second = owners[neighbours], first[neighbours], second[neighbours]
        pairs = words[first] * np.uint64(MULTIPLIER) + words[second]
        order = np.argsort(pairs, kind="stable")  # stable: of a pair, its messages stay in order
        owners, pairs, first = owners[order], pairs[order], first[order]
        new = np.ones(len(pairs), bool)
        new[1:] = pairs[1:] != pairs[:-1]
        once = new.copy()
        once[1:] |= owners[1:] != owners[:-1]
        which = np.cumsum(new) - 1
        return owners[once], pairs[new], which[once], parts[first[once]]


def batch_of(chunk: Chunk, label: str | None, tokenizer: Tokenizer, known: Any = None) -> Batch:
    """Read and tokenize a chunk. `known(digest, label)` tells which messages need not be tokenized."""
    gathering = _Gathering()
    names, digests, dates, unreadable = [], [], [], []
    for raw in chunk.messages():
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        message = read(raw.data)
        names.append((raw.path, raw.index))
        digests.append(digest(message))
        dates.append((message.get("date") or "")[:MAX_DATE])
        if known is not None and known(digests[-1], label):
            gathering.skip()
        else:
            gathering.add(tokenizer.features(message))
    found = np.array(digests, np.uint64)
    return Batch(label, names, found, dates, *gathering.finished(), unreadable, chunk.size)


def read_batches(
    sources: Mapping[str, Sequence[str]], settings: Settings, jobs: int, known: Any = None
) -> Iterator[Batch]:
    """Batches of all mail under each label, in order."""
    everything = {path for paths in sources.values() for path in paths}
    work = (
        (chunk, label)
        for label, paths in sources.items()
        for chunk in chunks(paths, without=everything.difference(paths))
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
