"""P(token | label): all formulas of tokens, from the totals of a table and the counts of a token.

A view turns counts into P(token | label) when they are read, so that every event model and every
smoothing serves the same table without retraining. All of them have one form,

    log P(label, message) = bias(label) + Σ x(token) · weight(token, label)

with x how often the token occurs (multinomial), 1 (binary, Bernoulli) or its tf·idf. Unknown tokens
and missing numbers are left out of the sum, which is what marginalising over them gives. The default view
takes the mean of the weights instead of their sum, and no prior. By it spam is held against all other labels
together, whatever their number, and then these against each other.

A weight is a whole number of units of 2⁻⁴⁰ nats: sums of them are exact, and their order makes no difference.
"""

from __future__ import annotations

from spamnb.bayes.view import (
    CERTAIN,
    GLOBAL,
    IMPOSSIBLE,
    NO_LABEL,
    ROUNDING,
    UNITS_PER_NAT,
    prior,
)
from spamnb.labels import MOST_LABELS, SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    import math  # C's own: see the .pxd
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.bayes.view import View
    from spamnb.store.counts import Row, TotalCounts

    # {(messages of this label, messages of all labels or, without global statistics, 0): number of words}
    WordsByCount = dict[tuple[int, int], int]

inf = float("inf")
MOST_LOGARITHMS = 4096  # log(n + ε) is kept for n below this, where many messages are scored
NONE_MISFILED = (0.0, 0.0)
# log 0 where a mean is taken: with -inf one word would decide alone. No finite weight is further from 0 than
# 1,024 nats, which is 2⁵⁰ units: no float above 0 has a logarithm below -745, no total one above 100.
LOG_TINY = math.log(1e-300)


