"""The one scorer: adds up the weights of a message's evidence, a row of counts at a time.

Rows come from the model file (`Classifier`), a hash table in memory (`spamnb.in_memory`) and a count table
(`BulkClassifier`), which has rows with one message less for those that are left out.
"""

from __future__ import annotations

from spamnb.bayes.verdict import Evidence, Score
from spamnb.bayes.view import (
    AT_ONCE,
    CERTAIN,
    IMPOSSIBLE,
    MOST_TERMS,
    NO_LABEL,
    ROUNDING,
    SHARE_OF_GRAMS,
    STRONG_AMONG_OTHERS,
    UNITS_PER_NAT,
)
from spamnb.grams import COUNTERS, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.bayes.likelihood import Likelihood
    from spamnb.grams import GramSet
    from spamnb.store import direct  # C: direct.pxd
    from spamnb.store.counts import GramCounts, GramLayer, Row

# Arrays below have 101 places: for MOST_LABELS labels and, where spam is apart, all others together; or twice
# as many, for body and head; or AT_ONCE. Written out, so that they are arrays of C.
LARGEST_COUNT = 1 << 53  # higher ones are taken for it: so the sum over all labels has less than 63 bits
LARGEST_TERM = 1 << 50  # units: no weight is larger, see LOG_TINY


