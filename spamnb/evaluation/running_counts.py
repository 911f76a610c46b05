"""Counts of the messages learned so far. Learning or forgetting one takes time by its tokens alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING
from spamnb.bayes.bulk_classifier import BulkClassifier
from spamnb.bayes.likelihood import Likelihood
from spamnb.grams import COUNTERS
from spamnb.store.journal import sums_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.verdict import Score
    from spamnb.bayes.view import View
    from spamnb.evaluation.corpus import Corpus
    from spamnb.grams import GramSet
    from spamnb.tables.count_table import NumberSums

HIGHEST = (1 << 16) - 1  # numpy sorts numbers of 16 bits by radix


class RunningCounts:
    """Counts of some messages of a corpus, which judge the others."""

    def __init__(self, corpus: Corpus, view: View) -> None:
        self.view = view
        self.labels = corpus.labels
        self.truth = corpus.truth.tolist()
        self.counts_times = view.event == "multinomial"
        self.counts_grams = view.grams
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
        self.lengths = rows.summed(rows.times).tolist()
        self.lone = [words + pairs for words, pairs in zip(self.lone_words, self.lone_pairs, strict=True)]
        self.vocabulary = self.pair_vocabulary = 0
        rows = rows.only(~lone).renumbered(places_now)
        self.fingerprints, self.places_now = corpus.fingerprints, places_now
        self.starts, self.places, self.times = rows.starts, rows.places.data, rows.times.data
        width = 2 * label_count if self.counts_times else label_count
        counts = np.zeros((size - int(is_lone.sum()), width), np.int32)
        self.counts, self.width = counts.reshape(-1).data, width
        self.gram_starts, self.grams = rows.grams.starts, rows.grams.members.data
        gram_counts = np.zeros((COUNTERS if view.grams else 0, label_count), np.int32)
        self.gram_counts = gram_counts.reshape(-1).data
        self.messages, self.presences, self.occurrences, self.pair_presences = (
            [0] * label_count for _ in range(4)
        )
        self.values = {name: rows.numbers[name].tolist() for name in (rows.numbers if view.numbers else ())}
        self.numbers: NumberSums = {name: [[0, 0, 0] for _ in self.labels] for name in self.values}
        # How many words have how many messages of a label, and, for global smoothing, the same row of counts.
        self.same_counts = np.zeros((label_count, len(corpus) + 2), np.int64)
        self.same_rows: dict[tuple[int, ...], int] = {}
        self.likelihood = Likelihood(self, view)
        self.scorer = BulkClassifier(self.likelihood, counts, gram_counts)
        self.scorer.open(rows)
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
        counts = np.asarray(self.counts).reshape(-1, self.width)
        known &= places < len(counts)  # others are no evidence
        rows = counts[places[known]].tolist()
        return dict(zip(wanted[known].tolist(), map(tuple, rows), strict=True))

    def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, tuple[int, ...]]:
        """Look up the counts of pairs of neighbours."""
        return self.rows(fingerprints)

    def counts_of_grams(self, found: GramSet) -> bytearray:
        """Look up the counts of a message's grams, label by label."""
        counts = np.asarray(self.gram_counts).reshape(COUNTERS, -1)
        return bytearray(counts[found.as_list()].astype(np.uint64).tobytes())

    def score(self, message: int) -> Score:
        """Score a message by what is learned."""
        self.refresh()
        return self.scorer.score(message)

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
        found = []
        for k in range(len(self.labels)):
            words_by_count = {}
            for count in range(self.messages[k] + 1):
                if self.same_counts[k, count]:
                    words_by_count[count, 0] = self.same_counts[k, count]
            found.append(words_by_count)
        return found

    def learn(self, message: int) -> None:
        self.change(message, 1)

    def forget(self, message: int) -> None:
        self.change(message, -1)

    def change(self, message: int, sign: int) -> None:
        """Add the counts of a message, or subtract them."""
        label, label_count, counts = self.truth[message], len(self.labels), self.counts
        new_words, new_pairs = self.lone_words[message], self.lone_pairs[message]
        start, end = self.starts[message], self.starts[message + 1]
        for at in range(start, end):
            place, times = self.width * self.places[at], self.times[at]
            counts[place + label] += sign
            total = 0
            for k in range(label_count):
                total += counts[place + k]
            is_new = total == (sign > 0)  # as no other message has it
            new_words += is_new & (times > 0)
            new_pairs += is_new & (times == 0)
            if self.counts_words:
                before = [counts[place + k] - sign * (k == label) for k in range(label_count)]
                self.count_same(before, label, sign, 1, is_new)
            if self.counts_times:
                counts[place + label_count + label] += sign * times
        if self.counts_words:
            before = [int(sign < 0 and k == label) for k in range(label_count)]
            self.count_same(before, label, sign, self.lone_words[message], True)
        if self.counts_grams:
            for at in range(self.gram_starts[message], self.gram_starts[message + 1]):
                self.gram_counts[label_count * self.grams[at] + label] += sign
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

    def count_same(self, before: list[int], label: int, sign: int, words: int, are_new: bool) -> None:
        """Note that words get one more message of a label, or one less; new ones have no other message."""
        if are_new:
            for k in range(len(self.labels)):
                self.same_counts[k, 0] += sign * words
        self.same_counts[label, before[label]] -= words
        self.same_counts[label, before[label] + sign] += words
        if self.likelihood.is_global:
            after = before.copy()
            after[label] += sign
            for row, step in ((tuple(before), -words), (tuple(after), words)):
                if any(row):
                    self.same_rows[row] = self.same_rows.get(row, 0) + step
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
