"""Scores of many messages, by counts that are held in memory: no token becomes an object."""

from __future__ import annotations

from array import array

from spamnb.bayes.classifier import Score
from spamnb.store.records import WIDTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spamnb.bayes.classifier import Likelihood
    from spamnb.model import Model
    from spamnb.reading.features import Features, TokenTable
    from spamnb.store.records import Column

LOW = (1 << 32) - 1
MOST_KNOWN = 1024  # logarithms are kept of counts below this
MOST_STEPS = 128  # between the slot where a fingerprint belongs and its own
GRID = 1.5 * 2.0**12  # for what Likelihood.rounded does
WHOLE = 1.5 * 2.0**52  # floats of this size are 1 apart, so adding and subtracting it rounds to whole numbers
MOST_REST = 4096.0  # floats below twice this are at most 2⁻⁴⁰ apart, as weights are


def hold(model: Model, before: Model | None = None) -> Model:
    """Read the counts of a model into memory, or share those of the one before, if only the journal grew."""
    if not model.classifier.is_mean_of_two or model.key:
        model.stored.load(before.stored if before else None)
        return model
    scorer = before.scorer if before else None
    if not isinstance(scorer, FastScorer) or scorer.generation != model.stored.generation:
        scorer = None
    model.scorer = FastScorer(model, scorer)
    return model


class FastScorer:
    """Scores messages by views that are a mean of two labels, as the default one is."""

    def __init__(self, model: Model, before: FastScorer | None) -> None:
        stored, view, journal = model.stored, model.view, model.stored.journal
        self.generation = stored.generation
        self.tokens: CountHash = before.tokens if before else CountHash(stored.column("tokens"))
        self.pairs: CountHash = before.pairs if before else CountHash(stored.column("pairs"))
        self.changes, self.pair_changes = journal.rows(), journal.rows(of_pairs=True)
        self.has_pairs, self.splits, self.damping = view.pairs, view.split_head_body, view.damping or 0.0
        self.labels = model.labels
        self.touched = 0
        self.body, self.head = WeightSum(model.classifier), WeightSum(model.classifier)

    def score(self, features: Features) -> Score:
        """Score a message as `Classifier.score` does, without the evidence."""
        self.body.clear()
        self.head.clear()
        for table in (*features.full_tables, features.table):
            self.add(table, self.tokens, self.tokens.slots, self.changes)
        if self.has_pairs:
            for table in (*features.full_pair_tables, features.pair_table):
                self.add(table, self.pairs, self.pairs.slots, self.pair_changes)
        parts = [self.body.means(self.damping), self.head.means(self.damping)]
        return Score(self.labels, [parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]], [], parts)

    def add(self, table: TokenTable, counts: CountHash, slots: Any, changes: dict[int, list[int]]) -> None:
        """Add the weights of the tokens or pairs of a message, the journal's changes made.

        All are touched first: so memory is waited for once for several of them, which halves the time.
        """
        shift = counts.shift
        for entry in range(table.used):
            self.touched |= slots[table.fingerprints[entry] >> shift << 1]
        for entry in range(table.used):
            fingerprint = table.fingerprints[entry]
            at = fingerprint >> shift << 1
            end = at + 2 * MOST_STEPS
            while at < end and slots[at + 1] and slots[at] != fingerprint:
                at += 2
            packed = slots[at + 1] if at < end else counts.crowd.get(fingerprint, 0)
            count, other = packed & LOW, packed >> 32
            if changes and fingerprint in changes:
                change = changes[fingerprint]
                count, other = max(count + change[0], 0), max(other + change[1], 0)
            if count or other:
                (self.head if self.splits and table.parts[entry] else self.body).add(count, other)


class CountHash:
    """In how many messages of two labels each token is, found by the first bits of its fingerprint.

    Where many begin alike, as who makes up words could have it, the last of them are in a dict.
    """

    def __init__(self, column: Column) -> None:
        bits = max(len(column) * 4 // 3, 1).bit_length()
        self.shift = 64 - bits
        self.slots = array("Q", bytes((1 << bits) + MOST_STEPS << 4))  # fingerprint, both counts; 0: free
        self.crowd: dict[int, int] = {}
        self.fill(column.read(), len(column), column.width, WIDTHS[column.kind[-1]], self.slots)

    def fill(self, records: Any, size: int, width: int, count_width: int, slots: Any) -> None:
        """Put all records, which are in order, into slots."""
        for record in range(size):
            start = record * width
            fingerprint = number_at(records, start, 8)
            packed = number_at(records, start + 8, count_width)
            packed |= number_at(records, start + 8 + count_width, count_width) << 32
            at = fingerprint >> self.shift << 1
            end = at + 2 * MOST_STEPS
            while at < end and slots[at + 1]:
                at += 2
            if at < end:
                slots[at], slots[at + 1] = fingerprint, packed
            else:
                self.crowd[fingerprint] = packed


class WeightSum:
    """The strong weights of a part of a message, summed for two labels: exactly, as `fsum` does."""

    def __init__(self, likelihood: Likelihood) -> None:
        self.likelihood = likelihood
        # log(n + ε) by n.
        self.logs = array("d", [self.likelihood.log_count(n, likelihood.epsilon) for n in range(MOST_KNOWN)])
        self.log_denominator, self.other_log_denominator = likelihood.log_denominators
        self.least = likelihood.least_evidence
        self.clear()

    def clear(self) -> None:
        self.strong = 0  # how many were added
        self.rest = self.other_rest = 0.0
        self.whole = self.other_whole = 0.0  # nats with which a rest would be too large

    def add(self, count: int, other: int) -> None:
        """Add the weights of a token by its counts, if they are strong."""
        if self.likelihood.is_corrected:
            count, other = (
                self.likelihood.rightly_filed(0, count, other),
                self.likelihood.rightly_filed(1, other, count),
            )
        if count < MOST_KNOWN and other < MOST_KNOWN:
            weight = (self.logs[count] - self.log_denominator + GRID) - GRID
            other_weight = (self.logs[other] - self.other_log_denominator + GRID) - GRID
        else:
            weight = self.likelihood.log_weight(0, count, self.likelihood.epsilon)
            other_weight = self.likelihood.log_weight(1, other, self.likelihood.epsilon)
        gap = weight - other_weight
        if gap <= -self.least or gap >= self.least:
            self.strong += 1
            self.rest += weight
            self.other_rest += other_weight
        if abs(self.rest) > MOST_REST or abs(self.other_rest) > MOST_REST:
            nats, other_nats = (self.rest + WHOLE) - WHOLE, (self.other_rest + WHOLE) - WHOLE
            self.whole, self.rest = self.whole + nats, self.rest - nats
            self.other_whole, self.other_rest = self.other_whole + other_nats, self.other_rest - other_nats

    def means(self, damping: float) -> list[float]:
        """Return the mean of the weights of each label, as `Likelihood.averages` does."""
        if not self.strong:
            return [0.0, 0.0]
        number = self.strong + damping
        return [(self.whole + self.rest) / number, (self.other_whole + self.other_rest) / number]


def number_at(data: Any, at: int, size: int) -> int:
    """Return the number of some bytes that stands at an offset, the lowest byte first."""
    number = 0
    for place in range(at + size - 1, at - 1, -1):
        number = number << 8 | data[place]
    return number
