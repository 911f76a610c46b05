"""Noticing folders that were given under each other's label, before a model is turned upside down."""

from __future__ import annotations

from collections.abc import Sequence

from spamnb.arrays import Array
from spamnb.errors import UsageError

FEWEST_MOVED = 10  # messages; a label with fewer gives no cutoffs, and everything is unsure anyway
NEARLY_ALL = 0.9  # the rest are mistakes that were corrected meanwhile, or copies in several folders


def refuse_swapped_labels(labels: Sequence[str], moves: Array, learned: Array) -> None:
    """Refuse a run that takes away most of a label.

    `moves[before, after]` counts known messages of this run by the label they were learned under and the one
    they are given now; `learned` is how many messages the model knows of each label. Corrections move few,
    or come with others that stay: so a run is refused if it moves nearly all messages of a label that it
    brings, and over half of those that the model knows.
    """
    swaps = []
    for before, label in enumerate(labels):
        others = moves[before].copy()
        others[before] = 0
        moved = int(others.sum())
        if moved >= max(FEWEST_MOVED, NEARLY_ALL * moves[before].sum()) and moved > learned[before] / 2:
            swaps.append(
                f"{moved:,} of {learned[before]:,} messages learned as {label} to {labels[others.argmax()]}"
            )
    if swaps:
        raise UsageError(
            f"this would move {' and '.join(swaps)}: swapped? Nothing was changed; if it is meant, add --yes"
        )
