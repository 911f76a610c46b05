"""Models whose counts are held in memory, to judge many messages by: no token becomes an object."""

from __future__ import annotations

from array import array

from spamnb.bayes.scorer import Scorer
from spamnb.errors import SpamnbError
from spamnb.grams import COUNTERS, part_of
from spamnb.store import records
from spamnb.store.records import PAIRS, WIDTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spamnb.bayes.verdict import Score
    from spamnb.grams import GramSet
    from spamnb.model import Model
    from spamnb.reading.features import Features
    from spamnb.reading.token_table import TokenTable
    from spamnb.store.records import Column
    from spamnb.store.stored_model import StoredModel

COUNT_BITS = 32
LOW = 0xFFFFFFFF
MOST_STEPS = 128  # between the slot where a fingerprint belongs and its own


def load_into_memory(model: Model, before: Model | None = None) -> Model:
    """Read the counts of a model into memory, or share those of the one before, if only the journal grew."""
    layers = [model.stored] if model.base is None else [model.stored, model.base]
    columns = [stored.column(name) for stored in layers for name in ("tokens", "pairs")]
    if not model.classifier.is_mean_of_two or not all(map(fits_hash, columns)):
        model.stored.load(before.stored if before else None)
        return model
    scorer = before.scorer if before else None
    known = scorer.layers if isinstance(scorer, MemoryScorer) else []
    try:
        model.scorer = MemoryScorer(model, [MemoryLayer.of(stored, known) for stored in layers])
    except SpamnbError as error:
        if model.base is None or not str(error).startswith(model.base.path):
            raise
        model.lose_base(error)
        return load_into_memory(model, before)
    return model


class MemoryLayer:
    """The counts of one model file, and the changes of its journal."""

    def __init__(self, stored: StoredModel, tokens: CountHash, pairs: CountHash) -> None:
        self.generation = stored.generation
        self.tokens, self.pairs = tokens, pairs
        self.changes, self.pair_changes = stored.journal.rows(), stored.journal.rows(kind=PAIRS)

    @classmethod
    def of(cls, stored: StoredModel, known: list[MemoryLayer]) -> MemoryLayer:
        """Read a model, or share the counts of a layer of the same file."""
        for layer in known:
            if layer.generation == stored.generation:
                return cls(stored, layer.tokens, layer.pairs)
        return cls(stored, CountHash(stored.column("tokens")), CountHash(stored.column("pairs")))


