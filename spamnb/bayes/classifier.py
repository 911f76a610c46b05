"""Naive Bayes: views of one count table, read in log space.

A view turns counts into P(token | label) when they are read, so that every event model and every
smoothing serves the same table without retraining. All of them have one form,

    log P(label, message) = bias(label) + Σ x(token) · weight(token, label)

with x how often the token occurs (multinomial), 1 (binary, Bernoulli) or its tf·idf. Unknown tokens
and missing numbers are left out of the sum, which is what marginalising over them gives.
"""

from __future__ import annotations

from math import exp, inf, log, pi

from spamnb.bayes.view import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.bayes.view import View
    from spamnb.store.table import Counts, Pair, Row, Sums, Token

MOST_SAID = 10_000  # rows whose weights are remembered


class Score:
    """What a view makes of a message: the log-joint of each label, and the evidence it rests on."""

    __slots__ = ("evidence", "joint", "labels")

    def __init__(self, labels: Sequence[str], joint: list[float], evidence: list[Evidence]) -> None:
        self.labels = labels
        self.joint = joint
        self.evidence = evidence

    def of(self, label: str) -> float:
        """How far a label is ahead of the best other one: the log-odds, where there are two."""
        place = self.labels.index(label)
        ours = self.joint[place]
        others = max((v for k, v in enumerate(self.joint) if k != place), default=ours)
        return 0.0 if ours == others else ours - others

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


