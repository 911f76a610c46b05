"""Naive Bayes: views of one count table, read in log space.

A view turns counts into P(token | label) when they are read, so that every event model and every
smoothing serves the same table without retraining. All of them have one form,

    log P(label, message) = bias(label) + Σ x(token) · weight(token, label)

with x how often the token occurs (multinomial), 1 (binary, Bernoulli) or its tf·idf. Unknown tokens
and missing numbers are left out of the sum, which is what marginalising over them gives. The default view
takes the mean of the weights instead of their sum, and no prior. By it spam is held against all other labels
together, whatever their number, and then these against each other.
"""

from __future__ import annotations

from math import exp, fsum, inf, log, nan, sqrt

from spamnb.labels import SPAM
from spamnb.store.msgpack_codec import is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.store.counts import Counts, Pair, Row, Token, TotalCounts

    # {(messages of this label, messages of all labels or, without global statistics, 0): number of words}
    WordsByCount = dict[tuple[int, int], int]

PRIORS = ("counts", "uniform")  # or a share for each label
LARGEST_CHOICE = 1e9  # of a number in a view: what is computed with it stays finite
FLAGS = ("numbers", "pairs", "split_head_body", "tfidf")
EVENTS = ("multinomial", "binary", "bernoulli", "gaussian")
GLOBAL = "global"  # smoothing by num(w)/num in place of a constant ε
MOST_LOGARITHMS = 4096  # log(n + ε) is kept for n below this
LOG_TINY = log(1e-300)  # stands for log 0 where a mean is taken: with -inf one word would decide alone
NO_LABEL = -1  # in place of a label's index
NONE_MISFILED = (0.0, 0.0)
GRID = 1.5 * 2**12  # floats of this size are 2⁻⁴⁰ apart, so adding and subtracting it rounds to 2⁻⁴⁰


