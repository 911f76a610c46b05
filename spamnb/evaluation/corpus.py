"""Labelled mail read once and kept as sparse rows, to be trained on and judged in any split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.scoring import MISSING, Rows, Table, stacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.view import View
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.tables.count_table import Array
    from spamnb.training.batches import Batch


@dataclass(frozen=True, eq=False)
class Corpus:
    labels: tuple[str, ...]
    truth: Array  # place of each message's label
    names: list[tuple[str, int | None]]
    digests: Array
    dates: list[str]  # as they are written, "" where there is none
    rows: Rows
    hashes: Array  # of the vocabulary, sorted
    unreadable: list[Unreadable]
    texts: list[tuple[Array, Array, Array]]  # batch by batch: hashes, ends and text of the tokens

    @classmethod
    def of(cls, labels: Sequence[str], batches: Iterable[Batch]) -> Corpus:
        truth, digests, vocabularies = (
            [np.empty(0, np.int8)],
            [np.empty(0, np.uint64)],
            [np.empty(0, np.uint64)],
        )
        names: list[tuple[str, int | None]] = []
        dates: list[str] = []
        rows: list[Rows] = []
        unreadable, texts = [], []
        for batch in batches:
            truth.append(np.full(len(batch), labels.index(batch.label or ""), np.int8))
            names += batch.names
            digests.append(batch.digests)
            dates += batch.dates
            rows.append(batch.rows)
            vocabularies.append(batch.hashes)
            texts.append((batch.hashes, batch.ends, batch.text))
            unreadable += batch.unreadable
        hashes = np.unique(np.concatenate(vocabularies))
        for at, own in enumerate(vocabularies[1:]):  # one after the other: never all of them twice
            rows[at] = rows[at].renumbered(np.searchsorted(hashes, own).astype(np.int32))
        return cls(
            tuple(labels),
            np.concatenate(truth),
            names,
            np.concatenate(digests),
            dates,
            stacked(rows),
            hashes,
            unreadable,
            texts,
        )

    def tokens(self, places: Iterable[int]) -> list[str]:
        """The text of some tokens of the vocabulary."""
        return [self._token(self.hashes[place]) for place in places]

    def _token(self, number: np.uint64) -> str:
        for hashes, ends, text in self.texts:
            at = int(np.searchsorted(hashes, number))
            if at < len(hashes) and hashes[at] == number:
                return text[ends[at - 1] if at else 0 : ends[at]].tobytes().decode()
        return ""

    def __len__(self) -> int:
        return len(self.names)

    def table(self, messages: Array, view: View) -> Table:
        """The counts of some messages (a mask), for a view."""
        many, size = len(self.labels), len(self.hashes)
        containing, occurring = np.zeros((many, size), np.int32), np.zeros((many, size), np.int32)
        for place in range(many):
            rows = self.rows.chosen(np.flatnonzero(messages & (self.truth == place)))
            containing[place] = np.bincount(rows.places, minlength=size)
            occurring[place] = np.bincount(rows.places, rows.times, size)
        return Table.whole(
            view,
            containing,
            occurring,
            np.bincount(self.truth[messages], minlength=many).tolist(),
            {name: self._sums(values, messages) for name, values in self.rows.numbers.items()},
        )

    def _sums(self, values: Array, messages: Array) -> list[list[int | float]]:
        there = messages & (values != MISSING)
        by_label = [values[there & (self.truth == place)] for place in range(len(self.labels))]
        return [[len(x), int(x.sum()), int((x * x).sum())] for x in by_label]
