"""Find tokens and grams that are too weak to count in every fold: most that a message has are."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np

from spamnb.array_loops import count_sets
from spamnb.arrays import Sets
from spamnb.grams import COUNTERS

if TYPE_CHECKING:
    from spamnb.arrays import Array, Rows
    from spamnb.bayes.view import View

MARGIN = 1e-6  # nats: more than weights are rounded by
MOST_NATS = 50.0  # evidence that is required to be stronger is rare enough


def weak_evidence(rows: Rows, size: int, groups: Array, view: View) -> tuple[Array, Array]:
    """Mark tokens, of so many, and counters of grams that are weak by the mail of all folds but one.

    That is so without one more message, too, and with none of it misfiled; and the token is still there.
    `groups` [label, fold, message] marks the messages of each fold, of two labels.
    """
    tokens = Sets(rows.starts, rows.places.view(np.uint32))
    return (
        _weak(tokens, size, groups, rows.lengths, size, view),
        _weak(rows.grams, COUNTERS, groups, np.ones(len(rows), np.int64), 2, view.of_grams()),
    )


def _weak(sets: Sets, size: int, groups: Array, added: Array, vocabulary: int, view: View) -> Array:
    """Mark members of sets that are weak; `added` is what each message adds to the total of its label."""
    epsilon = float(view.smoothing)
    counts, most = np.zeros((2, 2, size), np.int32)  # in all folds; in one of them
    for label, folds in enumerate(groups.astype(np.int32)):
        for signs in folds:
            of_fold = np.zeros(size, np.int32)
            count_sets(sets.starts.data, sets.members.data, signs.data, of_fold.data)
            counts[label] += of_fold
            np.maximum(most[label], of_fold, out=most[label])
    least = np.maximum(counts - most - 1, 0)
    of_folds = groups @ added
    totals = of_folds.sum(axis=1, keepdims=True) - of_folds  # of the other folds

    def is_below(label: int, other: int) -> Array:
        """Tell where the weight for a label is not high enough, however few messages the other one has."""
        own, others = totals[label] - added.max(), totals[other]
        ratio = min(((own + more) / np.maximum(others + more, 1)).min() for more in (0, epsilon * vocabulary))
        limit = exp(min(view.least_evidence, MOST_NATS) - MARGIN) * ratio
        return counts[label] + epsilon < limit * (least[other] + epsilon)

    return is_below(0, 1) & is_below(1, 0) & least.any(axis=0)
