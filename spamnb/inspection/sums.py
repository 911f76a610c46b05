"""What the evidence of a message adds up to, between two labels: token by token, and part by part."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log, log1p
from typing import NamedTuple

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.verdict import Evidence, Score
from spamnb.bayes.view import View
from spamnb.inspection.reason import Reason
from spamnb.labels import SPAM
from spamnb.reading.features import HEAD, Features


class PartSum(NamedTuple):
    """What head, body, whole message or numbers add to the sum."""

    name: str
    tokens: int
    weight: float  # the sum over its tokens
    divisor: float
    adds: float
    share: float = 1.0  # that the mean has in the sum; its divisor is as much larger


def compared_labels(score: Score, label: str, other: str | None = None) -> tuple[int, int]:
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


def evidence_between(score: Score, toward: int, against: int) -> Sequence[Evidence]:
    """The evidence that tells two labels apart."""
    is_about_spam = SPAM in (score.labels[toward], score.labels[against])
    return score.evidence if is_about_spam or not score.other_evidence else score.other_evidence


def difference(values: Sequence[float], toward: int, against: int) -> float:
    """How much more of a value one label has than another; 0 where both are infinite."""
    return 0.0 if values[toward] == values[against] else values[toward] - values[against]


def sum_evidence(
    view: View, words: Sequence[Evidence], features: Features, toward: int, against: int
) -> tuple[list[Reason], list[PartSum]]:
    """Sum the evidence: what each token adds to the lead, and what each part of the message does."""
    counts: dict[int, int] = {}
    for item in words:
        counts[item.part] = counts.get(item.part, 0) + 1
    parts = sorted(counts, reverse=True)  # as a message is read
    divisors = {part: 1.0 if view.damping is None else counts[part] + view.damping for part in parts}
    totals = dict.fromkeys(parts, 0.0)
    reasons = []
    for item in words:
        part, weight = item.part, difference(item.weights, toward, against)
        scaled = weight * item.times if item.times else 0.0
        totals[part] += scaled
        reasons.append(Reason(features.text_of(item.feature), item, weight, scaled / divisors[part]))
    part_sums = [
        PartSum(
            part_name(view, part), counts[part], totals[part], divisors[part], totals[part] / divisors[part]
        )
        for part in parts
    ]
    return reasons, part_sums


def present_and_absent(
    classifier: Classifier, words: Sequence[Evidence]
) -> tuple[Sequence[Evidence], Sequence[float]]:
    """Return Bernoulli's words of a message, weighed by log P, and per label Σ log(1 − P) of all others."""
    absent = [all_ - own for all_, own in zip(classifier.background, classifier.log_prior, strict=True)]
    certain, present = list(classifier.certain_words), []  # certain: P = 1
    for item in words:
        shares = classifier.probabilities(item.row)
        for k, share in enumerate(shares):
            if share < 1:
                absent[k] -= log1p(-share)
            else:
                certain[k] -= 1
        weights = [log(share) if share else -inf for share in shares]
        present.append(Evidence(item.feature, item.row, item.times, weights, item.part))
    return present, [-inf if left else sum_ for left, sum_ in zip(certain, absent, strict=True)]


def part_name(view: View, part: int) -> str:
    return "message" if not view.split_head_body else "head" if part == HEAD else "body"


def numeric_reasons(numbers: Sequence[Evidence], toward: int, against: int) -> list[Reason]:
    """What each number adds: the logarithm of how much likelier its value is under the one label."""
    weights = [difference(item.weights, toward, against) for item in numbers]
    return [
        Reason(str(item.feature), item, weight, weight, True)
        for item, weight in zip(numbers, weights, strict=True)
    ]