class Classifier:
    """A table seen through a view. What does not depend on the message is derived once."""

    def __init__(self, counts: Counts, view: View) -> None:
        self.counts = counts
        self.view = view
        self.labels = counts.labels
        self.log_prior = [_log(p) for p in prior(counts.labels, counts.messages, view.prior)]
        self._places = range(len(counts.labels))
        self._vocabulary = counts.vocabulary
        self._totals: Sequence[int] = counts.presences
        if view.event == "bernoulli":
            self._totals = counts.messages
            self._absent, self._certain = self._absent_words()
        elif view.event == "multinomial":
            self._totals = counts.occurrences
        if view.pairs:
            self._vocabulary += counts.pair_vocabulary
            self._totals = [a + b for a, b in zip(self._totals, counts.pair_presences, strict=True)]
        self._said: dict[tuple[int, ...], list[float] | None] = {}
        self._epsilon = 0.0 if view.smoothing == GLOBAL else float(view.smoothing)
        self._log_totals: list[float] = []
        if view.has_cutoffs and self._epsilon and self._vocabulary:
            self._log_totals = [log(total + self._epsilon * self._vocabulary) for total in self._totals]

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
        if self.view.silent is not None:
            joint = self._averaged(evidence, self.view.silent)
        elif self.view.event == "bernoulli":
            joint = self._bernoulli(evidence)
        else:
            joint = self._summed(evidence)
        if self.view.numbers:
            for item in self.numeric_evidence(numbers or {}):
                evidence.append(item)
                joint = [j + weight for j, weight in zip(joint, item.weights, strict=True)]
        return Score(self.labels, joint, evidence)

    def evidence(self, tokens: Sequence[Token]) -> list[Evidence]:
        """The known tokens that say something, each with its log-weights."""
        view, apart = self.view, self.view.apart
        if view.event == "gaussian":
            return []
        rows = self.counts.rows([token[0] for token in tokens])
        length = sum([token[1] for token in tokens]) if view.tfidf else 0
        found, said = [], self._said
        for fingerprint, occurrences, part in tokens:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = said[row] if row in said else self.telling(row)
            if weights is None:
                continue
            times: float = occurrences if view.event == "multinomial" else 1
            if view.tfidf:
                times = occurrences / length * self.idf(row)
            found.append(Evidence(fingerprint, row, times, weights, part if apart else 0))
        return found

    def pair_evidence(self, pairs: Sequence[Pair]) -> list[Evidence]:
        """The known pairs that say something."""
        rows, apart = self.counts.pair_rows([pair[0] for pair in pairs]), self.view.apart
        found, said = [], self._said
        for fingerprint, part in pairs:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = said[row] if row in said else self.telling(row)
            if weights is not None:
                found.append(Evidence(fingerprint, row, 1, weights, part if apart else 0))
        return found

    def telling(self, row: Row) -> list[float] | None:
        """The weights of a row, None if they are too weak to count. Most rows are like many others."""
        if len(self._said) >= MOST_SAID:
            self._said = {}  # not emptied: another thread may be reading it
        weights = self.weights(row)
        self._said[row] = weights if spread(weights) >= self.view.least_evidence else None
        return self._said[row]

    def weights(self, row: Row) -> list[float]:
        """Per label log P(token | label); for Bernoulli log of its odds of being there."""
        if self._log_totals:  # the same as below, in a third of the time
            epsilon, logs = self._epsilon, self._log_totals
            return [log(row[k] + epsilon) - logs[k] for k in self._places]
        if self.view.event == "bernoulli":
            return [_log(p) - _log(1 - p) for p in self.probabilities(row)]
        return [_log(p) for p in self.probabilities(row)]

    def probabilities(self, row: Row) -> list[float]:
        """Per label P(token | label), smoothed.

        Multinomial: (n_ck + ε) / (n_c + ε|V|). Bernoulli: (n_ck + ε) / (n_c + 2ε), n counting messages.
        With global statistics ε is num(w)/num, and the sum of all ε is 1 where it was ε|V|.
        """
        event, smoothing = self.view.event, self.view.smoothing
        many = len(self.labels)
        counts = row[many:] if event == "multinomial" else row[:many]
        if smoothing == GLOBAL:
            epsilon = sum(counts) / max(1, sum(self._totals))
            room = 2 * epsilon if event == "bernoulli" else 1.0
        else:
            epsilon = float(smoothing)
            room = epsilon * (2 if event == "bernoulli" else self._vocabulary)
        return [_share(counts[k] + epsilon, self._totals[k] + room) for k in self._places]

    def idf(self, row: Row) -> float:
        """Log of all messages over those containing the token."""
        return log(sum(self.counts.messages) / sum(row[: len(self.labels)]))

    def numeric_evidence(self, numbers: Mapping[str, float]) -> list[Evidence]:
        found = []
        for name, value in numbers.items():
            sums = self.counts.numbers.get(name)
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

    def _summed(self, evidence: list[Evidence]) -> list[float]:
        joint = list(self.log_prior)
        for item in evidence:
            for k in self._places:
                joint[k] += item.times * item.weights[k] if item.times else 0.0
        return joint

    def _averaged(self, evidence: list[Evidence], silent: float) -> list[float]:
        """Per label the mean weight in each part, added up: a long message is no surer than a short one."""
        joint = [0.0 for _ in self._places]
        for part in {item.part for item in evidence}:
            own = [item.weights for item in evidence if item.part == part]
            for k in self._places:
                joint[k] += sum(weights[k] for weights in own) / (len(own) + silent)
        return joint

    def _absent_words(self) -> tuple[list[float], list[int]]:
        """Σ log(1 − P(token | label)) over the vocabulary, and the number of tokens with P = 1.

        From the histogram, so it costs what there are different counts, not different tokens. A factor
        of zero is counted instead of multiplied: the tokens of a message take theirs out again.
        """
        total, certain = [0.0 for _ in self._places], [0 for _ in self._places]
        for counts, tokens in self.counts.histogram().items():
            for k, p in enumerate(self.probabilities(counts)):
                if p < 1:
                    total[k] += tokens * log(1 - p)
                else:
                    certain[k] += tokens
        return total, certain

    def _bernoulli(self, evidence: list[Evidence]) -> list[float]:
        joint = [p + absent for p, absent in zip(self.log_prior, self._absent, strict=True)]
        certain = list(self._certain)
        for item in evidence:
            for k, p in enumerate(self.probabilities(item.row)):
                joint[k] += _log(p)
                if p < 1:
                    joint[k] -= log(1 - p)
                else:
                    certain[k] -= 1
        return [-inf if missing else j for j, missing in zip(joint, certain, strict=True)]


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


def spread(weights: Sequence[float]) -> float:
    low, high = min(weights), max(weights)
    return 0.0 if low == high else high - low


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _log(p: float) -> float:
    return log(p) if p > 0 else -inf
