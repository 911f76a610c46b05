"""Counts of the messages learned so far. Learning or forgetting one takes time by its tokens alone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING
from spamnb.bayes.bulk_classifier import BulkClassifier
from spamnb.bayes.likelihood import Likelihood
from spamnb.core.native import COUNTERS
from spamnb.store.journal import sums_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Score
    from spamnb.bayes.view import View
    from spamnb.evaluation.corpus import Corpus
    from spamnb.tables.count_table import NumberSums

HIGHEST = (1 << 16) - 1  # numpy sorts numbers of 16 bits by radix


class RunningCounts:
    """Counts of some messages of a corpus, which judge the others."""

    def __init__(self, corpus: Corpus, view: View) -> None:
        self.view = view
        self.labels = corpus.labels
        self.truth = corpus.truth.astype(np.int64)
        self.counts_times = view.event == "multinomial"
        self.counts_words = view.event == "bernoulli"
        label_count = len(self.labels)
        rows = corpus.rows if view.pairs else corpus.rows.only(corpus.rows.times > 0)
        size = len(corpus.fingerprints)
        places_now, is_lone = by_frequency(rows.places, size)
        if view.tfidf:  # there the length of a message counts
            is_lone[:] = False
        lone, words = is_lone[rows.places], rows.times > 0
        # Per message what it adds to the totals; lone are its tokens that no other one has, never evidence.
        self.words, self.lone_words, self.pairs, self.lone_pairs = (
            rows.counted(entries).tolist() for entries in (words, lone & words, ~words, lone & ~words)
        )
        self.lone = rows.counted(lone)
        self.lengths = rows.summed(rows.times).tolist()
        self.vocabulary = self.pair_vocabulary = 0
        rows = rows.only(~lone).renumbered(places_now)
        self.fingerprints, self.places_now = corpus.fingerprints, places_now
        width = 2 * label_count if self.counts_times else label_count
        self.counts = np.zeros((size - int(is_lone.sum()), width), np.int32)
        self.gram_counts = np.zeros((COUNTERS if view.grams else 0, label_count), np.int32)
        self.messages, self.presences, self.occurrences, self.pair_presences = (
            [0] * label_count for _ in range(4)
        )
        self.values = {name: rows.numbers[name].tolist() for name in (rows.numbers if view.numbers else ())}
        self.numbers: NumberSums = {name: [[0, 0, 0] for _ in self.labels] for name in self.values}
        # How many words have how many messages of a label, and, for global smoothing, the same row of counts.
        self.same_counts = np.zeros((label_count, len(corpus) + 2), np.int64)
        self.same_rows: dict[tuple[int, ...], int] = {}
        self.likelihood = Likelihood(self, view)
        self.scorer = BulkClassifier(self.likelihood, self.counts, self.gram_counts)
        self.scorer.open(rows)
        self.row_starts, self.row_places = rows.starts, rows.places
        self.is_stale = False

    def correct(self, misfiled: Sequence[float]) -> None:
        """Take counts without misfiled mail."""
        self.likelihood.correct(misfiled)

    def histogram(self) -> dict[tuple[int, ...], int]:
        """How many words have the same messages per label."""
        return self.same_rows

    def rows(self, fingerprints: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Look up the counts of tokens; occurrences only where the view reads them."""
        wanted = np.array(fingerprints, np.uint64)
        places = np.searchsorted(self.fingerprints, wanted).clip(max=len(self.fingerprints) - 1)
        known = self.fingerprints[places] == wanted
        places = self.places_now[places]
        known &= places < len(self.counts)  # others are no evidence
        rows = self.counts[places[known]].tolist()
        return dict(zip(wanted[known].tolist(), map(tuple, rows), strict=True))

    def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Look up the counts of pairs of neighbours."""
        return self.rows(fingerprints)

    def counts_of_grams(self, counters: Sequence[int]) -> bytearray:
        """Look up the counts of a message's grams, label by label."""
        return bytearray(self.gram_counts[counters].astype(np.uint64).tobytes())

    def score(self, message: int) -> Score:
        """Score a message by what is learned."""
        self.refresh()
        return self.scorer.scores_of([message])[0]

    def left_out_joints(self, messages: Sequence[int]) -> Array:
        """Return the log-joints [message, label] of learned messages, each by the counts of the others."""
        self.refresh()
        return self.scorer.left_out_joints(messages, self.truth, self.lone)

    def refresh(self) -> None:
        """Derive from the counts what judges."""
        if self.is_stale:
            is_exact = self.counts_words and not self.likelihood.is_global
            self.likelihood.update(self, self.words_by_count() if is_exact else None)
            self.is_stale = False

    def words_by_count(self) -> list[dict[tuple[int, int], int]]:
        """Per label, how many words have each number of messages, as Likelihood takes it."""
        return [
            {(count, 0): int(same[count]) for count in np.flatnonzero(same).tolist()}
            for same in self.same_counts
        ]

    def learn(self, message: int) -> None:
        self.change(message, 1)

    def forget(self, message: int) -> None:
        self.change(message, -1)

    def change(self, message: int, sign: int) -> None:
        """Add the counts of a message, or subtract them."""
        label = int(self.truth[message])
        if self.counts_words:
            self.count_same(message, label, sign)
        new_words, new_pairs = self.scorer.change(message, label, sign)
        new_words += self.lone_words[message]
        new_pairs += self.lone_pairs[message]
        self.vocabulary += sign * new_words
        self.pair_vocabulary += sign * new_pairs
        self.messages[label] += sign
        self.presences[label] += sign * self.words[message]
        self.pair_presences[label] += sign * self.pairs[message]
        self.occurrences[label] += sign * self.lengths[message]
        for name, sums in self.numbers.items():
            value = self.values[name][message]
            if value != MISSING:
                sums[label] = sums_with(sums[label], value, sign)
        self.is_stale = True

    def count_same(self, message: int, label: int, sign: int) -> None:
        """Note that the words of a message get one more message of its label, or one less."""
        places = self.row_places[self.row_starts[message] : self.row_starts[message + 1]]
        alone = np.zeros((self.lone_words[message], len(self.labels)), np.int32)
        alone[:, label] = sign < 0
        before = np.concatenate((self.counts[places, : len(self.labels)], alone))
        after = before.copy()
        after[:, label] += sign
        for rows, step in ((before, -1), (after, 1)):
            known = rows[rows.any(axis=1)]  # others are no words yet, or no longer
            for k, same in enumerate(self.same_counts):
                found = np.bincount(known[:, k])
                same[: len(found)] += step * found
            if self.likelihood.is_global:
                for row, words in Counter(map(tuple, known.tolist())).items():
                    self.same_rows[row] = self.same_rows.get(row, 0) + step * words
                    if not self.same_rows[row]:
                        del self.same_rows[row]


def by_frequency(places: Array, size: int) -> tuple[Array, Array]:
    """Number tokens again, the most frequent first, so that most counts are found in a cache.

    Also tells which of the old ones have one message only; these are last.
    """
    messages = np.bincount(places, minlength=size)
    rarity = (HIGHEST - np.minimum(messages, HIGHEST)).astype(np.uint16)
    is_lone = messages == 1
    rarity[is_lone] = HIGHEST
    numbers = np.empty(size, np.int32)
    numbers[np.argsort(rarity, kind="stable")] = np.arange(size, dtype=np.int32)
    return numbers, is_lone
