"""Naive Bayes: views of one count table, read in log space.

A view turns counts into P(token | label) when they are read, so that every event model and every
smoothing serves the same table without retraining. All of them have one form,

    log P(label, message) = bias(label) + Σ x(token) · weight(token, label)

with x how often the token occurs (multinomial), 1 (binary, Bernoulli) or its tf·idf. Unknown tokens
and missing numbers are left out of the sum, which is what marginalising over them gives.
"""

from __future__ import annotations

from math import exp, fsum, inf, log, pi

from spamnb.bayes.view import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.bayes.view import View
    from spamnb.store.counts import Counts, Pair, Row, Sums, Token, TotalCounts

    # Words by their messages of a label, and of all labels: these only for global statistics, else 0.
    WordsByCount = dict[tuple[int, int], int]

MOST_REMEMBERED = 10_000  # rows whose weights are remembered
LOG_TINY = log(1e-300)  # in place of that of zero, where a mean is taken: one word must not decide alone
GRID = 1.5 * 2**12  # added and taken away again, it leaves whole multiples of 2⁻⁴⁰


class Score:
    """What a view makes of a message: the log-joint of each label, and the evidence it rests on."""

    __slots__ = ("evidence", "joint", "labels")

    def __init__(self, labels: Sequence[str], joint: list[float], evidence: list[Evidence]) -> None:
        self.labels = labels
        self.joint = joint
        self.evidence = evidence

    def of(self, label: str) -> float:
        """How far a label is ahead of the best other one: the log-odds, where there are two."""
        return lead(self.joint, self.labels.index(label))

    @property
    def posterior(self) -> list[float]:
        return normalised(self.joint)

    @property
    def best(self) -> str:
        return self.labels[max(range(len(self.joint)), key=self.joint.__getitem__)]


class Evidence:
    """A token, a pair or a number: its counts, how often it stands in the message, its weight per label."""

    __slots__ = ("feature", "part", "row", "times", "weights")

    def __init__(
        self, feature: int | str, row: Row, times: float, weights: list[float], part: int = 0
    ) -> None:
        self.feature = feature  # the fingerprint of a token or a pair, the name of a number
        self.part = part
        self.row = row
        self.times = times
        self.weights = weights

    @property
    def strength(self) -> float:
        return spread(self.weights)