class Scorer:
    """Adds up the weights of one message after the other, exactly."""

    def __init__(self, likelihood: Likelihood) -> None:
        view = likelihood.view
        self.likelihood = likelihood
        self.label_count, self.spam_apart = likelihood.label_count, likelihood.spam_apart
        self.is_averaged = view.damping is not None
        self.damping = view.damping or 0.0
        self.splits = int(view.split_head_body and self.is_averaged)
        is_plain = not (likelihood.is_global or likelihood.is_bernoulli)
        self.is_of_two = is_plain and self.is_averaged and self.label_count == 2
        # The columns that `compare` is about: two labels, or spam and all others.
        self.first = 0 if self.is_of_two else max(self.spam_apart, 0)
        self.second = 1 if self.is_of_two else self.label_count
        least = min(view.least_evidence * UNITS_PER_NAT, 2.0 * LARGEST_TERM + 1)
        self.least = -int(-least // 1)  # rounded up
        self.row = [0] * 101  # the counts of a token that the view reads, by label: a source puts them here
        self.weights = [0] * 101  # of the token added last, in units
        self.counts = [0] * 256  # of tokens that `compare_all` is to add, for two labels
        self.other_counts = [0] * 256
        self.parts = [0] * 256
        self.are_strong = [0] * 256  # what became of them: which count, and their weights, else 0
        self.strong_weights = [0] * 256
        self.other_weights = [0] * 256
        self.grams: Scorer | None = Scorer(likelihood.grams) if likelihood.grams else None
        self.clear()

    def clear(self) -> None:
        """Begin a message."""
        self.sums = [0] * 202  # of each column, in the body and in the head
        self.carried: list[int] = []  # likewise, if there were too many for 63 bits
        self.room = MOST_TERMS
        self.strong = [0, 0]  # how many were added: body, head
        self.strong_among_others = [0, 0]
        self.certain = [0] * 101  # by label, how many weights were infinite
        self.impossible = [0] * 101
        if self.grams:
            self.grams.clear()

    def take(self, row: Row) -> None:
        """Take the row of a token, as a model has it."""
        start = len(row) - self.label_count if self.likelihood.is_multinomial else 0
        for k in range(self.label_count):
            count = row[start + k]
            self.row[k] = count if count < LARGEST_COUNT else LARGEST_COUNT

    def add(self, times: float, part: int) -> int:
        """Add the row taken, as often as the message has its token, if it is strong; tell for what."""
        if self.is_of_two:
            return self.compare(self.row[0], self.row[1], part)
        if self.spam_apart == NO_LABEL:
            return self.add_all(times, part)
        rest = 0
        for k in range(self.label_count):
            if k != self.spam_apart:
                rest += self.row[k]
        strong = self.compare(self.row[self.spam_apart], rest, part)
        return strong | (STRONG_AMONG_OTHERS if self.add_all(1.0, part) else 0)

    def add_grams(self, found: GramSet, counts: GramCounts) -> None:
        """Add the grams of a message, by the counts of each."""
        if len(counts) < 8 * found.used * self.label_count:
            raise IndexError("too few counts")
        size = 0
        for entry in range(found.used):
            part = part_of(found.counters[entry])
            for k in range(self.label_count):
                count = direct.count_at(counts, entry * self.label_count + k)
                self.row[k] = min(count, LARGEST_COUNT)
            if not self.is_of_two:
                self.add(1.0, part)
            elif self.row[0] | self.row[1]:
                size = self.put(size, self.row[0], self.row[1], part)
        self.compare_all(size)

    def take_gram(self, counter: int, layers: Sequence[GramLayer]) -> None:
        """Take the row of a counter of grams: the sum of its layers, mostly of one."""
        for k in range(self.label_count):
            self.row[k] = 0
        for layer in layers:
            self.add_layer(counter, layer[0], layer[1])

    def add_layer(self, counter: int, data: bytes, changes: Mapping[int, Sequence[int]]) -> None:
        """Add what one layer has of a counter of grams to the row."""
        width = len(data) // (self.label_count * COUNTERS)
        at = counter * self.label_count * width
        change = changes[counter] if changes and counter in changes else ()
        for k in range(self.label_count):
            count = 0
            for byte in range(width - 1, -1, -1):
                count = count << 8 | data[at + byte]
            if change:
                count = max(count + change[k], 0)
            self.row[k] = min(self.row[k] + min(count, LARGEST_COUNT), LARGEST_COUNT)
            at += width

    def compare(self, count: int, other: int, part: int) -> int:
        """Add one token, as `compare_all` does many, and tell whether it is strong."""
        return self.compare_all(self.put(0, count, other, part))

    def put(self, size: int, count: int, other: int, part: int) -> int:
        """Put one more token beside so many that `compare_all` is to add; return how many wait now."""
        self.counts[size], self.other_counts[size], self.parts[size] = count, other, part
        if size < AT_ONCE - 1:
            return size + 1
        self.compare_all(AT_ONCE)
        return 0

    def compare_all(self, size: int) -> int:
        """Add tokens of a view that takes means, by their counts for two labels, or for spam and the rest.

        Counts and parts are in `counts`, `other_counts` and `parts`. Returns how many tokens are strong.
        Branch-free: the test is unpredictable. Half the time.
        """
        likelihood, splits, least = self.likelihood, self.splits, self.least
        first, second = self.first, self.second
        denominator = likelihood.log_denominators[first]
        other_denominator = likelihood.log_denominators[second]
        weight = other_weight = strong = sum_of_weights = sum_of_others = 0
        in_head = head_weights = head_others = 0
        for at in range(size):
            count, other = self.counts[at], self.other_counts[at]
            if likelihood.is_corrected and count and other:
                count, other = (
                    likelihood.rightly_filed(first, count, other),
                    likelihood.rightly_filed(second, other, count),
                )
            if count | other < likelihood.kept:
                logarithm, other_logarithm = likelihood.logarithms[count], likelihood.logarithms[other]
            else:
                logarithm = likelihood.log_count(count, likelihood.epsilon)
                other_logarithm = likelihood.log_count(other, likelihood.epsilon)
            # As Likelihood.weight_of does.
            weight = int(logarithm - denominator + ROUNDING - ROUNDING)
            other_weight = int(other_logarithm - other_denominator + ROUNDING - ROUNDING)
            gap = weight - other_weight
            is_strong = ((gap >= least) | (gap <= -least)) & (count | other > 0)
            head = -(self.parts[at] & splits)
            self.are_strong[at] = is_strong
            weight_now = self.strong_weights[at] = -is_strong & weight
            other_now = self.other_weights[at] = -is_strong & other_weight
            strong += is_strong
            sum_of_weights += weight_now
            sum_of_others += other_now
            in_head += head & is_strong
            head_weights += head & weight_now
            head_others += head & other_now
        self.weights[first], self.weights[second] = weight, other_weight
        self.add_sums(1, in_head, head_weights, head_others)
        self.add_sums(0, strong - in_head, sum_of_weights - head_weights, sum_of_others - head_others)
        return strong

    def add_sums(self, part: int, strong: int, weight_sum: int, other_sum: int) -> None:
        """Add the weights of so many strong tokens or grams, at most MOST_TERMS."""
        if strong >= self.room:
            self.carry()
        part &= self.splits
        self.strong[part] += strong
        self.sums[2 * self.first + part] += weight_sum
        self.sums[2 * self.second + part] += other_sum
        self.room -= strong

    def add_all(self, times: float, part: int) -> bool:
        """Add the row taken for each label; where spam is apart, for each other one."""
        total = 0
        for k in range(self.label_count):
            if k != self.spam_apart:
                total += self.row[k]
        epsilon = self.likelihood.epsilon_for(total) if self.likelihood.is_global else self.likelihood.epsilon
        low, high = CERTAIN, IMPOSSIBLE
        for k in range(self.label_count):
            if k != self.spam_apart:
                weight = self.weights[k] = self.likelihood.weight_of(k, self.row[k], epsilon)
                low, high = min(low, weight), max(high, weight)
        if not total or high - low < self.least:
            return False
        part &= self.splits
        if self.spam_apart == NO_LABEL:
            self.strong[part] += 1
        else:
            self.strong_among_others[part] += 1
        for k in range(self.label_count):
            if k != self.spam_apart and (times or self.is_averaged):
                self.add_term(2 * k + part, self.weights[k], 1.0 if self.is_averaged else times)
        self.room -= 1
        if not self.room:
            self.carry()
        return True

    def add_term(self, place: int, weight: int, times: float) -> None:
        """Add a weight so many times to one of the sums."""
        if weight == CERTAIN:
            self.certain[place >> 1] += 1
        elif weight == IMPOSSIBLE:
            self.impossible[place >> 1] += 1
        elif times == 1.0:
            self.sums[place] += weight
        elif abs(times * weight) < LARGEST_TERM:
            self.sums[place] += self.likelihood.rounded(times * weight)
        else:
            self.carry()
            self.carried[place] += round(times * weight)

    def carry(self) -> None:
        """Add the sums to Python's integers, which have any number of bits."""
        before = self.carried or [0] * 202
        self.carried = [before[place] + self.sums[place] for place in range(202)]
        self.sums = [0] * 202
        self.room = MOST_TERMS

    def weights_of(self, row: Row) -> list[float]:
        """Return per label the weight of a row; for labels but spam, if that is apart, that of their sum."""
        self.take(tuple(row))
        self.add(1.0, 0)
        return self.evidence_weights()

    def evidence_weights(self) -> list[float]:
        """Return per label the weight of the row added last; for labels but spam that of their sum."""
        if self.spam_apart == NO_LABEL:
            return [self.likelihood.nats(self.weights[k]) for k in range(self.label_count)]
        rest = self.label_count
        columns = [k if k == self.spam_apart else rest for k in range(self.label_count)]
        return [self.likelihood.nats(self.weights[column]) for column in columns]

    def score(
        self,
        evidence: list[Evidence],
        other_evidence: Sequence[Evidence] = (),
        numbers: Mapping[str, float] | None = None,
    ) -> Score:
        """Return the score by all that was added, and by numeric features, which are put to the evidence."""
        parts = [self.means(0), self.means(1)] if self.is_averaged else []
        joint = self.joint()
        if numbers:
            for item in numeric_evidence(self.likelihood, numbers):
                evidence.append(item)
                joint = [before + weight for before, weight in zip(joint, item.weights, strict=True)]
        return Score(self.likelihood.labels, joint, evidence, parts, other_evidence)

    def means(self, part: int) -> list[float]:
        """Return per label what a part adds to its log-joint, or to that of all labels but spam."""
        means = []
        for k in range(self.label_count):
            is_apart = self.spam_apart != NO_LABEL and k != self.spam_apart
            means.append(self.mean(part, self.second if is_apart else k))
        return means

    def joint(self) -> list[float]:
        """Return the log-joint of each label, without numeric features."""
        if not self.is_averaged:
            return [self.summed(k) for k in range(self.label_count)]
        joint = [self.sum_of_means(k) for k in range(self.label_count)]
        if self.spam_apart == NO_LABEL:
            return joint
        # Each label but spam is as far below the rest as it is behind the best of them.
        rest, best = self.sum_of_means(self.second), max(self.likelihood.without_spam(joint))
        return [
            joint[k] if k == self.spam_apart else rest + (joint[k] - best) for k in range(self.label_count)
        ]

    def summed(self, label_index: int) -> float:
        """Return a label's background plus the weights; -inf without a word that all its messages have."""
        is_possible = self.certain[label_index] == self.likelihood.certain_words[label_index]
        if not is_possible or self.impossible[label_index]:
            return float("-inf")
        return self.likelihood.background[label_index] + self.sum_at(2 * label_index)

    def sum_of_means(self, column: int) -> float:
        """Return what body and head add by their words, and by their grams."""
        of_words = self.mean(0, column) + self.mean(1, column)
        return of_words + SHARE_OF_GRAMS * self.grams.sum_of_means(column) if self.grams else of_words

    def mean(self, part: int, column: int) -> float:
        """Return the sum of the weights of a part / (their number + damping).

        A mean, so that a long message is no surer than a short one. It has no prior.
        """
        strong = self.strong[part]
        if self.spam_apart != NO_LABEL and column != self.first and column != self.second:
            strong = self.strong_among_others[part]
        return self.sum_at(2 * column + part) / (strong + self.damping) if strong else 0.0

    def sum_at(self, place: int) -> float:
        """Return one of the sums, in nats."""
        if not self.carried:
            return self.sums[place] / UNITS_PER_NAT
        return (self.carried[place] + self.sums[place]) / UNITS_PER_NAT


def numeric_evidence(likelihood: Likelihood, numbers: Mapping[str, float]) -> list[Evidence]:
    """Return the numeric features that every label has, weighed by their normal distributions."""
    from spamnb.bayes.gaussian import log_densities  # the default view has no use for it

    found = []
    for name, value in sorted(numbers.items()):
        sums = likelihood.numbers.get(name)
        if sums is not None and (weights := log_densities(value, sums)):
            found.append(Evidence(name, tuple([int(n) for n, _, _ in sums]), 1, weights))
    return found
