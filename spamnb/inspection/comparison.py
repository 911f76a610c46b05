"""The two labels that a verdict decides between, and the evidence that separates these labels."""

from spamnb.labels import SPAM

TYPE_CHECKING = False  # a delivery loads no typing
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bayes.verdict import Evidence, Score
    from spamnb.bayes.view import View


def compared_labels(score: "Score", label: str, other: str | None = None) -> tuple[int, int]:
    """Return the indices of two labels to compare: `label`, and `other` or else the likeliest other label.

    Spam comes first, if it is one of the two. If `label` is unsure, the two likeliest labels are returned.
    """
    labels, joint = score.labels, score.joint
    if len(labels) == 1:
        return 0, 0
    first, second, *_ = sorted(
        range(len(joint)), key=lambda k: (labels[k] != label, labels[k] != other, -joint[k])
    )
    return (second, first) if labels[second] == SPAM else (first, second)


def evidence_between(score: "Score", toward: int, against: int) -> "Sequence[Evidence]":
    """Return the evidence that separates two labels: tokens strong enough for this, with their weights."""
    is_about_spam = SPAM in (score.labels[toward], score.labels[against])
    return score.evidence if is_about_spam or not score.other_evidence else score.other_evidence


def difference(values: "Sequence[float]", toward: int, against: int) -> float:
    """Return the value of label `toward` minus that of `against`; 0 if both are the same infinity."""
    return 0.0 if values[toward] == values[against] else values[toward] - values[against]


def divisors_of(view: "View", words: "Sequence[Evidence]") -> dict[int, float]:
    """Return for each part of the message the divisor of its sum of weights; 1 if no means are taken."""
    divisors: dict[int, float] = {}
    for item in words:
        divisors[item.part] = divisors.get(item.part, view.damping or 0.0) + share_in_mean(item)
    return dict.fromkeys(divisors, 1.0) if view.damping is None else divisors


def share_in_mean(item: "Evidence") -> float:
    """Return what a token that n learned messages have adds to the divisor of a mean: n / (n + 1)."""
    count = sum(item.row[: len(item.weights)]) + sum(item.base_row[: len(item.weights)])
    return count / (count + 1)
