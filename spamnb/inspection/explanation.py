"""A verdict as a sum that can be checked by hand.

Of two labels, one spam, the score is how far spam is ahead. Of more, what is explained is how far the verdict
is ahead of the runner-up. Either way that lead is a sum over the evidence:

    lead = prior + absent words + Σ adds,   adds = weight · times      (the textbooks' models)
                                            adds = weight / divisor    (where the mean is taken)
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from spamnb.bayes.verdict import SPAM
from spamnb.inspection.flips import flips
from spamnb.inspection.places import PLACES
from spamnb.inspection.reason import Reason
from spamnb.reading.features import HEAD
from spamnb.reading.message import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bayes.verdict import Cutoffs, Evidence, Score, Verdict
    from spamnb.bayes.view import View
    from spamnb.inspection.flips import Flip
    from spamnb.model import Model
    from spamnb.reading.features import Features
    from spamnb.reading.message import Message
    from spamnb.store.counts import Row

MOST_COLUMNS = 4  # labels up to which each has a column in a table


class Share(NamedTuple):
    """A part of the sum: the evidence of head, body, whole message, or numbers."""

    name: str
    tokens: int
    weight: float  # of all its tokens
    divisor: float
    adds: float


class Weak(NamedTuple):
    """A known token that tells the labels too little apart to count."""

    token: str
    row: Row
    weight: float


class Explanation(NamedTuple):
    model: Model
    message: Message
    features: Features
    verdict: Verdict
    toward: int  # the place of the label whose lead is explained
    against: int
    joint: Sequence[float]  # per label; the lead is the difference of two
    lead: float
    prior: float
    absent: float  # Bernoulli's words that are not there
    shares: list[Share]
    reasons: list[Reason]  # strongest first
    unknown: list[str]  # tokens that no learned message has
    weak_rows: dict[str, Row]
    silent_pairs: int  # of neighbours, unknown or weak
    flips: list[Flip]

    @property
    def sides(self) -> tuple[str, str]:
        """The two labels at issue: what a negative sum speaks for, and what a positive."""
        return self.model.labels[self.against], self.model.labels[self.toward]

    @property
    def column_labels(self) -> Sequence[str]:
        """The labels whose counts a table shows: all, or of many the two at issue."""
        return self.model.labels if len(self.model.labels) <= MOST_COLUMNS else self.sides

    @property
    def ranked_label(self) -> str:
        """The label that score and probability are of."""
        return SPAM if SPAM in self.model.labels else self.verdict.label

    @property
    def cutoffs(self) -> Cutoffs | None:
        """Those that decide; of more than two labels the likeliest does."""
        return self.model.cutoffs if len(self.model.labels) == 2 and SPAM in self.model.labels else None

    @property
    def is_finite(self) -> bool:
        """Whether the sum can be added up: counts of zero without smoothing make it infinite."""
        sums = (self.joint[self.toward], self.joint[self.against], self.prior, self.absent)
        return all(map(isfinite, sums)) and all(isfinite(share.adds) for share in self.shares)

    @property
    def weak(self) -> list[Weak]:
        """Strongest first."""
        weights = self.model.classifier.weights
        weak = [
            Weak(token, row, difference(weights(row), self.toward, self.against))
            for token, row in self.weak_rows.items()
        ]
        return sorted(weak, key=lambda one: -abs(one.weight))

    def by_place(self) -> dict[str, list[Reason]]:
        """The reasons of each place, places in the order of a message."""
        places: dict[str, list[Reason]] = {name: [] for name in PLACES}
        for reason in self.reasons:
            places[reason.where].append(reason)
        return {name: own for name, own in places.items() if own}


def explain(model: Model, raw: bytes) -> Explanation:
    message = read(raw)
    features = model.tokenizer.features(message)
    classifier, view = model.classifier, model.view
    pairs = features.pairs if view.pairs else []
    score = classifier.score(features.tokens, features.numbers, pairs)
    verdict = model.decide(score)
    toward, against = contest(score, verdict)
    lead = difference(score.joint, toward, against)
    prior = difference(classifier.log_prior, toward, against) if view.damping is None else 0.0
    background = difference(classifier.score([]).joint, toward, against)
    words, numbers = score.evidence, score.evidence[:0]
    if view.numbers:
        measured = len(classifier.numeric_evidence(features.numbers))
        words, numbers = words[: len(words) - measured], words[len(words) - measured :]
    reasons, shares = summed(view, words, features, toward, against)
    changes: list[Flip] = []
    if toward != against and isfinite(lead) and all(isfinite(share.adds) for share in shares):
        changes = flips(model, reasons, score, verdict, toward, against)
    if numbers:
        reasons += numeric(numbers, toward, against)
        total = sum(reason.adds for reason in reasons[len(words) :])
        shares.append(Share("numbers", len(numbers), total, 1.0, total))
    counted = {item.feature for item in words}
    rest = [token[0] for token in features.tokens if token[0] not in counted]
    weak = model.stored.rows(rest)
    if view.event == "gaussian":
        rest, weak = [], {}
    return Explanation(
        model,
        message,
        features,
        verdict,
        toward,
        against,
        score.joint,
        lead,
        prior,
        background - prior,
        shares,
        sorted(reasons, key=lambda reason: -abs(reason.adds)),
        [features.texts[number] for number in rest if number not in weak],
        {features.texts[number]: weak[number] for number in rest if number in weak},
        len(pairs) - sum([len(item.row) == len(model.labels) for item in words]) if pairs else 0,
        changes,
    )


def contest(score: Score, verdict: Verdict) -> tuple[int, int]:
    """The places of the two labels whose evidence is held against each other."""
    labels, joint = score.labels, score.joint
    if len(labels) == 1:
        return 0, 0
    if len(labels) == 2 and SPAM in labels:
        spam = labels.index(SPAM)
        return spam, 1 - spam
    ranked = sorted(range(len(joint)), key=lambda k: (labels[k] != verdict.label, -joint[k]))
    return ranked[0], ranked[1]


def difference(values: Sequence[float], toward: int, against: int) -> float:
    ours, theirs = values[toward], values[against]
    return 0.0 if ours == theirs else ours - theirs


def summed(
    view: View, words: Sequence[Evidence], features: Features, toward: int, against: int
) -> tuple[list[Reason], list[Share]]:
    """What each token adds, and each part of the message."""
    counts: dict[int, int] = {}
    for item in words:
        counts[item.part] = counts.get(item.part, 0) + 1
    parts = sorted(counts, reverse=True)  # as a message is read
    divisors = {part: 1.0 if view.damping is None else counts[part] + view.damping for part in parts}
    totals = dict.fromkeys(parts, 0.0)
    reasons = []
    for item in words:
        part, times, weights = item.part, item.times, item.weights
        weight = weights[toward] - weights[against]
        if weight != weight:  # infinite for both
            weight = 0.0
        scaled = weight * times if times else 0.0
        totals[part] += scaled
        reasons.append(Reason(features.text_of(item.feature), item, weight, scaled / divisors[part]))
    shares = [
        Share(name_of(view, part), counts[part], totals[part], divisors[part], totals[part] / divisors[part])
        for part in parts
    ]
    return reasons, shares


def name_of(view: View, part: int) -> str:
    return "message" if not view.split_head_body else "head" if part == HEAD else "body"


def numeric(numbers: Sequence[Evidence], toward: int, against: int) -> list[Reason]:
    """Each adds the logarithm of how much likelier its value is under the one label."""
    weights = [difference(item.weights, toward, against) for item in numbers]
    return [
        Reason(str(item.feature), item, weight, weight, True)
        for item, weight in zip(numbers, weights, strict=True)
    ]