class MemoryScorer:
    """Scores messages by views that are a mean of two labels, as the default one is."""

    def __init__(self, model: Model, layers: list[MemoryLayer]) -> None:
        self.layers = layers
        self.own, self.base = layers[0], layers[-1]
        self.unit = model.classifier.unit if len(layers) > 1 else 0  # 0: there is no base
        self.has_pairs = model.view.pairs
        self.gram_layers = model.counts.gram_layers()
        # By counter: 0 until its grams are met first, then 1 or, if they are strong, 2, and their weights.
        self.gram_states = bytearray(COUNTERS)
        self.gram_weights = memoryview(bytearray(16 * COUNTERS)).cast("q")
        self.touched = 0
        model.classifier.keep_logarithms()
        self.scorer = Scorer(model.classifier)

    def score(self, features: Features) -> Score:
        """Score a message as `Classifier.score` does, without the evidence."""
        own, base = self.own, self.base
        self.scorer.clear()
        for table in (*features.full_tables, features.table):
            self.add(table, own.tokens, own.changes, base.tokens, base.changes)
        if self.has_pairs:
            for table in (*features.full_pair_tables, features.pair_table):
                self.add(table, own.pairs, own.pair_changes, base.pairs, base.pair_changes)
        if self.scorer.grams is not None:
            self.add_grams(self.scorer.grams, features.gram_set, self.gram_states, self.gram_weights)
        return self.scorer.score([])

    def add(
        self,
        table: TokenTable,
        counts: CountHash,
        changes: dict[int, list[int]],
        base: CountHash,
        base_changes: dict[int, list[int]],
    ) -> None:
        """Add the weights of the tokens or pairs of a message, the journal's changes made.

        Prefetch, so that cache misses overlap: half the time.
        """
        scorer, unit, size = self.scorer, self.unit, 0
        for entry in range(table.used):
            self.touched |= counts.slots[table.fingerprints[entry] >> counts.shift << 1]
        if unit:
            for entry in range(table.used):
                self.touched |= base.slots[table.fingerprints[entry] >> base.shift << 1]
        for entry in range(table.used):
            fingerprint = table.fingerprints[entry]
            packed = counts.find(fingerprint, changes)
            count, other = packed & LOW, packed >> COUNT_BITS
            if unit:
                packed = base.find(fingerprint, base_changes)
                count, other = unit * count + (packed & LOW), unit * other + (packed >> COUNT_BITS)
            if count or other:
                size = scorer.put(size, count, other, table.parts[entry])
        scorer.compare_all(size)

    def add_grams(self, scorer: Scorer, found: GramSet, states: Any, weights: Any) -> None:
        """Add the weights of the grams of a message. A counter is weighed when it is met first."""
        strong = sum_of_weights = sum_of_others = in_head = head_weights = head_others = 0
        for entry in range(found.used):
            counter = found.counters[entry]
            place = 2 * counter
            if not states[counter]:
                scorer.take_gram(counter, self.gram_layers)
                states[counter] = 1 + scorer.compare(scorer.row[0], scorer.row[1], part_of(counter))
                weights[place], weights[place + 1] = scorer.strong_weights[0], scorer.other_weights[0]
            elif states[counter] > 1 and part_of(counter):
                in_head += 1
                head_weights += weights[place]
                head_others += weights[place + 1]
            elif states[counter] > 1:
                strong += 1
                sum_of_weights += weights[place]
                sum_of_others += weights[place + 1]
        scorer.add_sums(1, in_head, head_weights, head_others)
        scorer.add_sums(0, strong, sum_of_weights, sum_of_others)


class CountHash:
    """In how many messages of two labels each token is, found by the first bits of its fingerprint.

    Where many begin alike, as who makes up words could have it, the last of them are in a dict.
    """

    def __init__(self, column: Column) -> None:
        if not fits_hash(column):
            raise ValueError(f"counts of more than {COUNT_BITS} bits")
        bits = max(len(column) * 4 // 3, 1).bit_length()
        self.shift = 64 - bits
        self.slots = array("Q", bytes((1 << bits) + MOST_STEPS << 4))  # fingerprint, both counts; 0: free
        self.crowd: dict[int, int] = {}
        self.fill(column.read(), len(column), column.width, WIDTHS[column.kind[-1]], self.slots)

    def fill(self, data: bytes, size: int, width: int, count_width: int, slots: Any) -> None:
        """Put all records, which are in order, into slots."""
        for record in range(size):
            start = record * width
            fingerprint = records.number_at(data, start, 8)
            packed = records.number_at(data, start + 8, count_width)
            packed |= records.number_at(data, start + 8 + count_width, count_width) << COUNT_BITS
            at = fingerprint >> self.shift << 1
            end = at + 2 * MOST_STEPS
            while at < end and slots[at + 1]:
                at += 2
            if at < end:
                slots[at], slots[at + 1] = fingerprint, packed
            else:
                self.crowd[fingerprint] = packed

    def find(self, fingerprint: int, changes: dict[int, list[int]]) -> int:
        """Return both counts of a fingerprint in one number, with its changes made."""
        at = fingerprint >> self.shift << 1
        end = at + 2 * MOST_STEPS
        while at < end and self.slots[at + 1] and self.slots[at] != fingerprint:
            at += 2
        packed = self.slots[at + 1] if at < end else self.crowd.get(fingerprint, 0)
        if changes and fingerprint in changes:
            change = changes[fingerprint]
            count, other = max((packed & LOW) + change[0], 0), max((packed >> COUNT_BITS) + change[1], 0)
            packed = min(other, LOW) << COUNT_BITS | min(count, LOW)
        return packed


def fits_hash(column: Column) -> bool:
    """Tell whether all counts of a column have room in a CountHash: it has a type that holds the highest."""
    return 8 * WIDTHS[column.kind[-1]] <= COUNT_BITS
