"""How much evidence speaks for one label over another: by token, and in sum by part of the message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, log, log1p
from typing import TYPE_CHECKING, NamedTuple

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.verdict import Evidence
from spamnb.bayes.view import SHARE_OF_GRAMS, View
from spamnb.core.native import BODY, GRAM_BYTES, HEAD, FeatureSet, Scorer, counter_of, part_of
from spamnb.files import printable
from spamnb.inspection.comparison import difference, divisors_of
from spamnb.inspection.reason import Reason
from spamnb.labels import SPAM

if TYPE_CHECKING:
    from spamnb.model import Model


class PartSum(NamedTuple):
    """What a part of the message (headers, body, all of it, or numbers) adds to the sum of evidence."""

    name: str
    tokens: int
    weight: float  # the sum over its tokens
    divisor: float
    adds: float
    share: float = 1.0  # how much this mean counts in the sum; the divisor contains this factor


def sum_evidence(
    view: View, words: Sequence[Evidence], features: FeatureSet, toward: int, against: int
) -> tuple[list[Reason], list[PartSum]]:
    """Return what each token, and each part of the message, adds to the lead of `toward` over `against`."""
    divisors = divisors_of(view, words)
    parts = sorted(divisors, reverse=True)  # as a message is read
    counts, totals = dict.fromkeys(parts, 0), dict.fromkeys(parts, 0.0)
    reasons = []
    for item in words:
        part, weight = item.part, difference(item.weights, toward, against)
        scaled = weight * item.times if item.times else 0.0
        counts[part] += 1
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
    """Return words with log P(word | label) as weights, and for each label Σ log(1 − P) of absent words."""
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
    """Return a reason for each number, with the weight log(P(value | `toward`) / P(value | `against`))."""
    weights = [difference(item.weights, toward, against) for item in numbers]
    return [
        Reason(str(item.feature), item, weight, weight, True)
        for item, weight in zip(numbers, weights, strict=True)
    ]


# Grams are shown as the stretches of text that strong grams cover. A gram counts once, in the first stretch
# that has it, so that the stretches add up to what the grams add.


def sum_grams(
    model: Model, features: FeatureSet, toward: int, against: int
) -> tuple[list[Reason], list[PartSum]]:
    """Return what grams add to the lead of label `toward`: by stretch of text, and by head and body."""
    weights, shares = strong_grams(model, features, toward, against)
    rows = model.stored.counts.lookup_grams(list(weights))
    rows_of_base = model.base.counts.lookup_grams(list(weights)) if model.base else None
    nothing = (0,) * len(model.labels)
    reasons: list[Reason] = []
    part_sums = []
    for part in (HEAD, BODY):
        own = [counter for counter in weights if part_of(counter) == part]
        in_mean = own if model.view.split_head_body else weights
        damping = model.view.damping or 0.0
        divisor = (sum(shares[counter] for counter in in_mean) + damping) / SHARE_OF_GRAMS
        text, left = features.gram_texts[part], dict(weights)
        for start, end, counters in stretches(features, part, weights):
            first_met = [counter for counter in counters if left.pop(counter, None) is not None]
            if first_met:
                strongest = max(first_met, key=lambda counter: abs(weights[counter]))
                total = sum(weights[counter] for counter in first_met)
                labels = [0.0] * len(model.labels)
                labels[toward] = total / len(first_met)
                shown, covered = shown_text(text[start:end]), covered_words(text, start, end)
                row = rows.get(strongest, nothing)
                beneath = () if rows_of_base is None else rows_of_base.get(strongest, nothing)
                evidence = Evidence(shown, row, len(first_met), labels, part, beneath)
                reasons.append(Reason(shown, evidence, labels[toward], total / divisor, covers=covered))
        if own:
            total = sum(weights[counter] for counter in own)
            name = "byte runs of the head" if part == HEAD else "byte runs of the body"
            part_sums.append(PartSum(name, len(own), total, divisor, total / divisor, SHARE_OF_GRAMS))
    return reasons, part_sums


def strong_grams(
    model: Model, features: FeatureSet, toward: int, against: int
) -> tuple[dict[int, float], dict[int, float]]:
    """Return two dicts for strong grams (key: counter): their weights, and how much each counts in a mean."""
    likelihood = model.classifier.grams
    found: dict[int, float] = {}
    shares: dict[int, float] = {}
    if likelihood is None:
        return found, shares
    labels, scorer = model.labels, Scorer(likelihood)
    is_about_spam = likelihood.spam_apart < 0 or SPAM in (labels[toward], labels[against])
    for counter, row in model.counts.lookup_grams(features.grams).items():
        if scorer.add(row, 1, BODY) & (1 if is_about_spam else 2):
            share = sum(row) / (sum(row) + 1)
            weights = scorer.weights_of(row)
            if not is_about_spam:
                weights = [share * weight for weight in likelihood.weights(row)]
            found[counter], shares[counter] = weights[toward] - weights[against], share
    return found, shares


def stretches(
    features: FeatureSet, part: int, weights: dict[int, float]
) -> Iterator[tuple[int, int, list[int]]]:
    """Join strong grams that touch and speak for the same label; yield (start, end, counters)."""
    start = end = 0
    joined: list[int] = []
    for at, counter in enumerate(gram_counters(features, part)):
        if counter in weights:
            if joined and (at > end or (weights[counter] > 0) != (weights[joined[0]] > 0)):
                yield start, end, joined
                joined = []
            if not joined:
                start = at
            joined.append(counter)
            end = at + GRAM_BYTES
    if joined:
        yield start, end, joined


def covered_words(text: bytes, start: int, end: int) -> tuple[str, ...]:
    """Return the words of a text that have at least one letter between `start` and `end`."""
    while start < end and text[start : start + 1].isspace():
        start += 1
    while start < end and text[end - 1 : end].isspace():
        end -= 1
    before, after = text[:start].split(), text[end:].split(None, 1)
    first = b"" if not start or text[start - 1 : start].isspace() else before[-1]
    last = b"" if text[end : end + 1].isspace() or not after else after[0]
    return tuple((first + text[start:end] + last).decode("utf-8", "replace").split())


def shown_text(data: bytes) -> str:
    """Return bytes as text on one line, in quotes so that spaces at the ends can be seen."""
    return '"' + printable(data.decode("utf-8", "replace").replace("\n", " ")) + '"'


def gram_counters(features: FeatureSet, part: int) -> list[int]:
    """Return, in the order of the text, the index of the counter for each gram in a part of the message."""
    text = features.gram_texts[part]
    runs = [text[at : at + GRAM_BYTES] for at in range(len(text) - GRAM_BYTES + 1)]
    return [counter_of(int.from_bytes(run, "little"), part) for run in runs]
