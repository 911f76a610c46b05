"""Arrays of numbers: what numpy offers more slowly, or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def run_starts(values: Array) -> Array:
    """Mark the first of each run of equal values; the mask is true there."""
    first = np.ones(len(values), bool)
    first[1:] = values[1:] != values[:-1]
    return first


def sorted_distinct(values: Array) -> Array:
    """Sort values, each once; np.unique takes 24 times as long since numpy 2.3, and loads numpy.ma."""
    ordered = np.sort(values)
    return ordered[run_starts(ordered)]