class Likelihood:
    """P(token | label) by the totals of a table and a view.

    One message, many, those left out and those met online are scored by it.
    """

    def __init__(self, totals: TotalCounts, view: View, misfiled: Sequence[float] = NONE_MISFILED) -> None:
        if len(totals.labels) > MOST_LABELS:
            raise ValueError(f"more than {MOST_LABELS} labels")
        self.view = view
        self.labels = totals.labels
        self.label_count = len(totals.labels)
        self.is_global = view.smoothing == GLOBAL
        self.is_bernoulli = view.event == "bernoulli"
        self.is_multinomial = view.event == "multinomial"
        is_mean = view.has_cutoffs and not view.numbers
        self.is_mean_of_two = is_mean and self.label_count == 2
        # The index of spam, where it is held against all others, taken together; else NO_LABEL.
        self.spam_apart = (
            totals.labels.index(SPAM)
            if is_mean and self.label_count > 2 and SPAM in totals.labels
            else NO_LABEL
        )
        self.epsilon = 0.0 if self.is_global else float(view.smoothing)
        self._log_zero = LOG_TINY * UNITS_PER_NAT if view.damping is not None else -inf
        self.kept = 0  # logarithms
        self.revision = 0  # raised when weights change, but for denominators without one message
        self.log_denominators = [0.0] * 101  # per label log(n_c + ε|V|), in units; 101st of all but spam
        self.misfiled = [0.0] * 101  # per label, what share of the other side's mail is filed under it
        self.grams: Likelihood | None = None
        if view.grams:
            self.grams = Likelihood(GramTotals(totals), view.of_grams())
        self.correct(misfiled)
        self.update(totals)

    def keep_logarithms(self) -> None:
        """Compute the logarithms of low counts once, for many messages."""
        if not (self.kept or self.is_global or self.is_bernoulli):
            self.logarithms = [self.log_count(n, self.epsilon) for n in range(MOST_LOGARITHMS)]
            self.kept = MOST_LOGARITHMS
        if self.grams:
            self.grams.keep_logarithms()

    def correct(self, misfiled: Sequence[float]) -> None:
        """Take counts without misfiled mail: a share of the mail but spam, filed as spam, and one of spam."""
        self.revision += 1
        self.is_corrected = any(misfiled) and (self.is_mean_of_two or self.spam_apart != NO_LABEL)
        for k, label in enumerate(self.labels):
            self.misfiled[k] = misfiled[label != SPAM]
        self.misfiled[self.label_count] = misfiled[1]
        if self.grams:
            self.grams.correct(misfiled)

    def rightly_filed(self, label_index: int, count: int, other: int) -> int:
        """Return in how many messages of a label a token is, less those that are likely misfiled.

        `other`: messages of the other side that have it. As many are misfiled as expected, or one standard
        deviation, √expected, more.
        """
        if not count or count >= other:
            return count
        expected = self.misfiled[label_index] * other
        misfiled = int(expected)
        while misfiled < count and (misfiled + 1 - expected) * (misfiled + 1 - expected) <= expected:
            misfiled += 1
        return count - misfiled if count > misfiled else 0

    def update(self, totals: TotalCounts, words_by_count: Sequence[WordsByCount] | None = None) -> None:
        """Derive all that depends on the totals, but on no message.

        If `words_by_count`, per label, is given, the table's histogram is not computed (for Bernoulli).
        """
        view = self.view
        self.revision += 1
        self.numbers = totals.numbers
        self.log_prior = [_log(p) for p in prior(totals.labels, totals.messages, view.prior)]
        self._message_total = sum(totals.messages)
        self.vocabulary = totals.vocabulary
        label_totals: Sequence[int] = totals.presences  # n_c of each label, here for binary events
        if self.is_bernoulli:
            label_totals = totals.messages
        elif self.is_multinomial:
            label_totals = totals.occurrences
        if view.pairs:
            self.vocabulary += totals.pair_vocabulary
            label_totals = [a + b for a, b in zip(label_totals, totals.pair_presences, strict=True)]
        self.label_totals = list(label_totals)
        self.set_denominators(self.label_totals, self.vocabulary)
        self.background = self.log_prior  # per label, the log-joint before any token is seen
        self.certain_words = [0] * self.label_count  # per label, words that all its messages have
        if self.is_bernoulli:
            self._count_absent_words(words_by_count or self._words_by_count(totals.histogram()))
        if self.grams:
            self.grams.update(GramTotals(totals))

    def set_denominators(self, label_totals: list[int], vocabulary: int) -> None:
        """Set log(n_c + ε|V|) of each label, 0 where nothing is, and that of the rest, if spam is apart."""
        if self.spam_apart != NO_LABEL:
            label_totals = [*label_totals, sum(self.without_spam(label_totals))]
        added = 1.0 if self.is_global else self.epsilon * vocabulary
        for k in range(len(label_totals)):
            denominator = label_totals[k] + added
            self.log_denominators[k] = UNITS_PER_NAT * math.log(denominator) if denominator > 0 else 0.0

    def weights(self, row: Row) -> list[float]:
        """Return per label log P(token | label) in nats; for Bernoulli the log of its odds of being there.

        Of all mail as it is filed, and each label by itself: `Scorer.weights_of` has what scores are made of.
        """
        counts = self.counts_of(row)
        epsilon = self.epsilon_for(sum(counts))
        return [self.nats(self.weight_of(k, counts[k], epsilon)) for k in range(self.label_count)]

    def weight_of(self, label_index: int, count: int, epsilon: float) -> int:
        """Return the weight of a token that a label has `count` times, in units."""
        if self.is_bernoulli:
            present, total = count + epsilon, self.label_totals[label_index]
            absent = total + 2 * epsilon - present
            if present <= 0:
                return IMPOSSIBLE
            if absent <= 0:
                return CERTAIN
            return self.rounded(UNITS_PER_NAT * (math.log(present) - math.log(absent)))
        logarithm = self.log_count(count, epsilon)
        return (
            self.rounded(logarithm - self.log_denominators[label_index]) if logarithm > -inf else IMPOSSIBLE
        )

    def log_count(self, count: int, epsilon: float) -> float:
        """Return log(n_ck + ε), in units."""
        if count < self.kept:
            return self.logarithms[count]
        numerator = count + epsilon
        return UNITS_PER_NAT * math.log(numerator) if numerator > 0 else self._log_zero

    def rounded(self, units: float) -> int:
        """Return the nearest whole number; of two, the even one."""
        return int((units + ROUNDING) - ROUNDING)

    def nats(self, weight: int) -> float:
        """Return a weight in nats."""
        return inf if weight == CERTAIN else -inf if weight == IMPOSSIBLE else weight / UNITS_PER_NAT

    def without_spam(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the values, one a label, of all labels but spam."""
        return [*values[: self.spam_apart], *values[self.spam_apart + 1 : self.label_count]]

    def probabilities(self, row: Row) -> list[float]:
        """Return per label P(token | label), smoothed."""
        return [
            numerator / denominator if denominator else 0.0 for numerator, denominator in self._fractions(row)
        ]

    def _fractions(self, row: Row) -> list[tuple[float, float]]:
        """Return per label the numerator and the denominator of P(token | label).

        Multinomial: (n_ck + ε) / (n_c + ε|V|). Bernoulli: (n_ck + ε) / (n_c + 2ε), n counting messages.
        With global statistics ε is num(w)/num, and the sum of all ε is 1 where it was ε|V|.
        """
        counts = self.counts_of(row)
        epsilon = self.epsilon_for(sum(counts))
        added = 2 * epsilon if self.is_bernoulli else 1.0 if self.is_global else epsilon * self.vocabulary
        return [(n + epsilon, total + added) for n, total in zip(counts, self.label_totals, strict=True)]

    def counts_of(self, row: Row) -> Row:
        """Return the counts that the view reads, one a label: of messages or, multinomial, of occurrences."""
        return row[-self.label_count :] if self.is_multinomial else row[: self.label_count]

    def epsilon_for(self, total: int) -> float:
        """Return the ε added to the counts of a token that all labels together have `total` times."""
        return total / max(1, sum(self.label_totals)) if self.is_global else self.epsilon

    def idf(self, row: Row) -> float:
        """Return the log of all messages over those with the token."""
        with_token = sum(row[: self.label_count])
        return math.log(self._message_total / with_token) if with_token else 0.0

    def _words_by_count(self, histogram: Mapping[tuple[int, ...], int]) -> list[WordsByCount]:
        """Return per label how many words have each count: a tenth as many entries as the histogram has."""
        by_label: list[WordsByCount] = [{} for _ in self.labels]
        for k, words_by_count in enumerate(by_label):
            for counts, words in histogram.items():
                key = (counts[k], sum(counts) if self.is_global else 0)
                words_by_count[key] = words_by_count.get(key, 0) + words
        return by_label

    def _count_absent_words(self, by_label: Sequence[WordsByCount]) -> None:
        """Set the background to all words absent, Σ log(1 − P(token | label)); count the words with P = 1.

        The cost grows with the different counts, not with the different words. A factor of zero is counted
        instead of multiplied: each such word that a message has is subtracted from that count.
        """
        from math import fsum

        background = []
        for k, log_prior in enumerate(self.log_prior):
            terms = [log_prior]
            epsilon, denominator, log_denominator = 0.0, -1.0, 0.0
            for (count, total), words in by_label[k].items():
                if self.is_global or denominator < 0:
                    epsilon = self.epsilon_for(total)
                    denominator = self.label_totals[k] + 2 * epsilon
                    log_denominator = _log(denominator)
                numerator = count + epsilon
                if numerator < denominator:
                    terms.append(words * (math.log(denominator - numerator) - log_denominator))
                elif numerator:
                    self.certain_words[k] += words
            background.append(fsum(terms))
        self.background = background


class GramTotals:
    """Totals by which grams are weighed: P(gram | label) is the share of a label's messages that have it."""

    def __init__(self, totals: TotalCounts) -> None:
        self.labels = totals.labels
        self.messages = self.presences = self.occurrences = totals.messages
        self.vocabulary = 2  # a message has it, or not: (n_ck + ε) / (n_c + 2ε)
        self.numbers: dict[str, Any] = {}
        self.pair_presences, self.pair_vocabulary = [0] * len(totals.labels), 0

    def histogram(self) -> dict[tuple[int, ...], int]:
        return {}


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -inf
