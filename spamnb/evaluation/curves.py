"""Curves that a page draws: how well probabilities are calibrated, and what each cutoff loses and misses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import has_spam
from spamnb.labels import SPAM

BIN_COUNT = 15  # ranges of probabilities that calibration is measured in
ROC_POINTS = 2000  # more than a screen has dots


def forecasts(labels: Sequence[str], truth: Array, probability: Array) -> tuple[Array, Array]:
    """Per message the probability forecast, of spam or of the likeliest label, and whether it came true."""
    if has_spam(labels):
        spam = labels.index(SPAM)
        return probability[:, spam], truth == spam
    best = probability.argmax(axis=1)
    return probability.max(axis=1), truth == best


def bin_numbers(forecast: Array) -> Array:
    """Number the bin of each forecast."""
    numbers: Array = np.clip((forecast * BIN_COUNT).astype(int), 0, BIN_COUNT - 1)
    return numbers


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """What was forecast with a probability from `low` to `high`, and how often it came true."""

    low: float
    high: float
    messages: int
    mean_probability: float | None
    share: float | None


def calibration_bins(labels: Sequence[str], truth: Array, probability: Array) -> list[CalibrationBin]:
    """The bins that the expected calibration error is taken over, empty ones too."""
    forecast, came_true = forecasts(labels, truth, probability)
    numbers = bin_numbers(forecast)
    columns = [np.bincount(numbers, weights, BIN_COUNT).tolist() for weights in (None, forecast, came_true)]
    return [
        CalibrationBin(i / BIN_COUNT, (i + 1) / BIN_COUNT, n, *((p / n, true / n) if n else (None, None)))
        for i, (n, p, true) in enumerate(zip(*columns, strict=True))
    ]


def calibration_error(labels: Sequence[str], truth: Array, probability: Array) -> float:
    """The expected calibration error: how far off each bin is on average, by its share of the messages."""
    forecast, came_true = forecasts(labels, truth, probability)
    off = np.bincount(bin_numbers(forecast), forecast - came_true, BIN_COUNT)
    return float(np.abs(off).sum() / len(truth))


def roc(is_spam: Array, score: Array) -> tuple[Array, Array]:
    """Ham lost and spam missed in percent as the cutoff falls from above all scores to below them.

    The corners of the curve, thinned to ROC_POINTS evenly on logarithmic axes; none without ham or spam.
    """
    levels, level = np.unique(score, return_inverse=True)
    lost = counts_above(level[~is_spam], len(levels))
    missed = is_spam.sum() - counts_above(level[is_spam], len(levels))
    if not lost[-1] or not missed[0]:
        return np.empty(0), np.empty(0)
    unchanged = (np.diff(lost) == 0), (np.diff(missed) == 0)
    between_corners = np.logical_or(*(same[1:] & same[:-1] for same in unchanged))
    corners = np.flatnonzero(np.concatenate(([True], ~between_corners, [True])))
    lost, missed = lost[corners], missed[corners]
    distance = np.log1p(lost) - np.log1p(missed)
    if len(distance) > ROC_POINTS:
        points = np.unique(np.searchsorted(distance, np.linspace(distance[0], distance[-1], ROC_POINTS)))
        lost, missed = lost[points], missed[points]
    return 100 * lost / lost[-1], 100 * missed / missed[0]


def counts_above(level: Array, levels: int) -> Array:
    """Count the messages above each cutoff, from the highest cutoff to the lowest."""
    return np.concatenate(([0], np.cumsum(np.bincount(level, minlength=levels)[::-1])))
