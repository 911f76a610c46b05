"""The counts of a model in memory, for messages of many batches: no texts, no days."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import places_among
from spamnb.bayes.bulk_classifier import narrowed
from spamnb.core.native import COUNTERS
from spamnb.tables.layout import record_type
from spamnb.tables.loading import gram_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.arrays import Array, Rows
    from spamnb.bayes.view import View
    from spamnb.store.counts import Row
    from spamnb.store.records import Column
    from spamnb.store.stored_model import StoredModel


class CountLookup:
    """The rows of counts [token, count] that a view reads: tokens, and behind them pairs of neighbours."""

    def __init__(self, stored: StoredModel, view: View, base: StoredModel | None = None) -> None:
        label_count, records = len(stored.labels), stored.journal.records
        width = 2 * label_count if view.event == "multinomial" else label_count
        later = {token for record in records for token in record.fingerprints}
        self.tokens, self.counts = _columns(stored.column("tokens"), width, later, stored.rows)
        self.pairs = np.empty(0, np.uint64)
        if view.pairs:
            later = {pair for record in records for pair in record.pairs}
            self.pairs, counts = _columns(stored.column("pairs"), width, later, stored.pair_rows)
            self.counts = np.concatenate((self.counts, counts))
        self.grams = np.zeros((COUNTERS if view.grams else 0, label_count), np.int32)  # [counter, label]
        if view.grams:
            if stored.gram_data():
                self.grams = narrowed(gram_counts(stored))
            changed = list(stored.gram_changes())
            found, nothing = stored.gram_rows(changed), (0,) * label_count
            for counter in changed:
                self.grams[counter] = found.get(counter, nothing)
        self.base = CountLookup(base, view) if base else None
        if self.base:
            self.grams = added_counts(self.grams, self.base.grams)

    def counts_of(self, rows: Rows, fingerprints: Array) -> Array:
        """Return the rows of counts of a vocabulary that messages use, zeros for what is unknown."""
        is_pair = np.zeros(len(fingerprints), bool)
        is_pair[rows.places[rows.times == 0]] = True
        counts = np.zeros((len(fingerprints), self.counts.shape[1]), np.int32)
        for keys, start, chosen in (
            (self.tokens, 0, np.flatnonzero(~is_pair)),
            (self.pairs, len(self.tokens), np.flatnonzero(is_pair)),
        ):
            places = places_among(keys, fingerprints[chosen])
            found = places >= 0
            counts[chosen[found]] = self.counts[start + places[found]]
        return added_counts(counts, self.base.counts_of(rows, fingerprints)) if self.base else counts


def added_counts(own: Array, base: Array) -> Array:
    """Add the counts of a base to those of a model."""
    return narrowed(own.astype(np.int64) + base)


def _columns(
    column: Column, width: int, later: set[int], rows: Callable[[Sequence[int]], dict[int, Row]]
) -> tuple[Array, Array]:
    """Return the fingerprints of a column of records and their counts, those anew that a journal changes."""
    records = np.frombuffer(column.read(), record_type(column.kind))
    keys, counts = records["key"].copy(), narrowed(records["counts"][:, :width])
    if later:
        changed = np.array(sorted(later), np.uint64)
        found = rows(changed.tolist())
        unknown = ~np.isin(changed, keys)
        places = np.searchsorted(keys, changed[unknown])
        keys, counts = np.insert(keys, places, changed[unknown]), np.insert(counts, places, 0, axis=0)
        nothing = (0,) * width
        counts[np.searchsorted(keys, changed)] = [found.get(key, nothing)[:width] for key in changed.tolist()]
    return keys, counts
