"""The formulas for P(token | label), from the totals of a table and the counts of a token.

A view turns counts into P(token | label) when they are read, so that every event model and every
smoothing serves the same table without retraining. All of them have one form,

    log P(label, message) = bias(label) + Σ x(token) · weight(token, label)

where x is how often the token occurs (multinomial), 1 (binary, Bernoulli), or its tf·idf. Unknown tokens and
missing numbers are left out of the sum, which is what marginalising over them gives. The default view takes
the mean of the weights instead of their sum, and no prior. It compares spam with all other labels together,
whatever their number, and then these labels with each other.

Weights themselves are computed by the core (`Weigher`, `Scorer`).
"""

from math import fsum, log

from spamnb.bayes.verdict import lead_of
from spamnb.bayes.view import GLOBAL, SHARE_OF_GRAMS, prior
from spamnb.core.native import Scorer, Weigher
from spamnb.labels import MAX_LABELS, SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.bayes.verdict import Evidence
    from spamnb.bayes.view import View
    from spamnb.store.counts import Row, TotalCounts

inf = float("inf")
NO_LABEL = -1  # in place of a label's index
NONE_MISFILED = (0.0, 0.0)
LOG_TINY = log(1e-300)  # log 0 where a mean is taken: with -inf one word would decide alone


class Likelihood:
    """Computes P(token | label) from the totals of a table, in the way that a view describes.

    All scoring uses this class: of one message or many, with or without the messages' own counts.
    """

    def __init__(
        self, totals: "TotalCounts", view: "View", misfiled: "Sequence[float]" = NONE_MISFILED
    ) -> None:
        if len(totals.labels) > MAX_LABELS:
            raise ValueError(f"{len(totals.labels)} labels are too many; a model can have {MAX_LABELS}")
        self.view = view
        self.labels = totals.labels
        self.label_count = len(totals.labels)
        self.is_global = view.smoothing == GLOBAL
        self.is_bernoulli = view.event == "bernoulli"
        self.is_multinomial = view.event == "multinomial"
        is_mean = view.has_cutoffs and not view.numbers
        self.is_mean_of_two = is_mean and self.label_count == 2
        has_rest = is_mean and self.label_count > 2 and SPAM in totals.labels
        # The index of spam, if it is compared with all other labels as one.
        self.spam_apart = totals.labels.index(SPAM) if has_rest else NO_LABEL
        # The index of spam, if its lead is reduced where there is little evidence (words and pairs).
        is_judged = is_mean and view.pairs and self.label_count > 1 and SPAM in totals.labels
        self.spam = totals.labels.index(SPAM) if is_judged else NO_LABEL
        self.epsilon = 0.0 if self.is_global else float(view.smoothing)
        log_zero = -inf if view.damping is None else LOG_TINY
        epsilon = None if self.is_global else self.epsilon
        self.weigher = Weigher(self.label_count, self.spam_apart, view.event, epsilon, log_zero)
        self.share_of_grams = SHARE_OF_GRAMS
        self.grams = Likelihood(GramTotals(totals), view.of_grams()) if view.grams else None
        self.correct(misfiled)
        self.update(totals)

    def keep_logarithms(self) -> None:
        """Compute the logarithms of low counts once, which saves time if many messages are scored."""
        self.weigher.keep_logarithms()
        if self.grams:
            self.grams.keep_logarithms()

    def correct(self, misfiled: "Sequence[float]") -> None:
        """Correct counts for misfiled mail; `misfiled`: the shares that `cutoffs.misfiled_shares` returns."""
        self.is_corrected = any(misfiled) and (self.is_mean_of_two or self.spam_apart != NO_LABEL)
        by_label = [float(misfiled[label != SPAM]) for label in self.labels]
        self.weigher.correct(self.is_corrected, [*by_label, float(misfiled[1])])
        if self.grams:
            self.grams.correct(misfiled)

    def update(self, totals: "TotalCounts") -> None:
        """Compute all values that depend on the totals but not on a message."""
        view = self.view
        self.numbers = totals.numbers if self.view.numbers else {}
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
        self.background = self.log_prior  # per label, the log-joint before any token is seen
        self.certain_words = [0] * self.label_count  # per label, words that all its messages have
        if self.is_bernoulli:
            self._count_absent_words(totals.histogram())
        self.weigher.set_totals(
            self.label_totals, self.vocabulary, self._message_total, self.background, self.certain_words
        )
        if self.grams:
            self.grams.update(GramTotals(totals))

    def weights(self, row: "Row") -> list[float]:
        """Return log P(token | label) for each label; for Bernoulli, log-odds that a message has the token.

        In nats. Unlike in `Scorer.weights_of`, the counts (`row`) are not corrected for misfiled mail.
        """
        return self.weigher.weights(row)

    @property
    def bias(self) -> float:
        """The log-odds of spam before any token is seen; without a label spam, those of the second label.

        With two labels and no damping, a message has log-odds of bias + Σ times · weight(token's row).
        """
        return self.log_odds(Scorer(self).joint())

    def weight(self, row: "Row") -> float:
        """Return what a token with these counts adds to the log-odds each time it occurs."""
        return self.log_odds(self.weights(row))

    def log_odds(self, values: list[float]) -> float:
        """Return how far the value of spam (without spam, of the second label) is above that of the other."""
        if self.label_count != 2 or self.view.damping is not None:
            raise ValueError("a model is linear only with two labels and a view without damping")
        return lead_of(values, self.labels.index(SPAM) if SPAM in self.labels else 1)

    def is_evidence(self, row: "Row") -> bool:
        """Return whether a token with these counts is evidence, on spam or between other labels."""
        return Scorer(self).add(row, 1, 0) > 0

    def numeric_evidence(self, numbers: "Mapping[str, float]") -> "list[Evidence]":
        """Return the evidence of the `numbers` for which every label has values, by normal distributions."""
        from spamnb.bayes.gaussian import numeric_evidence  # the default view has no use for it

        return numeric_evidence(self.numbers, numbers)

    def without_spam(self, values: "Sequence[Any]") -> "Sequence[Any]":
        """Return the given values, one for each label, without the value for spam."""
        return [*values[: self.spam_apart], *values[self.spam_apart + 1 : self.label_count]]

    def probabilities(self, row: "Row") -> list[float]:
        """Return P(token | label), smoothed, for each label.

        Multinomial: (n_ck + ε) / (n_c + ε|V|). Bernoulli: (n_ck + ε) / (n_c + 2ε), where n counts messages.
        With global statistics, ε is num(w)/num, and 1 takes the place of ε|V|.
        """
        counts = row[-self.label_count :] if self.is_multinomial else row[: self.label_count]
        epsilon = self.epsilon_for(sum(counts))
        added = 2 * epsilon if self.is_bernoulli else 1.0 if self.is_global else epsilon * self.vocabulary
        return [
            (count + epsilon) / (total + added) if total + added else 0.0
            for count, total in zip(counts, self.label_totals, strict=True)
        ]

    def epsilon_for(self, total: int) -> float:
        """Return the ε added to the counts of a token; `total` is the sum of its counts in all labels."""
        return total / max(1, sum(self.label_totals)) if self.is_global else self.epsilon

    def idf(self, row: "Row") -> float:
        """Return log(number of all messages / number of messages with the token that has these counts)."""
        with_token = sum(row[: self.label_count])
        return log(self._message_total / with_token) if with_token else 0.0

    def _count_absent_words(self, histogram: "Mapping[tuple[int, ...], int]") -> None:
        """Add Σ log(1 − P(word | label)) to each label's background, as if a message had none of the words.

        The time grows with the number of different counts, not of words. Words with P = 1 would make the sum
        -inf: they are only counted in `certain_words`, because a message of the label must have all of them.
        """
        background = []
        for k, log_prior in enumerate(self.log_prior):
            words_by_count: dict[tuple[int, int], int] = {}  # by the counts of this label and of all labels
            for counts, words in histogram.items():
                key = (counts[k], sum(counts) if self.is_global else 0)
                words_by_count[key] = words_by_count.get(key, 0) + words
            terms = [log_prior]
            for (count, total), words in words_by_count.items():
                epsilon = self.epsilon_for(total)
                numerator, denominator = count + epsilon, self.label_totals[k] + 2 * epsilon
                if numerator < denominator:
                    terms.append(words * (log(denominator - numerator) - log(denominator)))
                elif numerator:
                    self.certain_words[k] += words
            background.append(fsum(terms))
        self.background = background


class GramTotals:
    """Totals for weighing grams: P(gram | label) is the share of a label's messages that have the gram."""

    def __init__(self, totals: "TotalCounts") -> None:
        self.labels = totals.labels
        self.messages = self.presences = self.occurrences = totals.messages
        self.vocabulary = 2  # a message has it, or not: (n_ck + ε) / (n_c + 2ε)
        self.numbers: dict[str, Any] = {}
        self.pair_presences, self.pair_vocabulary = [0] * len(totals.labels), 0

    def histogram(self) -> dict[tuple[int, ...], int]:
        return {}


def _log(p: float) -> float:
    return log(p) if p > 0 else -inf
