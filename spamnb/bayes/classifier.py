"""Naive Bayes: views of one count table, read in log space.

A view turns counts into P(token | label) when they are read, so that every event model and every
smoothing serves the same table without retraining. All of them have one form,

    log P(label, message) = bias(label) + Σ x(token) · weight(token, label)

with x how often the token occurs (multinomial), 1 (binary, Bernoulli) or its tf·idf. Unknown tokens
and missing numbers are left out of the sum, which is what marginalising over them gives. The default view
takes the mean of the weights instead of their sum, and no prior.
"""

from __future__ import annotations

from math import fsum, inf, log

from spamnb.bayes.verdict import Evidence, Score, spread
from spamnb.bayes.view import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.bayes.view import View
    from spamnb.store.counts import Counts, Pair, Row, Token, TotalCounts

    # {(messages of this label, messages of all labels or, without global statistics, 0): number of words}
    WordsByCount = dict[tuple[int, int], int]

MOST_REMEMBERED = 10_000  # different rows of counts whose weights are kept
LOG_TINY = log(1e-300)  # stands for log 0 where a mean is taken: with -inf one word would decide alone
GRID = 1.5 * 2**12  # floats of this size are 2⁻⁴⁰ apart, so adding and subtracting it rounds to 2⁻⁴⁰


