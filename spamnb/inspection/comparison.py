"""The two labels that a verdict lies between, and the evidence that tells them apart."""

from spamnb.labels import SPAM

TYPE_CHECKING = False  # a delivery loads no typing
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bayes.verdict import Evidence, Score


def compared_labels(score: "Score", label: str, other: str | None = None) -> tuple[int, int]:
    """The indices of the two labels whose evidence is compared: the one explained, and the one it leads.

    These are a verdict and the best other label, unless `other` is known; spam comes first.
    """
    labels, joint = score.labels, score.joint
    if len(labels) == 1:
        return 0, 0
    first, second, *_ = sorted(
        range(len(joint)), key=lambda k: (labels[k] != label, labels[k] != other, -joint[k])
    )
    return (second, first) if labels[second] == SPAM else (first, second)


def evidence_between(score: "Score", toward: int, against: int) -> "Sequence[Evidence]":
    """The evidence that tells two labels apart."""
    is_about_spam = SPAM in (score.labels[toward], score.labels[against])
    return score.evidence if is_about_spam or not score.other_evidence else score.other_evidence


def difference(values: "Sequence[float]", toward: int, against: int) -> float:
    """How much more of a value one label has than another; 0 where both are infinite."""
    return 0.0 if values[toward] == values[against] else values[toward] - values[against]
