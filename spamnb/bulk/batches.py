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


def _pairs(runs: list[tuple[int, list[int]]], words: Array, parts: Array) -> tuple[Array, Array, Array]:
    """The pairs of neighbours of each message once: the message, the pair's fingerprint and its part."""
    owners = np.repeat([owner for owner, _ in runs], [len(run) for _, run in runs]).astype(np.int64)
    places = np.array([place for _, run in runs for place in run], np.int64)
    first, second = places[:-1], places[1:]
    neighbours = (first >= 0) & (second >= 0)
    owners, first, second = owners[:-1][neighbours], first[neighbours], second[neighbours]
    pairs = words[first] * np.uint64(MULTIPLIER) + words[second]
    order = np.lexsort((pairs, owners))
    owners, pairs, own_parts = owners[order], pairs[order], parts[first[order]]
    once = np.ones(len(pairs), bool)
    once[1:] = (pairs[1:] != pairs[:-1]) | (owners[1:] != owners[:-1])
    return owners[once], pairs[once], own_parts[once]


class _Numbering(dict[str, int]):
    """Numbers tokens in the order they come."""

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self)
        return number


def batch_of(chunk: Chunk, label: str | None, tokenizer: Tokenizer, known: Any = None) -> Batch:
    """Read and tokenize a chunk. `known(digest, label)` tells which messages need not be tokenized."""
    numbering = _Numbering()
    names, digests, dates, unreadable = [], [], [], []
    lengths, places, times, runs = [], [], [], []
    measured: list[dict[str, int]] = []
    for raw in chunk.messages():
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        message = read(raw.data)
        identity = digest(message)
        names.append((raw.path, raw.index))
        digests.append(identity)
        if known is not None and known(identity, label):
            dates.append("")
            lengths.append(0)
            measured.append({})
            continue
        dates.append((message.get("date") or "")[:MAX_DATE])
        features = tokenizer.features(message)
        lengths.append(len(features.tokens))
        places.append(
            np.fromiter(map(numbering.__getitem__, features.tokens), np.int32, len(features.tokens))
        )
        times.append(np.fromiter(features.tokens.values(), np.uint16, len(features.tokens)))
        measured.append(features.numbers)
        runs.append(
            (
                len(names) - 1,
                [place for run in features.runs for place in (*map(numbering.__getitem__, run), BREAK)],
            )
        )
    tokens = list(numbering)
    words = np.array(fingerprints(tokens), np.uint64)
    word_parts = np.array([part_of(token) for token in tokens], np.uint8)
    pair_owners, pairs, pair_parts = _pairs(runs, words, word_parts)
    hashes = np.concatenate((words, np.unique(pairs)))
    order = np.argsort(hashes, kind="stable")
    place_of = np.empty(len(order), np.int32)
    place_of[order] = np.arange(len(order), dtype=np.int32)
    hashes = hashes[order]
    texts = [token.encode() for token in tokens]
    encoded = [texts[at] if at < len(texts) else b"" for at in order.tolist()]
    word_places = np.concatenate([np.empty(0, np.int32), *places])
    owners = np.concatenate((np.repeat(np.arange(len(names)), lengths), pair_owners))
    by_owner = np.argsort(owners, kind="stable")
    rows = Rows(
        np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(names))))),
        np.concatenate((place_of[word_places], np.searchsorted(hashes, pairs)))[by_owner].astype(np.int32),
        np.concatenate([*times, np.zeros(len(pairs), np.uint16)])[by_owner],
        np.concatenate((word_parts[word_places], pair_parts))[by_owner],
        {
            name: np.array([numbers.get(name, MISSING) for numbers in measured], np.int64)
            for name in dict.fromkeys(name for numbers in measured for name in numbers)
        },
    )
    return Batch(
        label,
        names,
        np.array(digests, np.uint64),
        dates,
        rows,
        hashes,
        np.cumsum([len(token) for token in encoded]) if encoded else np.empty(0, np.int64),
        np.frombuffer(b"".join(encoded), np.uint8),
        unreadable,
        chunk.size,
    )


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
