"""Models whose counts are held in memory, to judge many messages by: no token becomes an object."""

from __future__ import annotations

from array import array
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

from spamnb.bayes.scorer import Scorer
from spamnb.errors import SpamnbError
from spamnb.grams import COUNTERS, part_of
from spamnb.store import records
from spamnb.store.records import PAIRS, WIDTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
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
MOST_STEPS = 32  # from the slot where a fingerprint belongs, one by one; further ones are bisected
SLOT_BYTES = 16
COLUMNS = ("tokens", "pairs")


def load_into_memory(model: Model) -> Model:
    """Read the counts of a model, and of its base, into memory."""
    return with_scorer(model, HashTables.read)


def with_scorer(model: Model, tables_of: Callable[[StoredModel], HashTables | None]) -> Model:
    """Let a model score messages without their evidence, if its view allows for it.

    By the tables of its counts and those of its base; where there are none, by look-ups in the file.
    """
    columns = [stored.column(name) for stored in model.layers for name in COLUMNS]
    if not model.classifier.is_mean_of_two or not all(map(fits_hash, columns)):
        return model
    try:
        layers = [CountLayer(stored, tables_of(stored)) for stored in model.layers]
        model.scorer = MemoryScorer(model, layers)
    except SpamnbError as error:
        model.lose_base(error)
        return with_scorer(model, tables_of)
    return model


class HashTables:
    """The counts of a model file in hash tables, in memory that is given: other processes may share it."""

    def __init__(self, stored: StoredModel, memory: mmap) -> None:
        tokens, pairs = [stored.column(name) for name in COLUMNS]
        slots, end = memoryview(memory).cast("Q"), table_bytes(tokens) // 8
        self.tokens, self.pairs = CountHash(slots[:end], len(tokens)), CountHash(slots[end:], len(pairs))

    @classmethod
    def read(cls, stored: StoredModel, memory: mmap | None = None) -> HashTables:
        """Read the counts of a model file into memory that is empty."""
        tables = cls(stored, memory or new_memory(bytes_of_tables(stored)))
        tables.tokens.read(stored.column("tokens"))
        tables.pairs.read(stored.column("pairs"))
        return tables


def new_memory(size: int) -> mmap:
    """Get memory full of zeros, which the system has back when it is no longer used."""
    return mmap(-1, size, flags=MAP_PRIVATE | MAP_ANONYMOUS)


def bytes_of_tables(stored: StoredModel) -> int:
    """Return how much memory the tables of a model file take at most; what they do not use is not touched."""
    return sum([table_bytes(stored.column(name)) for name in COLUMNS])


class CountLayer:
    """The counts of one model file and its journal, in tables or on disk."""

    def __init__(self, stored: StoredModel, tables: HashTables | None) -> None:
        self.stored = stored
        self.in_memory = tables is not None
        self.tokens, self.pairs = (tables.tokens, tables.pairs) if tables else (NOTHING, NOTHING)
        self.changes = stored.journal.rows() if tables else {}
        self.pair_changes = stored.journal.rows(kind=PAIRS) if tables else {}

    def changes_of(self, table: TokenTable, are_pairs: bool) -> Any:
        """Return what is to be added to the counts of a message's tokens or pairs in the hash table.

        That is what the journal has; or all that the model has of them, if its counts are on disk.
        """
        if self.in_memory:
            return self.pair_changes if are_pairs else self.changes
        fingerprints = [table.fingerprints[entry] for entry in range(table.used)]
        return self.stored.pair_rows(fingerprints) if are_pairs else self.stored.rows(fingerprints)


