"""How good a filter is: what its verdicts, scores and probabilities on labelled messages come to.

Definitions as in scikit-learn, and where that leaves a choice:

- Unsure is not right: it counts against accuracy, and against recall and F1 of the true label.
- 0 of 0 is None. F1 = 2 / (1/precision + 1/recall) is 0 where nothing was right, and None where the label was
  neither there nor decided. Macro averages go over the labels that were there or decided, 0 of 0 counting 0.
- Where there is a label "spam", every other message is ham. Ham lost was decided as spam; spam missed was
  decided as something else; unsure is neither. But lam% knows two verdicts only: unsure mail is delivered, so
  it counts as ham.
- Spam missed at a ham loss of 0.1 %: spam is what scores above a cutoff, the lowest with at most 0.1 % of the
  ham above it. With fewer than 1,000 ham that is none of them.
- The log loss takes no probability for less than 2.2e-16, so a certain mistake costs 36, not infinity.
- The Brier score is that of spam for two labels (0 to 1), summed over the labels for more (0 to 2).
- The calibration error is that of the spam probability; without spam, of the largest one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import has_spam
from spamnb.evaluation import intervals
from spamnb.evaluation.intervals import Estimate
from spamnb.labels import SPAM, UNSURE

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


def roc(is_spam: Array, score: Array) -> tuple[Array, Array]:
    """Ham lost and spam missed in percent as the cutoff falls from above all scores to below them.

    The corners of the curve, thinned to ROC_POINTS evenly on logarithmic axes; none without ham or spam.
    """
    intervals.check_scores(is_spam, score)
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


Figures = Mapping[str, "Estimate | Figures | None"]

HAM_LOSSES = {"0.1": 1, "0.5": 5, "1.0": 10}  # percent: ham in a thousand, a whole number to divide exactly
RESAMPLES = 400  # with 4,000, 11 of 12 bounds moved by less than 6 % of the interval, one by 15 %
IMBALANCED = 0.75  # share of the largest label from which on a warning says what accuracy hides
LEAST_PROBABILITY = np.finfo(float).eps  # 2.2e-16: the log loss takes none for less


@dataclass(frozen=True, slots=True)
class Metrics:
    """All figures of an evaluation."""

    messages: int
    labels: dict[str, dict[str, Any]]  # name: precision, recall, f1, support
    accuracy: float | None
    macro: dict[str, float | None]  # precision, recall, f1
    confusion: dict[str, dict[str, int]]  # true label: verdict: messages
    ham_lost_percent: float | None
    spam_missed_percent: float | None
    unsure: dict[str, int]  # true label: messages
    unsure_percent: float | None
    one_minus_auc_percent: float | None
    spam_missed_at_ham_lost: dict[str, float | None]  # percent of the ham: percent of the spam
    lam_percent: float | None
    log_loss: float | None
    brier: float | None
    expected_calibration_error: float | None
    intervals: dict[str, Any]  # [low, high] or None under the same keys as the figures
    imbalance: str | None

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


def measure(
    labels: Sequence[str],
    truth: Array,
    verdict: Array,
    score: Array | None,
    probability: Array,
    *,
    resamples: int = RESAMPLES,
) -> Metrics:
    """Measure the figures of verdicts on labelled messages.

    `truth` and `verdict` are indices into `labels`, -1 for unsure; `score` rises with spamminess.
    With `resamples=0` the intervals that need resampling are None, and the rest is there in milliseconds.
    """
    check(labels, truth, verdict, probability)
    counts = confusion(len(labels), truth, verdict)
    spam = labels.index(SPAM) if SPAM in labels else None
    scored = score if spam is not None else None
    figures: Figures = {
        **verdict_figures(labels, counts),
        **spam_figures(counts, spam),
        "one_minus_auc_percent": percent(
            None if scored is None else intervals.auc_loss(truth == spam, scored)
        ),
        **resampled_figures(PerMessageFigures(labels, truth, scored, probability), resamples),
    }
    values = map_estimates(figures, lambda estimate: estimate.value)
    for name, support in zip(labels, counts.sum(axis=1).tolist(), strict=True):
        values["labels"][name]["support"] = support
    verdicts = (*labels, UNSURE)
    table = {
        name: dict(zip(verdicts, row, strict=True)) for name, row in zip(labels, counts.tolist(), strict=True)
    }
    return Metrics(
        messages=len(truth),
        confusion=table,
        unsure={name: table[name][UNSURE] for name in labels},
        intervals=map_estimates(figures, lambda estimate: estimate.interval),
        imbalance=imbalance(labels, counts.sum(axis=1)),
        **values,
    )


def check(labels: Sequence[str], truth: Array, verdict: Array, probability: Array) -> None:
    """Refuse what would give wrong figures silently."""
    label_count = len(labels)
    if not label_count or len(set(labels)) < label_count or UNSURE in labels:
        raise ValueError(f"there must be labels, all different, and none {UNSURE!r}")
    if truth.shape != verdict.shape or probability.shape != (len(truth), label_count):
        raise ValueError("one verdict and one probability a label are needed for each message")
    if len(truth) and not (
        0 <= truth.min() <= truth.max() < label_count and -1 <= verdict.min() <= verdict.max() < label_count
    ):
        raise ValueError("a label or verdict is out of range")
    if np.isnan(probability).any():
        raise ValueError("a probability is not a number")


def confusion(label_count: int, truth: Array, verdict: Array) -> Array:
    """Count messages [true label, verdict], unsure last."""
    verdicts = label_count + 1
    cells = truth.astype(int) * verdicts + np.where(verdict < 0, label_count, verdict.astype(int))
    return np.bincount(cells, minlength=label_count * verdicts).reshape(label_count, verdicts)


def percent(estimate: Estimate | None) -> Estimate | None:
    return estimate.scaled(100) if estimate else None


def verdict_figures(labels: Sequence[str], counts: Array) -> Figures:
    """Measure precision, recall, F1, accuracy and the unsure, from messages [true label, verdict]."""
    right = counts.diagonal().tolist()
    support = counts.sum(axis=1).tolist()
    decided = counts[:, :-1].sum(axis=0).tolist()
    of_label = [
        {
            "precision": intervals.share(r, d),
            "recall": intervals.share(r, s),
            "f1": intervals.f1(r, s - r, d - r),
        }
        for r, s, d in zip(right, support, decided, strict=True)
    ]
    present = [each for each, s, d in zip(of_label, support, decided, strict=True) if s or d]
    return {
        "labels": dict(zip(labels, of_label, strict=True)),
        "accuracy": intervals.share(sum(right), sum(support)),
        "macro": {
            # A wrong verdict takes from the recall of one label and the precision of one, but the F1 of two.
            name: intervals.macro(
                [each[name] or intervals.ZERO_OF_ZERO for each in present], touched=2 if name == "f1" else 1
            )
            for name in ("precision", "recall", "f1")
        },
        "unsure_percent": percent(intervals.share(sum(counts[:, -1].tolist()), sum(support))),
    }


def spam_figures(counts: Array, spam: int | None) -> Figures:
    """Measure ham lost and spam missed, from messages [true label, verdict]."""
    if spam is None:
        return {"ham_lost_percent": None, "spam_missed_percent": None, "lam_percent": None}
    all_spam = int(counts[spam].sum())
    all_ham = int(counts.sum()) - all_spam
    caught, unsure = int(counts[spam, spam]), int(counts[spam, -1])
    lost = int(counts[:, spam].sum()) - caught
    return {
        "ham_lost_percent": percent(intervals.share(lost, all_ham)),
        "spam_missed_percent": percent(intervals.share(all_spam - caught - unsure, all_spam)),
        "lam_percent": percent(intervals.logistic_average([(lost, all_ham), (all_spam - caught, all_spam)])),
    }


class PerMessageFigures:
    """Figures that need every message, each counted once, or as often as a resample drew it."""

    def __init__(self, labels: Sequence[str], truth: Array, score: Array | None, probability: Array) -> None:
        self.messages, self.has_two_labels = len(truth), len(labels) == 2
        probability = np.asarray(probability, float)
        chosen = probability[np.arange(len(truth)), truth]
        squares = (probability - (truth[:, None] == np.arange(len(labels)))) ** 2
        spam = labels.index(SPAM) if self.has_two_labels and SPAM in labels else -1
        self.losses = np.stack(
            [
                -np.log(np.clip(chosen, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)),
                squares[:, spam] if self.has_two_labels else squares.sum(axis=1),
            ]
        )
        forecast, came_true = forecasts(labels, truth, probability)
        self.bins, self.excess = bin_numbers(forecast), forecast - came_true
        # Clipped: a probability a rounding error above 1 has no negative variance.
        variance = np.clip(forecast * (1 - forecast), 0, None)
        self.noise = np.sqrt(np.bincount(self.bins, variance, BIN_COUNT)) / max(len(truth), 1)
        self.ham = self.spam = self.spam_above = np.empty(0, int)
        if score is not None:
            self.rank(truth == labels.index(SPAM), score)

    def rank(self, is_spam: Array, score: Array) -> None:
        """Sort the indices of ham and of spam, highest score first, and count the spam above each ham."""
        order = np.argsort(score)
        self.ham, self.spam = order[~is_spam[order]][::-1], order[is_spam[order]][::-1]
        not_above = np.searchsorted(score[self.spam[::-1]], score[self.ham], "right")
        self.spam_above = len(self.spam) - not_above

    def figures(self, times: Array) -> Array:
        """Log loss, Brier score, calibration error, and spam missed at each ham loss."""
        means = self.losses @ times.astype(float)
        off = np.abs(np.bincount(self.bins, times * self.excess, BIN_COUNT)).sum()
        return np.concatenate((means / self.messages, [off / self.messages], self.missed(times)))

    def missed(self, times: Array) -> Array:
        """The share of spam missed at each ham loss; NaN without ham or spam."""
        lost, caught = np.cumsum(times[self.ham]), np.concatenate(([0], np.cumsum(times[self.spam])))
        if not len(lost) or not lost[-1] or not caught[-1]:
            return np.full(len(HAM_LOSSES), np.nan)
        allowed = lost[-1] * np.array([*HAM_LOSSES.values()]) // 1000
        one_too_many = np.searchsorted(lost, allowed, "right")
        share_missed: Array = (caught[-1] - caught[self.spam_above[one_too_many]]) / caught[-1]
        return share_missed


def resampled_figures(each: PerMessageFigures, resamples: int) -> Figures:
    """Measure the figures that need every message, with intervals from resampling."""
    if not each.messages:
        names = ("log_loss", "brier", "expected_calibration_error")
        return {**dict.fromkeys(names), "spam_missed_at_ham_lost": dict.fromkeys(HAM_LOSSES)}
    values = each.figures(np.ones(each.messages, int))
    drawn = intervals.resampled(each.figures, each.messages, resamples).reshape(resamples, len(values)).T
    log_loss, brier, off, *missed = values.tolist()
    return {
        "log_loss": intervals.percentiles(log_loss, drawn[0], most=np.inf),
        "brier": intervals.percentiles(brier, drawn[1], most=1.0 if each.has_two_labels else 2.0),
        "expected_calibration_error": intervals.calibration_error(off, drawn[2], each.noise),
        "spam_missed_at_ham_lost": {
            name: percent(intervals.at_cutoff(value, column, len(each.spam)))
            for name, value, column in zip(HAM_LOSSES, missed, drawn[3:], strict=True)
        },
    }


def imbalance(labels: Sequence[str], support: Array) -> str | None:
    """A warning where most messages are of one label; None where not."""
    messages, most = int(support.sum()), int(support.max(initial=0))
    if len(labels) < 2 or most < IMBALANCED * messages or not messages:
        return None
    name = labels[int(support.argmax())]
    if most == messages:
        return f"All messages are {name}: the figures say nothing about other mail."
    share = min(round(100 * most / messages), 99)
    look = "ham lost and spam missed" if SPAM in labels else "the recall of each label"
    return (
        f"{share} % of the messages are {name}: always answering {name} would be right as often, "
        f"so accuracy says little. Look at {look}."
    )


def map_estimates(figures: Figures, pick: Callable[[Estimate], Any]) -> dict[str, Any]:
    """Copy a tree of figures with a part of each estimate: its value, or its interval."""
    return {
        name: pick(each)
        if isinstance(each, Estimate)
        else map_estimates(each, pick)
        if each is not None
        else None
        for name, each in figures.items()
    }
