"""The two labels that a verdict decides between, and the evidence that separates these labels."""

from spamnb.labels import SPAM

TYPE_CHECKING = False  # a delivery loads no typing
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bayes.verdict import Evidence, Score
    from spamnb.bayes.view import View


def compared_labels(score: "Score", label: str, other: str | None = None) -> tuple[int, int]:
    """Return the indices of the labels to compare: `label`, and `other` or else the best other label.

    If one of the two is spam, it comes first.
    """
    labels, joint = score.labels, score.joint
    if len(labels) == 1:
        return 0, 0
    first, second, *_ = sorted(
        range(len(joint)), key=lambda k: (labels[k] != label, labels[k] != other, -joint[k])
    )
    return (second, first) if labels[second] == SPAM else (first, second)


def evidence_between(score: "Score", toward: int, against: int) -> "Sequence[Evidence]":
    """Return the evidence that separates two labels."""
    is_about_spam = SPAM in (score.labels[toward], score.labels[against])
    return score.evidence if is_about_spam or not score.other_evidence else score.other_evidence


def difference(values: "Sequence[float]", toward: int, against: int) -> float:
    """Return the difference of two labels' values; 0 if both are the same infinity."""
    return 0.0 if values[toward] == values[against] else values[toward] - values[against]


def divisors_of(view: "View", words: "Sequence[Evidence]") -> dict[int, float]:
    """Return, for each part of the message, the number that its sum of weights is divided by."""
    divisors: dict[int, float] = {}
    for item in words:
        divisors[item.part] = divisors.get(item.part, view.damping or 0.0) + share_in_mean(item)
    return dict.fromkeys(divisors, 1.0) if view.damping is None else divisors


def share_in_mean(item: "Evidence") -> float:
    """Return what a token adds to the divisor of a mean: n / (n + 1), if n learned messages have it."""
    count = sum(item.row[: len(item.weights)]) + sum(item.base_row[: len(item.weights)])
    return count / (count + 1)
