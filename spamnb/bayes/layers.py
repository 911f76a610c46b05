"""The counts of a model on top of those of another, its base: tables add, so two are one.

A message of the model's own counts `unit` times, one of the base once; a unit of 1/`unit` messages then makes
the same probabilities as own + base / unit would, and all counts stay whole numbers. See docs/layers.md.
"""

from __future__ import annotations

if __file__.endswith(".py"):
    from spamnb.store import plain_direct as direct  # compiled: direct.pxd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.grams import GramSet
    from spamnb.store.counts import GramCounts, GramLayer, Row, StoredCounts, Sums, TotalCounts

LARGEST_UNIT = 1 << 16
LARGEST_COUNT = 1 << 46  # higher ones are taken for it: so the sum of two layers has less than 63 bits


def unit_of(base_messages: int, weight: int) -> int:
    """Return how many messages of a base count as one, so that all together count as `weight` or less."""
    return min(max(-(-base_messages // max(weight, 1)), 1), LARGEST_UNIT)


class LayeredTotals:
    """Sums over two tables."""

    def __init__(self, own: TotalCounts, base: TotalCounts, unit: int) -> None:
        self.unit = unit
        self.labels = own.labels
        self.messages = added(own.messages, base.messages, unit)
        self.presences = added(own.presences, base.presences, unit)
        self.occurrences = added(own.occurrences, base.occurrences, unit)
        self.pair_presences = added(own.pair_presences, base.pair_presences, unit)
        self.vocabulary = min(own.vocabulary + base.vocabulary // unit, LARGEST_COUNT)
        self.pair_vocabulary = min(own.pair_vocabulary + base.pair_vocabulary // unit, LARGEST_COUNT)
        self.numbers: Mapping[str, Sequence[Sums]] = {}  # which only textbook views read, and these no base

    def histogram(self) -> dict[tuple[int, ...], int]:
        return {}  # likewise


class LayeredCounts(LayeredTotals):
    """Two tables to look tokens up in."""

    def __init__(self, own: StoredCounts, base: StoredCounts, unit: int) -> None:
        super().__init__(own, base, unit)
        self.own, self.base = own, base

    def rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        return added_rows(self.own.rows(fingerprints), self.base.rows(fingerprints), self.unit)

    def pair_rows(self, fingerprints: Sequence[int]) -> dict[int, Row]:
        return added_rows(self.own.pair_rows(fingerprints), self.base.pair_rows(fingerprints), self.unit)

    def counts_of_grams(self, found: GramSet) -> GramCounts:
        return added_grams(self.own.counts_of_grams(found), self.base.counts_of_grams(found), self.unit)

    def gram_layers(self) -> list[GramLayer]:
        ((_, data, changes),) = self.own.gram_layers()
        return [(self.unit, data, changes), *self.base.gram_layers()]


def added(own: Sequence[int], base: Sequence[int], unit: int) -> list[int]:
    """Add the counts of a base to those of a model, which count `unit` times."""
    counts = []
    for k in range(len(own)):
        count, other = own[k], base[k]
        counts.append(unit * min(count, LARGEST_COUNT) + min(other, LARGEST_COUNT))
    return counts


def added_rows(own: dict[int, Row], base: dict[int, Row], unit: int) -> dict[int, Row]:
    """Add the rows of a model, which count `unit` times, to those of a base, where the sums are put."""
    for fingerprint, row in own.items():
        other = base.get(fingerprint)
        counts = []
        for k in range(len(row)):
            count, beneath = row[k], other[k] if other else 0
            counts.append(unit * min(count, LARGEST_COUNT) + min(beneath, LARGEST_COUNT))
        base[fingerprint] = tuple(counts)
    return base


def added_grams(own: GramCounts, base: GramCounts, unit: int) -> GramCounts:
    """Add the counts of a message's grams in a base to those in a model, which count `unit` times."""
    for place in range(min(len(own), len(base)) // 8):
        count, other = direct.count_at(own, place), direct.count_at(base, place)
        direct.put_count(own, place, unit * min(count, LARGEST_COUNT) + min(other, LARGEST_COUNT))
    return own