class MemoryScorer:
    """Scores messages by views that are a mean of two labels, as the default one is."""

    def __init__(self, model: Model, layers: list[CountLayer]) -> None:
        self.layers = layers
        self.own, self.base = layers[0], layers[-1]
        self.is_layered = len(layers) > 1
        self.has_pairs = model.view.pairs
        self.counts, self.likelihood = model.counts, model.classifier
        self.keeps_weights = self.own.in_memory  # of grams
        if self.keeps_weights:
            self.gram_layers = model.counts.gram_layers()
            # By counter: 0 until its grams are met first, then 1, or 2 if they are strong; their weights.
            self.gram_states = bytearray(COUNTERS)
            self.gram_weights = memoryview(new_memory(16 * COUNTERS)).cast("q")
        self.touched = 0
        self.is_used = self.keeps_weights
        self.scorer = Scorer(model.classifier)

    def score(self, features: Features) -> Score:
        """Score a message as `Classifier.score` does, without the evidence."""
        if self.is_used:
            self.likelihood.keep_logarithms()  # takes as long as a message
        self.is_used = True
        self.scorer.clear()
        for table in (*features.full_tables, features.table):
            self.add(table, self.own.tokens, self.base.tokens, False)
        if self.has_pairs:
            for table in (*features.full_pair_tables, features.pair_table):
                self.add(table, self.own.pairs, self.base.pairs, True)
        if self.scorer.grams is not None:
            found = features.gram_set
            if self.keeps_weights:
                self.add_grams(self.scorer.grams, found, self.gram_states, self.gram_weights)
            else:
                self.scorer.grams.add_grams(found, self.counts.counts_of_grams(found))
        return self.scorer.score([])

    def add(self, table: TokenTable, counts: CountHash, base: CountHash, are_pairs: bool) -> None:
        """Add the weights of the tokens or pairs of a message, the journal's changes made.

        Prefetch, so that cache misses overlap: half the time.
        """
        scorer, is_layered, size = self.scorer, self.is_layered, 0
        changes = self.own.changes_of(table, are_pairs)
        base_changes = self.base.changes_of(table, are_pairs) if is_layered else changes
        for entry in range(table.used):
            self.touched |= counts.slots[table.fingerprints[entry] >> counts.shift << 1]
        if is_layered:
            for entry in range(table.used):
                self.touched |= base.slots[table.fingerprints[entry] >> base.shift << 1]
        for entry in range(table.used):
            fingerprint = table.fingerprints[entry]
            packed = counts.find(fingerprint, changes)
            count, other = packed & LOW, packed >> COUNT_BITS
            if is_layered:
                packed = base.find(fingerprint, base_changes)
                count, other = count + (packed & LOW), other + (packed >> COUNT_BITS)
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

    A token is in the slot where it belongs, or in one of those behind, with none free in between; and all are
    in the order of their fingerprints.
    """

    def __init__(self, slots: Any, size: int) -> None:
        self.shift = 64 - bits_of_table(size)
        self.slots = slots  # of each the fingerprint, then both counts; 0: free

    def read(self, column: Column) -> None:
        """Read all records of a column, which are in order, into slots, which are free."""
        self.fill(column.read(), len(column), column.width, WIDTHS[column.kind[-1]], self.slots)

    def fill(self, data: bytes, size: int, width: int, count_width: int, slots: Any) -> None:
        at = -2
        for record in range(size):
            start = record * width
            fingerprint = records.number_at(data, start, 8)
            packed = records.number_at(data, start + 8, count_width)
            packed |= records.number_at(data, start + 8 + count_width, count_width) << COUNT_BITS
            if packed:
                home = fingerprint >> self.shift << 1
                at = max(home, at + 2)
                slots[at], slots[at + 1] = fingerprint, packed

    def find(self, fingerprint: int, changes: Any) -> int:
        """Return both counts of a fingerprint in one number, with its changes made."""
        at = fingerprint >> self.shift << 1
        end = at + 2 * MOST_STEPS
        while at < end and self.slots[at + 1] and self.slots[at] < fingerprint:
            at += 2
        if at == end:
            at = self.bisected(fingerprint, at)
        packed = self.slots[at + 1] if self.slots[at] == fingerprint else 0
        if changes and fingerprint in changes:
            change = changes[fingerprint]
            count, other = max((packed & LOW) + change[0], 0), max((packed >> COUNT_BITS) + change[1], 0)
            packed = min(other, LOW) << COUNT_BITS | min(count, LOW)
        return packed

    def bisected(self, fingerprint: int, at: int) -> int:
        """Find the first slot from one on that is free or has no lower fingerprint; the last slot is free.

        Only words that somebody made up have many neighbours.
        """
        first, last = at // 2, len(self.slots) // 2 - 1
        while first < last:
            middle = (first + last) // 2
            if self.slots[2 * middle + 1] and self.slots[2 * middle] < fingerprint:
                first = middle + 1
            else:
                last = middle
        return 2 * first


def bits_of_table(size: int) -> int:
    """Return how many bits of a fingerprint say where it belongs in a table of so many records."""
    return max(size * 4 // 3, 1).bit_length()


def table_bytes(column: Column) -> int:
    """Return how large the table of a column is: behind the last place there are slots for all, and one."""
    return ((1 << bits_of_table(len(column))) + len(column) + 1) * SLOT_BYTES


NOTHING = CountHash(array("Q", bytes(3 * SLOT_BYTES)), 0)


def fits_hash(column: Column) -> bool:
    """Tell whether all counts of a column have room in a CountHash: it has a type that holds the highest."""
    return 8 * WIDTHS[column.kind[-1]] <= COUNT_BITS