class Likelihood:
    """P(token | label) by the totals of a table and a view, and the log-joints of messages made of it.

    All formulas are here, and take the row of counts of one token. Bulk scoring calls them for each different
    row, leave-one-out scoring for the rows with one message less.
    """

    def __init__(
        self, totals: TotalCounts, view: View, words_by_count: Sequence[WordsByCount] | None = None
    ) -> None:
        """Derive all that does not depend on a message.

        If `words_by_count`, per label, is given, the table's histogram is not computed (for Bernoulli).
        """
        self.view = view
        self.labels = totals.labels
        self.numbers = totals.numbers
        self.log_prior = [_log(p) for p in prior(totals.labels, totals.messages, view.prior)]
        self._label_indices = range(len(totals.labels))
        self._message_total = sum(totals.messages)
        self.vocabulary = totals.vocabulary
        self.label_totals: Sequence[int] = totals.presences  # n_c of each label, here for binary events
        if view.event == "bernoulli":
            self.label_totals = totals.messages
        elif view.event == "multinomial":
            self.label_totals = totals.occurrences
        if view.pairs:
            self.vocabulary += totals.pair_vocabulary
            self.label_totals = [a + b for a, b in zip(self.label_totals, totals.pair_presences, strict=True)]
        self.epsilon = 0.0 if view.smoothing == GLOBAL else float(view.smoothing)
        self._log_zero = LOG_TINY if view.damping is not None else -inf
        self.log_denominators = self.log_denominators_of(self.label_totals, self.vocabulary)
        self._weights_by_row: dict[Row, list[float] | None] = {}  # what strong_weights has returned
        self.background = self.log_prior  # per label, the log-joint before any token is seen
        self.certain_words = [0 for _ in self._label_indices]  # per label, words that all its messages have
        if view.event == "bernoulli":
            self._count_absent_words(words_by_count or self._words_by_count(totals.histogram()))

    def strong_weights(self, row: Row) -> list[float] | None:
        """Return the weights of a row, None if too weak to count; remembered, as many tokens share a row."""
        if row not in self._weights_by_row:
            if len(self._weights_by_row) >= MOST_REMEMBERED:
                self._weights_by_row = {}  # not emptied: another thread may be reading it
            weights = self.weights(row)
            strong = any(row[: len(self.labels)]) and spread(weights) >= self.view.least_evidence
            self._weights_by_row[row] = weights if strong else None
        return self._weights_by_row[row]

    def weights(self, row: Row) -> list[float]:
        """Return per label log P(token | label); for Bernoulli the log of its odds of being there."""
        if self.view.event == "bernoulli":
            return [
                rounded(_log(numerator) - _log(denominator - numerator)) if numerator > 0 else -inf
                for numerator, denominator in self._fractions(row)
            ]
        counts, log_denominators = self._counts(row), self.log_denominators
        epsilon = self._epsilon_for(sum(counts))
        return [
            rounded(self.log_count(counts[k], epsilon) - log_denominators[k]) for k in self._label_indices
        ]

    def log_count(self, count: int, epsilon: float) -> float:
        """Return log(n_ck + ε)."""
        numerator = count + epsilon
        return log(numerator) if numerator > 0 else self._log_zero

    def log_denominators_of(self, label_totals: Sequence[int], vocabulary: int) -> list[float]:
        """Return per label log(n_c + ε|V|), 0 where there is nothing."""
        added = 1.0 if self.view.smoothing == GLOBAL else self.epsilon * vocabulary
        return [log(total + added) if total + added > 0 else 0.0 for total in label_totals]

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
        counts = self._counts(row)
        epsilon = self._epsilon_for(sum(counts))
        if self.view.event == "bernoulli":
            added = 2 * epsilon
        else:
            added = 1.0 if self.view.smoothing == GLOBAL else epsilon * self.vocabulary
        return [(counts[k] + epsilon, self.label_totals[k] + added) for k in self._label_indices]

    def _counts(self, row: Row) -> Row:
        label_count = len(self.labels)
        return row[label_count:] if self.view.event == "multinomial" else row[:label_count]

    def _epsilon_for(self, total: int) -> float:
        """Return the ε added to the counts of a token that all labels together have `total` times."""
        return self.epsilon if self.view.smoothing != GLOBAL else total / max(1, sum(self.label_totals))

    def idf(self, row: Row) -> float:
        """Return the log of all messages over those with the token."""
        return log(self._message_total / sum(row[: len(self.labels)]))

    def summed_joint(self, evidence: list[Evidence]) -> list[float]:
        """Return per label the log-joint: its background plus the weights of the evidence."""
        joint = []
        for k in self._label_indices:
            terms = [rounded(item.times * item.weights[k]) for item in evidence if item.times]
            certain_here = terms.count(inf)  # words that all messages of a label have (Bernoulli)
            if certain_here:
                terms = [term for term in terms if term != inf]
            one_is_absent = self.certain_words[k] != certain_here
            joint.append(-inf if one_is_absent else self.background[k] + fsum(terms))
        return joint

    def averaged_joint(self, evidence: list[Evidence], damping: float) -> list[float]:
        """Return per label, added up over the parts: sum of the weights / (their number + damping).

        A mean, so that a long message is no surer than a short one. It has no prior.
        """
        joint = [0.0 for _ in self._label_indices]
        for part in sorted({item.part for item in evidence}):
            of_part = [item.weights for item in evidence if item.part == part]
            for k in self._label_indices:
                joint[k] += fsum([weights[k] for weights in of_part]) / (len(of_part) + damping)
        return joint

    def _words_by_count(self, histogram: Mapping[tuple[int, ...], int]) -> list[WordsByCount]:
        """Return per label how many words have each count: a tenth as many entries as the histogram has."""
        is_global = self.view.smoothing == GLOBAL
        by_label: list[WordsByCount] = [{} for _ in self._label_indices]
        for k, words_by_count in enumerate(by_label):
            for counts, words in histogram.items():
                key = (counts[k], sum(counts) if is_global else 0)
                words_by_count[key] = words_by_count.get(key, 0) + words
        return by_label

    def _count_absent_words(self, by_label: Sequence[WordsByCount]) -> None:
        """Set the background to all words absent, Σ log(1 − P(token | label)); count the words with P = 1.

        The cost grows with the different counts, not with the different words. A factor of zero is counted
        instead of multiplied: each such word that a message has is subtracted from that count.
        """
        background = []
        for k, log_prior in enumerate(self.log_prior):
            terms = [log_prior]
            for (count, total), words in by_label[k].items():
                epsilon = self._epsilon_for(total)
                numerator, denominator = count + epsilon, self.label_totals[k] + 2 * epsilon
                if numerator < denominator:
                    terms.append(words * (log(denominator - numerator) - log(denominator)))
                elif numerator:
                    self.certain_words[k] += words
            background.append(fsum(terms))
        self.background = background


