"""Noticing folders that were given under each other's label, before a model is turned upside down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.tables.count_table import Array

FEWEST = 10  # messages of a label: with fewer there are no cutoffs, and everything is unsure anyway
NEARLY_ALL = 0.9  # the rest are mistakes that were corrected meanwhile, or copies in several folders


def check_moves(labels: Sequence[str], met: Array, learned: Array) -> None:
    """Refuse a run that takes away most of a label.

    `met[before, after]` are messages of this run by the label they were learned under and the one they are
    given now; `learned` is how many messages the model knows of each label. Corrections move few of them, or
    are met among others that stay: refused is what moves nearly all that are met, and over half of the known.
    """
    moves = []
    for place, label in enumerate(labels):
        to = met[place].copy()
        to[place] = 0
        many = int(to.sum())
        if many >= FEWEST and many >= NEARLY_ALL * met[place].sum() and many > learned[place] / 2:
            moves.append(
                f"{many:,} of {learned[place]:,} messages learned as {label} to {labels[to.argmax()]}"
            )
    if moves:
        raise UsageError(
            f"this would move {' and '.join(moves)}: swapped? Nothing was changed; if it is meant, add --yes"
        )
