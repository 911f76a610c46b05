"""All words of a model, in blocks, so that only some are in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.view import View
from spamnb.core.native import Entries
from spamnb.store.stored_model import StoredModel

PIECES = 32  # of some thousand entries each, in a block


class WordBlock(NamedTuple):
    """Words of a model in the order of their fingerprints: counts, first and last days, and texts."""

    fingerprints: Array
    counts: Array  # [count, word]: messages by label, then occurrences by label
    first_days: Array  # counted from 1970
    last_days: Array
    starts: Array  # where the text of each word starts
    ends: Array
    letters: bytes

    @property
    def message_counts(self) -> Array:
        return self.counts[: len(self.counts) // 2]

    @property
    def occurrence_counts(self) -> Array:
        return self.counts[len(self.counts) // 2 :]

    def text(self, word: int) -> str:
        return self.letters[self.starts[word] : self.ends[word]].decode("utf-8", "replace")

    def values(self, view: View, function: Callable[[tuple[int, ...]], Sequence[float]]) -> Array:
        """Call `function` with the counts of each word, and return its values as an array [value, word].

        Words with equal counts share a call: half a million words have a few thousand different counts.
        """
        counts = self.counts if view.event == "multinomial" else self.message_counts
        order = np.lexsort(counts)
        ordered, is_first = counts[:, order], np.ones(len(order), bool)
        is_first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
        which = np.empty(len(order), int)
        which[order] = np.cumsum(is_first) - 1
        found = np.array([function(tuple(row)) for row in ordered[:, is_first].T.tolist()], float)
        return found.T[:, which]


def words_of(stored: StoredModel) -> Iterator[WordBlock]:
    """Yield all words of a model, including those of its journal, in blocks."""
    pieces = stored.entries()
    while some := list(islice(pieces, PIECES)):
        block = block_of(some, len(stored.labels))
        if len(block.fingerprints):
            yield block


def block_of(pieces: Sequence[Entries], label_count: int) -> WordBlock:
    """Return the words among some entries of a model as a block; pairs of words are left out."""

    def joined(name: str, kind: type) -> Array:
        return np.concatenate([np.frombuffer(getattr(piece, name), kind) for piece in pieces])

    letters = [bytes(piece.letters) for piece in pieces]
    before = np.cumsum([0, *map(len, letters)])[:-1]
    ends = joined("text_ends", np.uint32) + np.repeat(before, [len(piece) for piece in pieces])
    counts = joined("counts", np.int64).reshape(-1, 2 * label_count)
    words = np.flatnonzero(counts[:, label_count:].any(axis=1))
    return WordBlock(
        joined("keys", np.uint64)[words],
        counts[words].T,
        joined("first_days", np.uint16)[words],
        joined("last_days", np.uint16)[words],
        np.concatenate(([0], ends[:-1]))[words],
        ends[words],
        b"".join(letters),
    )