class Classifier(Likelihood):
    """Scores messages by a count table, seen through a view."""

    def __init__(self, counts: Counts, view: View) -> None:
        super().__init__(counts, view)
        self.counts = counts

    def score(
        self,
        tokens: Sequence[Token],
        numbers: Mapping[str, float] | None = None,
        pairs: Sequence[Pair] = (),
    ) -> Score:
        """Score a message: its tokens, each once, its numeric features, its pairs of neighbours."""
        evidence = self.evidence(tokens)
        if self.view.pairs:
            evidence += self.pair_evidence(pairs)
        if self.view.damping is not None:
            joint = self.averaged_joint(evidence, self.view.damping)
        else:
            joint = self.summed_joint(evidence)
        if self.view.numbers:
            for item in self.numeric_evidence(numbers or {}):
                evidence.append(item)
                joint = [j + weight for j, weight in zip(joint, item.weights, strict=True)]
        return Score(self.labels, joint, evidence)

    def evidence(self, tokens: Sequence[Token]) -> list[Evidence]:
        """Return the known tokens whose weights are strong enough to count."""
        view, split = self.view, self.view.split_head_body
        if view.event == "gaussian":
            return []
        rows = self.counts.rows([token[0] for token in tokens])
        length = sum([token[1] for token in tokens]) if view.tfidf else 0
        found, weights_by_row = [], self._weights_by_row
        for fingerprint, occurrences, part in tokens:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = weights_by_row[row] if row in weights_by_row else self.strong_weights(row)
            if weights is None:
                continue
            times: float = occurrences if view.event == "multinomial" else 1
            if view.tfidf:
                times = occurrences / length * self.idf(row)
            found.append(Evidence(fingerprint, row, times, weights, part if split else 0))
        return found

    def pair_evidence(self, pairs: Sequence[Pair]) -> list[Evidence]:
        """Return the known pairs whose weights are strong enough to count."""
        rows, split = self.counts.pair_rows([pair[0] for pair in pairs]), self.view.split_head_body
        found, weights_by_row = [], self._weights_by_row
        for fingerprint, part in pairs:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = weights_by_row[row] if row in weights_by_row else self.strong_weights(row)
            if weights is not None:
                found.append(Evidence(fingerprint, row, 1, weights, part if split else 0))
        return found

    def numeric_evidence(self, numbers: Mapping[str, float]) -> list[Evidence]:
        """Return the numeric features that every label has, weighed by their normal distributions."""
        from spamnb.bayes.gaussian import log_densities  # the default view has no use for it

        found = []
        for name, value in sorted(numbers.items()):
            sums = self.numbers.get(name)
            if sums is not None and (weights := log_densities(value, sums)):
                found.append(Evidence(name, tuple([int(n) for n, _, _ in sums]), 1, weights))
        return found

    @property
    def bias(self) -> float:
        """The bias of the two-label linear form f(x) = bias + Σ x · weight: the score of an empty message."""
        return self.score([]).of(self.labels[1])

    def weight(self, row: Row) -> float:
        """Return the weight of the linear form: what one token adds to the log-odds of the second label."""
        first, second = self.weights(row)
        return second - first


def prior(labels: Sequence[str], messages: Sequence[float], chosen: str | Mapping[str, float]) -> list[float]:
    """Return P(label): from the messages counted, uniform, or as given."""
    if not isinstance(chosen, str):
        total = sum(chosen.values())
        return [chosen.get(label, 0.0) / total for label in labels]
    total = sum(messages)
    if chosen == "uniform" or not total:
        return [1 / len(labels) for _ in labels]
    return [m / total for m in messages]


def rounded(weight: Any) -> Any:
    """Round a weight, or an array of them, to 2⁻⁴⁰ nats, so that the order of a sum makes no difference.

    Such a sum is exact: `fsum` of one message and numpy's sum of many give the same, to the last bit.
    """
    return (weight + GRID) - GRID


def _log(p: float) -> float:
    return log(p) if p > 0 else -inf