class View:
    """A way to read a count table: event model, smoothing, prior, and what evidence counts."""

    __slots__ = (
        "damping",
        "event",
        "least_evidence",
        "numbers",
        "pairs",
        "prior",
        "smoothing",
        "split_head_body",
        "tfidf",
    )

    def __init__(
        self,
        event: str = "multinomial",
        smoothing: float | str = 1.0,
        prior: str | Mapping[str, float] = "counts",
        tfidf: bool = False,
        numbers: bool = False,
        pairs: bool = False,
        least_evidence: float = 0.0,
        damping: float | None = None,
        split_head_body: bool = False,
    ) -> None:
        self.event = event
        self.smoothing = smoothing
        self.prior = prior  # "counts", "uniform", or a share for each label
        self.tfidf = tfidf
        self.numbers = numbers or event == "gaussian"
        self.pairs = pairs and event == "binary" and not tfidf  # neighbours are counted by presence only
        self.least_evidence = least_evidence  # in nats: evidence counts if its weights are this far apart
        # Unless None, the evidence is averaged, not summed, as if it had so many more tokens of weight 0.
        self.damping = damping if event in ("multinomial", "binary") else None
        self.split_head_body = split_head_body  # average head and body by themselves, and add the two

    @property
    def has_cutoffs(self) -> bool:
        """Whether cutoffs on the score decide, and not the likeliest label."""
        return self.damping is not None and self.event == "binary" and self.smoothing != GLOBAL

    @classmethod
    def from_map(cls, stored: Mapping[str, Any]) -> View:
        """Make the view that a model names; ValueError if it is none."""
        view = cls(**{name: stored[name] for name in cls.__slots__})
        fits = view.event in EVENTS and all(isinstance(stored[name], bool) for name in FLAGS)
        fits = fits and (view.smoothing == GLOBAL or is_number(view.smoothing, 0, LARGEST_CHOICE))
        fits = fits and is_number(view.least_evidence, 0, LARGEST_CHOICE)
        fits = fits and (view.damping is None or is_number(view.damping, 0, LARGEST_CHOICE))
        if isinstance(view.prior, dict):
            shares = view.prior.values()
            fits = fits and all(is_number(share, 0, LARGEST_CHOICE) for share in shares) and sum(shares) > 0
        else:
            fits = fits and view.prior in PRIORS
        if not fits:
            raise ValueError("not a view")
        return view

    def as_map(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


class Score:
    """The log-joint of each label for a message, and the evidence it rests on."""

    __slots__ = ("evidence", "joint", "labels", "other_evidence", "parts")

    def __init__(
        self,
        labels: Sequence[str],
        joint: list[float],
        evidence: list[Evidence],
        parts: Sequence[list[float]] = (),
        other_evidence: Sequence[Evidence] = (),
    ) -> None:
        self.labels = labels
        self.joint = joint
        self.evidence = evidence
        self.parts = parts  # what head and body add to the log-joints, where these are means
        # Where `evidence` tells spam from the rest: what tells the other labels from each other.
        self.other_evidence = other_evidence

    def of(self, label: str) -> float:
        """Return how far a label is ahead of the best other one: the log-odds, where there are two."""
        return lead_of(self.joint, self.labels.index(label))

    def without(self, label: str) -> Score:
        """Return the score of the other labels alone."""
        k = self.labels.index(label)
        return Score([*self.labels[:k], *self.labels[k + 1 :]], [*self.joint[:k], *self.joint[k + 1 :]], [])

    def lead_among_others(self, label: str) -> float:
        """Return how far a label is ahead of the best other one, spam left out; NaN without such others."""
        if label == SPAM or SPAM not in self.labels or len(self.labels) <= 2:
            return nan
        return self.without(SPAM).of(label)

    def most_of_a_part(self, label: str) -> float:
        """Return how far a label is ahead in one part, head or body."""
        return max([lead_of(part, self.labels.index(label)) for part in self.parts], default=0.0)

    @property
    def posterior(self) -> list[float]:
        return posterior_of(self.joint)

    @property
    def best(self) -> str:
        return self.labels[self.joint.index(max(self.joint))]


class Evidence:
    """A token, a pair or a number: its counts, how often the message has it, its weight per label."""

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
    """P(token | label) by the totals of a table and a view, and the log-joints of messages made of it.

    All formulas are here. One message, many, those left out and those met online are scored by them.
    """

    def __init__(self, totals: TotalCounts, view: View, misfiled: Sequence[float] = NONE_MISFILED) -> None:
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
        self.least_evidence = view.least_evidence
        self.epsilon = 0.0 if self.is_global else float(view.smoothing)
        self._log_zero = LOG_TINY if view.damping is not None else -inf
        self._logs: list[float | None] = [None] * MOST_LOGARITHMS  # log(n + ε) by n, where it is known
        self.correct(misfiled)
        self.update(totals)

    def correct(self, misfiled: Sequence[float]) -> None:
        """Take counts without misfiled mail: a share of the mail but spam, filed as spam, and one of spam."""
        self.is_corrected = any(misfiled) and (self.is_mean_of_two or self.spam_apart != NO_LABEL)
        # By label: what share of the other side's mail is filed under it; last the rest, if spam is apart.
        self.misfiled = [misfiled[label != SPAM] for label in self.labels] + [misfiled[1]]

    def rightly_filed(self, label_index: int, count: int, other: int) -> int:
        """Return in how many messages of a label a token is, less those that are likely misfiled.

        `other`: messages of the other side that have it. As many are misfiled as expected, or one standard
        deviation more.
        """
        if count >= other:
            return count
        expected = self.misfiled[label_index] * other
        gone = int(expected + sqrt(expected))
        return count - gone if count > gone else 0

    def update(self, totals: TotalCounts, words_by_count: Sequence[WordsByCount] | None = None) -> None:
        """Derive all that depends on the totals, but on no message.

        If `words_by_count`, per label, is given, the table's histogram is not computed (for Bernoulli).
        """
        view = self.view
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
        self.log_denominators = self.log_denominators_of(self.label_totals, self.vocabulary)
        self.background = self.log_prior  # per label, the log-joint before any token is seen
        self.certain_words = [0] * self.label_count  # per label, words that all its messages have
        if self.is_bernoulli:
            self._count_absent_words(words_by_count or self._words_by_count(totals.histogram()))

    def strong_weights(self, row: Row) -> list[float] | None:
        """Return the weights of a row of counts, None if too weak to count."""
        if self.label_count == 2 and not (self.is_global or self.is_bernoulli or self.is_corrected):
            start = len(row) - 2 if self.is_multinomial else 0
            gap = self.log_count(row[start], self.epsilon) - self.log_count(row[start + 1], self.epsilon)
            gap -= self.log_denominators[0] - self.log_denominators[1]
            if abs(gap) < self.least_evidence - 1e-6:  # rounding changes less; most tokens are weak
                return None
        weights = self.weights_against_spam(row)
        if spread(weights) >= self.least_evidence:
            for k in range(self.label_count):
                if row[k]:
                    return weights
        return None

    def weights_against_spam(self, row: Row) -> list[float]:
        """Return the weights; where spam is apart, all other labels have that of their sum."""
        if self.spam_apart == NO_LABEL:
            return self.weights(row)
        count = row[self.spam_apart]
        rest = sum(row[: self.label_count]) - count
        if self.is_corrected:
            rest, count = (
                self.rightly_filed(self.label_count, rest, count),
                self.rightly_filed(self.spam_apart, count, rest),
            )
        weights = [self.log_weight(self.label_count, rest, self.epsilon)] * self.label_count
        weights[self.spam_apart] = self.log_weight(self.spam_apart, count, self.epsilon)
        return weights

    def other_weights(self, row: Row) -> list[float] | None:
        """Return the weights if they are strong enough to tell the labels other than spam apart."""
        weights, others = self.weights(row), self.without_spam(row)
        return weights if any(others) and spread(self.without_spam(weights)) >= self.least_evidence else None

    def is_evidence(self, row: Row) -> bool:
        """Tell whether a row of counts is strong enough to count, for spam or between other labels."""
        return self.strong_weights(row) is not None or (
            self.spam_apart != NO_LABEL and self.other_weights(row) is not None
        )

    def without_spam(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the values, one a label, of all labels but spam."""
        return [*values[: self.spam_apart], *values[self.spam_apart + 1 : self.label_count]]

    def ranked(self, joint: list[float], among_others: list[float]) -> list[float]:
        """Put each label but spam as far below the rest as it is behind the best of them."""
        best = max(self.without_spam(among_others))
        for k in range(self.label_count):
            if k != self.spam_apart:
                joint[k] += among_others[k] - best
        return joint

    def weights(self, row: Row) -> list[float]:
        """Return per label log P(token | label); for Bernoulli the log of its odds of being there."""
        epsilon = self._epsilon_for(sum(self._counts(row))) if self.is_global else self.epsilon
        start = len(row) - self.label_count if self.is_multinomial else 0
        if self.is_corrected and self.label_count == 2:
            row = (self.rightly_filed(0, row[0], row[1]), self.rightly_filed(1, row[1], row[0]))
            start = 0
        weights = []
        for k in range(self.label_count):
            weights.append(self.log_weight(k, row[start + k], epsilon))
        return weights

    def log_weight(self, label_index: int, count: int, epsilon: float) -> float:
        """Return the weight for one label of a token that this label has `count` times."""
        if not self.is_bernoulli:
            denominator = self.log_denominators[label_index]
            return self.rounded(self.log_count(count, epsilon) - denominator)
        numerator, denominator = count + epsilon, self.label_totals[label_index] + 2 * epsilon
        return self.rounded(_log(numerator) - _log(denominator - numerator)) if numerator > 0 else -inf

    def rounded(self, weight: float) -> float:
        """Round a weight to 2⁻⁴⁰ nats, so that the order of a sum makes no difference: all sums are exact."""
        return (weight + GRID) - GRID

    def log_count(self, count: int, epsilon: float) -> float:
        """Return log(n_ck + ε)."""
        is_kept = count < MOST_LOGARITHMS and not self.is_global
        if is_kept and (known := self._logs[count]) is not None:
            return known
        numerator = count + epsilon
        logarithm = log(numerator) if numerator > 0 else self._log_zero
        if is_kept:
            self._logs[count] = logarithm
        return logarithm

    def log_denominators_of(self, label_totals: list[int], vocabulary: int) -> list[float]:
        """Return per label log(n_c + ε|V|), 0 where nothing is; last the rest, if spam is apart."""
        if self.spam_apart != NO_LABEL:
            label_totals = [*label_totals, sum(self.without_spam(label_totals))]
        added = 1.0 if self.is_global else self.epsilon * vocabulary
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
        added = 2 * epsilon if self.is_bernoulli else 1.0 if self.is_global else epsilon * self.vocabulary
        return [(n + epsilon, total + added) for n, total in zip(counts, self.label_totals, strict=True)]

    def _counts(self, row: Row) -> Row:
        return row[self.label_count :] if self.is_multinomial else row[: self.label_count]

    def _epsilon_for(self, total: int) -> float:
        """Return the ε added to the counts of a token that all labels together have `total` times."""
        return total / max(1, sum(self.label_totals)) if self.is_global else self.epsilon

    def idf(self, row: Row) -> float:
        """Return the log of all messages over those with the token."""
        return log(self._message_total / sum(row[: self.label_count]))

    def summed_joint(self, evidence: list[Evidence]) -> list[float]:
        """Return per label the log-joint: its background plus the weights of the evidence."""
        joint = []
        for k in range(self.label_count):
            terms = [self.rounded(item.times * item.weights[k]) for item in evidence if item.times]
            certain_here = terms.count(inf)  # words that all messages of a label have (Bernoulli)
            if certain_here:
                terms = [term for term in terms if term != inf]
            one_is_absent = self.certain_words[k] != certain_here
            joint.append(-inf if one_is_absent else self.background[k] + fsum(terms))
        return joint

    def averages(self, evidence: list[Evidence], damping: float) -> list[list[float]]:
        """Return for each part, per label: sum of the weights / (their number + damping).

        A mean, so that a long message is no surer than a short one. It has no prior.
        """
        parts = []
        for part in sorted({item.part for item in evidence}):
            of_part = [item.weights for item in evidence if item.part == part]
            means = []
            for k in range(self.label_count):
                means.append(fsum([weights[k] for weights in of_part]) / (len(of_part) + damping))
            parts.append(means)
        return parts

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
        background = []
        for k, log_prior in enumerate(self.log_prior):
            terms = [log_prior]
            epsilon, denominator, log_denominator = 0.0, -1.0, 0.0
            for (count, total), words in by_label[k].items():
                if self.is_global or denominator < 0:
                    epsilon = self._epsilon_for(total)
                    denominator = self.label_totals[k] + 2 * epsilon
                    log_denominator = _log(denominator)
                numerator = count + epsilon
                if numerator < denominator:
                    terms.append(words * (log(denominator - numerator) - log_denominator))
                elif numerator:
                    self.certain_words[k] += words
            background.append(fsum(terms))
        self.background = background


class Classifier(Likelihood):
    """Scores messages by a count table, seen through a view."""

    def __init__(self, counts: Counts, view: View, misfiled: Sequence[float] = NONE_MISFILED) -> None:
        super().__init__(counts, view, misfiled)
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
        parts: list[list[float]] = []
        others: list[Evidence] = []
        damping = self.view.damping
        if damping is None:
            joint = self.summed_joint(evidence)
        else:
            parts = self.averages(evidence, damping)
            joint = self.added(parts)
            if self.spam_apart != NO_LABEL:
                others = self.evidence(tokens, True)
                if self.view.pairs:
                    others += self.pair_evidence(pairs, True)
                joint = self.ranked(joint, self.added(self.averages(others, damping)))
        if self.view.numbers:
            for item in self.numeric_evidence(numbers or {}):
                evidence.append(item)
                joint = [j + weight for j, weight in zip(joint, item.weights, strict=True)]
        return Score(self.labels, joint, evidence, parts, others)

    def added(self, parts: list[list[float]]) -> list[float]:
        """Add up per label what the parts of a message say."""
        return [sum([part[k] for part in parts], 0.0) for k in range(self.label_count)]

    def evidence(self, tokens: Sequence[Token], among_others: bool = False) -> list[Evidence]:
        """Return the known tokens whose weights are strong enough to count, `among_others`: spam left out."""
        view, split = self.view, self.view.split_head_body
        if view.event == "gaussian":
            return []
        rows = self.counts.rows([token[0] for token in tokens])
        length = sum([token[1] for token in tokens]) if view.tfidf else 0
        found = []
        for fingerprint, occurrences, part in tokens:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = self.other_weights(row) if among_others else self.strong_weights(row)
            if weights is None:
                continue
            times: float = occurrences if self.is_multinomial else 1
            if view.tfidf:
                times = occurrences / length * self.idf(row)
            found.append(Evidence(fingerprint, row, times, weights, part if split else 0))
        return found

    def pair_evidence(self, pairs: Sequence[Pair], among_others: bool = False) -> list[Evidence]:
        """Return the known pairs whose weights are strong enough to count."""
        rows, split = self.counts.pair_rows([pair[0] for pair in pairs]), self.view.split_head_body
        found = []
        for fingerprint, part in pairs:
            row = rows.get(fingerprint)
            if row is None:
                continue
            weights = self.other_weights(row) if among_others else self.strong_weights(row)
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


def _log(p: float) -> float:
    return log(p) if p > 0 else -inf


def posterior_of(joint: Sequence[float]) -> list[float]:
    """Turn log-joints into a posterior by log-sum-exp; where no label is possible (0/0), all are equal."""
    top = max(joint)
    if top == -inf:
        return [1 / len(joint) for _ in joint]
    if top == inf:
        return posterior_of([0.0 if j == inf else -inf for j in joint])
    shares = [exp(j - top) for j in joint]
    total = sum(shares)
    return [share / total for share in shares]


def lead_of(values: Sequence[float], label_index: int) -> float:
    """Return how far the value of one label is ahead of the best other one."""
    value = values[label_index]
    best_other = max((other for k, other in enumerate(values) if k != label_index), default=value)
    return 0.0 if value == best_other else value - best_other


def spread(weights: Sequence[float]) -> float:
    """Return how far the highest weight is above the lowest."""
    low = high = weights[0]
    for weight in weights:
        if weight < low:
            low = weight
        elif weight > high:
            high = weight
    return 0.0 if low == high else high - low