class Likelihood:
    """P(token | label) by the totals of a table and a view, and the sums made of it.

    All there is of formulas: they take the counts of one token. Who judges many messages at once calls them
    for each different row of counts, and who leaves a message out for its rows with one message less.
    """

    def __init__(
        self, totals: TotalCounts, view: View, words_by_count: Sequence[WordsByCount] | None = None
    ) -> None:
        """`words_by_count`, per label, spares Bernoulli's absent words the histogram of the table."""
        self.view = view
        self.labels = totals.labels
        self.numbers = totals.numbers
        self.log_prior = [_log(p) for p in prior(totals.labels, totals.messages, view.prior)]
        self._places = range(len(totals.labels))
        self._messages = sum(totals.messages)
        self.vocabulary = totals.vocabulary
        self.totals: Sequence[int] = totals.presences
        if view.event == "bernoulli":
            self.totals = totals.messages
        elif view.event == "multinomial":
            self.totals = totals.occurrences
        if view.pairs:
            self.vocabulary += totals.pair_vocabulary
            self.totals = [a + b for a, b in zip(self.totals, totals.pair_presences, strict=True)]
        self.epsilon = 0.0 if view.smoothing == GLOBAL else float(view.smoothing)
        self._log_zero = LOG_TINY if view.damping is not None else -inf
        self.log_wholes = self.log_wholes_of(self.totals, self.vocabulary)
        self._remembered: dict[tuple[int, ...], list[float] | None] = {}
        self.background = self.log_prior
        self.certain = [0 for _ in self._places]
        if view.event == "bernoulli":
            self._count_absent_words(words_by_count or self._alike(totals.histogram()))

    def telling(self, row: Row) -> list[float] | None:
        """Return the weights of a row, None if they are too weak to count. Most rows are like many others."""
        if row not in self._remembered:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered = {}  # not emptied: another thread may be reading it
            weights = self.weights(row)
            known = any(row[: len(self.labels)])
            self._remembered[row] = weights if known and spread(weights) >= self.view.least_evidence else None
        return self._remembered[row]

    def weights(self, row: Row) -> list[float]:
        """Per label log P(token | label); for Bernoulli log of its odds of being there."""
        if self.view.event == "bernoulli":
            return [
                rounded(_log(part) - _log(whole - part)) if part > 0 else -inf
                for part, whole in self._shares(row)
            ]
        counts, wholes = self._counts(row), self.log_wholes
        epsilon = self._epsilon_for(sum(counts))
        return [rounded(self.log_count(counts[k], epsilon) - wholes[k]) for k in self._places]

    def log_count(self, count: int, epsilon: float) -> float:
        """log(n_ck + ε)."""
        part = count + epsilon
        return log(part) if part > 0 else self._log_zero

    def log_wholes_of(self, totals: Sequence[int], vocabulary: int) -> list[float]:
        """Per label log(n_c + ε|V|), 0 where there is nothing."""
        room = 1.0 if self.view.smoothing == GLOBAL else self.epsilon * vocabulary
        return [log(total + room) if total + room > 0 else 0.0 for total in totals]

    def probabilities(self, row: Row) -> list[float]:
        """Per label P(token | label), smoothed."""
        return [part / whole if whole else 0.0 for part, whole in self._shares(row)]

    def _shares(self, row: Row) -> list[tuple[float, float]]:
        """Per label the numerator and the denominator of P(token | label).

        Multinomial: (n_ck + ε) / (n_c + ε|V|). Bernoulli: (n_ck + ε) / (n_c + 2ε), n counting messages.
        With global statistics ε is num(w)/num, and the sum of all ε is 1 where it was ε|V|.
        """
        counts = self._counts(row)
        epsilon = self._epsilon_for(sum(counts))
        if self.view.event == "bernoulli":
            room = 2 * epsilon
        else:
            room = 1.0 if self.view.smoothing == GLOBAL else epsilon * self.vocabulary
        return [(counts[k] + epsilon, self.totals[k] + room) for k in self._places]

    def _counts(self, row: Row) -> Row:
        many = len(self.labels)
        return row[many:] if self.view.event == "multinomial" else row[:many]

    def _epsilon_for(self, total: int) -> float:
        """What is added to the counts of a token that all labels together have so often."""
        return self.epsilon if self.view.smoothing != GLOBAL else total / max(1, sum(self.totals))

    def idf(self, row: Row) -> float:
        """Log of all messages over those containing the token."""
        return log(self._messages / sum(row[: len(self.labels)]))

    def summed(self, evidence: list[Evidence]) -> list[float]:
        """Per label the log-joint: what is said before any token is seen, and the weights of those there."""
        joint = []
        for k in self._places:
            terms = [rounded(item.times * item.weights[k]) for item in evidence if item.times]
            certain = terms.count(inf)  # words that are in all messages of a label (Bernoulli)
            if certain:
                terms = [term for term in terms if term != inf]
            absent = self.certain[k] != certain
            joint.append(-inf if absent else self.background[k] + fsum(terms))
        return joint

    def averaged(self, evidence: list[Evidence], damping: float) -> list[float]:
        """Per label the mean weight in each part, added up: a long message is no surer than a short one."""
        joint = [0.0 for _ in self._places]
        for part in sorted({item.part for item in evidence}):
            own = [item.weights for item in evidence if item.part == part]
            for k in self._places:
                joint[k] += fsum([weights[k] for weights in own]) / (len(own) + damping)
        return joint

    def _alike(self, histogram: Mapping[tuple[int, ...], int]) -> list[WordsByCount]:
        """Per label how many words are alike, as far as that label goes: a tenth of all different rows."""
        is_global = self.view.smoothing == GLOBAL
        by_label: list[WordsByCount] = [{} for _ in self._places]
        for k, alike in enumerate(by_label):
            for counts, words in histogram.items():
                key = (counts[k], sum(counts) if is_global else 0)
                alike[key] = alike.get(key, 0) + words
        return by_label

    def _count_absent_words(self, by_label: Sequence[WordsByCount]) -> None:
        """Take all words as absent: Σ log(1 − P(token | label)), and the number of words with P = 1.

        It costs what there are different counts, not different words. A factor of zero is counted instead of
        multiplied: the words of a message take theirs out again.
        """
        background = []
        for k, own in enumerate(self.log_prior):
            terms = [own]
            for (count, total), words in by_label[k].items():
                epsilon = self._epsilon_for(total)
                part, whole = count + epsilon, self.totals[k] + 2 * epsilon
                if part < whole:
                    terms.append(words * (log(whole - part) - log(whole)))
                elif part:
                    self.certain[k] += words
            background.append(fsum(terms))
        self.background = background


