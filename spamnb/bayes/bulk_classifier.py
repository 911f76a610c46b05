"""Values of many tokens at once, by the rows of counts that a view reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import distinct_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.view import View
    from spamnb.store.counts import Row


def counts_for(view: View, message_counts: Array, occurrence_counts: Array) -> Array:
    """Return the rows of counts [count, token] that a view reads; 0 for pairs of neighbours it ignores."""
    if not view.pairs:
        message_counts = message_counts * occurrence_counts.any(axis=0)
    return (
        np.concatenate((message_counts, occurrence_counts)) if view.event == "multinomial" else message_counts
    )


def by_row(function: Callable[[Row], Sequence[float]], counts: Array, size: int) -> Array:
    """Return the values [value, token] of a function that makes `size` of them from a row of counts.

    The function is called once for each different row: half a million tokens have some thousands of them.
    """
    patterns, which = distinct_columns(counts)
    values = np.array([function(row) for row in patterns.T.tolist()], float).reshape(-1, size)
    return np.stack([value.take(which) for value in values.T.copy()])
