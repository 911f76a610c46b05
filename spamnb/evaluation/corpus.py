"""Labelled mail read once and kept as sparse rows, to be trained on and judged in any split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spamnb.arrays import Array, Rows, Texts, distinct, stacked
from spamnb.errors import DataError
from spamnb.mailboxes.skipped import Unreadable
from spamnb.tables.count_table import LARGEST_INT32, CountTable, count_grams
from spamnb.training.batches import Batch


@dataclass(frozen=True, eq=False)
class Corpus:
    """Labelled messages as sparse rows of counts, and what is known of each message."""

    labels: tuple[str, ...]
    truth: Array  # index of each message's label
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    digests: Array
    dates: list[str]  # as they are written, "" where there is none
    rows: Rows
    fingerprints: Array  # of the vocabulary, sorted
    unreadable: list[Unreadable]
    texts: list[tuple[Array, Texts]]  # batch by batch: fingerprints and texts of the tokens

    def __post_init__(self) -> None:
        """Refuse mail with a word so often that 32 bits, which those who judge count with, cannot hold it."""
        places, times = self.rows.places, self.rows.times
        if times.sum() > LARGEST_INT32 and np.bincount(places, times).max() > LARGEST_INT32:
            raise DataError("a word is more than 2,147,483,647 times in this mail; evaluate less of it")

    @classmethod
    def of(cls, labels: Sequence[str], batches: Iterable[Batch]) -> Corpus:
        truth = [np.empty(0, np.int8)]
        digests, vocabularies = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
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
            vocabularies.append(batch.fingerprints)
            texts.append((batch.fingerprints, batch.texts))
            unreadable += batch.unreadable
        joined = np.concatenate(vocabularies)
        firsts, places = distinct(joined)
        fingerprints, start = joined[firsts], 0
        for batch_index, known in enumerate(vocabularies[1:]):  # one by one: never all rows in memory twice
            rows[batch_index] = rows[batch_index].renumbered(places[start : start + len(known)])
            start += len(known)
        return cls(
            tuple(labels),
            np.concatenate(truth),
            names,
            np.concatenate(digests),
            dates,
            stacked(rows),
            fingerprints,
            unreadable,
            texts,
        )

    def tokens(self, columns: Iterable[int]) -> list[str]:
        """The texts of tokens, given by their indices in the vocabulary."""
        return [self._token(self.fingerprints[column]) for column in columns]

    def _token(self, fingerprint: np.uint64) -> str:
        for fingerprints, texts in self.texts:
            at = int(np.searchsorted(fingerprints, fingerprint))
            if at < len(fingerprints) and fingerprints[at] == fingerprint:
                return texts.decoded([at])[0]
        return ""

    def __len__(self) -> int:
        return len(self.names)

    def table(self, messages: Array) -> CountTable:
        """Count the messages of a mask: all tokens of the vocabulary, also those whose counts are 0."""
        label_count, size, chosen = len(self.labels), len(self.fingerprints), np.flatnonzero(messages)
        steps = np.stack((chosen, self.truth[chosen], np.ones_like(chosen)), axis=1)
        entries, starts = (
            np.repeat(of_message, self.rows.lengths)
            for of_message in (messages, self.truth.astype(np.int64) * size)
        )
        cells, times = starts[entries] + self.rows.places[entries], self.rows.times[entries]
        cell_count = label_count * size
        message_counts = np.bincount(cells, minlength=cell_count).astype(np.int32).reshape(label_count, size)
        occurrence_counts = np.bincount(cells, times, cell_count).astype(np.int32).reshape(label_count, size)
        signs = messages & (self.truth == np.arange(label_count)[:, None])
        return CountTable(
            self.labels,
            tuple(np.bincount(self.truth[messages], minlength=label_count).tolist()),
            self.rows.number_sums(steps, label_count),
            self.fingerprints,
            Texts.empty(size),
            message_counts,
            occurrence_counts,
            np.zeros(size, np.uint16),
            np.zeros(size, np.uint16),
            grams=count_grams(self.rows.grams, signs),
        )