class Classifier(Likelihood):
    """A table seen through a view. What does not depend on the message is derived once."""

    def __init__(self, counts: Counts, view: View) -> None:
        super().__init__(counts, view)
        self.counts = counts

    def score(
        self,
        tokens: Sequence[Token],
        numbers: Mapping[str, float] | None = None,
        pairs: Sequence[Pair] = (),
    ) -> Score:
        """Judge a message: its tokens, each once, its numeric features, its pairs of neighbours."""
        evidence = self.evidence(tokens)
        if self.view.pairs:
            evidence += self.pair_evidence(pairs)
        if self.view.damping is not None:
            joint = self.averaged(evidence, self.view.damping)
        else:
            joint = self.summed(evidence)
        if self.view.numbers:
            for item in self.numeric_evidence(numbers or {}):
                evidence.append(item)
                joint = [j + weight for j, weight in zip(joint, item.weights, strict=True)]
        return Score(self.labels, joint, evidence)

    def evidence(self, tokens: Sequence[Token]) -> list[Evidence]:
        """The known tokens that say something, each with its log-weights."""
        view, split = self.view, self.view.split_head_body
        if view.event == "gaussian":
            return []
        rows = self.counts.rows([token[0] for token in tokens])
        length = sum([token[1] for token in tokens]) if view.tfidf else 0
        found, remembered = [], self._remembered
        for fingerprint, occurrences, part in tokens:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = remembered[row] if row in remembered else self.telling(row)
            if weights is None:
                continue
            times: float = occurrences if view.event == "multinomial" else 1
            if view.tfidf:
                times = occurrences / length * self.idf(row)
            found.append(Evidence(fingerprint, row, times, weights, part if split else 0))
        return found

    def pair_evidence(self, pairs: Sequence[Pair]) -> list[Evidence]:
        """The known pairs that say something."""
        rows, split = self.counts.pair_rows([pair[0] for pair in pairs]), self.view.split_head_body
        found, remembered = [], self._remembered
        for fingerprint, part in pairs:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = remembered[row] if row in remembered else self.telling(row)
            if weights is not None:
                found.append(Evidence(fingerprint, row, 1, weights, part if split else 0))
        return found

    def numeric_evidence(self, numbers: Mapping[str, float]) -> list[Evidence]:
        found = []
        for name, value in sorted(numbers.items()):
            sums = self.numbers.get(name)
            if sums is not None and (weights := gaussian(value, sums)):
                found.append(Evidence(name, tuple([int(n) for n, _, _ in sums]), 1, weights))
        return found

    @property
    def bias(self) -> float:
        """Of the two-label linear form f(x) = bias + Σ x · weight: what is said before any token is seen."""
        return self.score([]).of(self.labels[1])

    def weight(self, row: Row) -> float:
        """Of the linear form: what one occurrence adds to the log-odds of the second label."""
        first, second = self.weights(row)
        return second - first


def prior(labels: Sequence[str], messages: Sequence[float], chosen: str | Mapping[str, float]) -> list[float]:
    """P(label): from the messages counted, uniform, or as given."""
    if not isinstance(chosen, str):
        total = sum(chosen.values())
        return [chosen.get(label, 0.0) / total for label in labels]
    total = sum(messages)
    if chosen == "uniform" or not total:
        return [1 / len(labels) for _ in labels]
    return [m / total for m in messages]


def gaussian(value: float, by_label: Sequence[Sums]) -> list[float] | None:
    """Per label the log density of a value; None where the labels cannot be compared."""
    return [
        -0.5 * (log(2 * pi * spread_) + (value - mean) ** 2 / spread_)
        for mean, spread_ in gaussians(by_label)
    ] or None


def gaussians(by_label: Sequence[Sums]) -> list[tuple[float, float]]:
    """Per label mean and variance from n, Σx and Σx²; none where a label has not seen the feature."""
    if not by_label or not all(n for n, _, _ in by_label):
        return []
    # One sample, or all alike: the density would be infinite. Where no label varies there is nothing to tell.
    least = 1e-9 * variance([sum(column) for column in zip(*by_label, strict=True)])
    return (
        [(total / n, max(variance((n, total, squares)), least)) for n, total, squares in by_label]
        if least
        else []
    )


def variance(sums: Sums) -> float:
    """Σx²/n − mean², over the common denominator: exact where the sums are whole numbers."""
    n, total, squares = sums
    return max(0.0, (n * squares - total * total) / (n * n))


def normalised(joint: Sequence[float]) -> list[float]:
    """Log-joint to posterior by log-sum-exp. Where no label can be (0/0), all are equally unlikely."""
    top = max(joint)
    if top == -inf:
        return [1 / len(joint) for _ in joint]
    if top == inf:
        return normalised([0.0 if j == inf else -inf for j in joint])
    shares = [exp(j - top) for j in joint]
    total = sum(shares)
    return [share / total for share in shares]


def lead(values: Sequence[float], place: int) -> float:
    """How far the value of one label is ahead of the best other one."""
    own = values[place]
    others = max((value for k, value in enumerate(values) if k != place), default=own)
    return 0.0 if own == others else own - others


def spread(weights: Sequence[float]) -> float:
    low, high = min(weights), max(weights)
    return 0.0 if low == high else high - low


def rounded(weight: Any) -> Any:
    """Round a weight, or an array of them, to 2⁻⁴⁰ nats, so that the order of a sum makes no difference.

    Such a sum is exact: `fsum` of one message and numpy's of many give the same, to the last bit.
    """
    return (weight + GRID) - GRID


def _log(p: float) -> float:
    return log(p) if p > 0 else -inf
