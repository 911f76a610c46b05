"""Find what would flip a verdict: the fewest tokens without which it would be another one."""

from collections.abc import Sequence
from itertools import accumulate
from math import inf, nextafter
from operator import attrgetter
from typing import NamedTuple

from spamnb.bayes.classifier import Score
from spamnb.bayes.verdict import Verdict
from spamnb.inspection.reason import Reason
from spamnb.labels import SPAM, UNSURE
from spamnb.model import Model
from spamnb.reading.features import Features

ROUNDING = 1e-9  # nats: a lead up to this is rounding, not evidence


class Flip(NamedTuple):
    """Another verdict, and the tokens without which a message would get it."""

    verdict: str
    score: float
    without: list[str]


class WeakenedPart(NamedTuple):
    """Head or body of a message that loses its strongest evidence for one side, token by token."""

    reasons: list[Reason]  # in the order of their removal
    leads: list[float]  # by number n: the least lead of the part without at most n of the reasons


class Removal(NamedTuple):
    """Tokens removed from each part, and the lead that remains."""

    removed: tuple[list[Reason], list[Reason]]
    lead: float
    part_leads: tuple[float, float]


def find_flips(
    model: Model,
    features: Features,
    reasons: Sequence[Reason],
    score: Score,
    verdict: Verdict,
    toward: int,
    against: int,
) -> list[Flip]:
    """Find the fewest tokens to leave out for each other verdict in reach; all weights are finite."""
    damping = model.view.damping
    lead = score.joint[toward] - score.joint[against]
    parts = [[reason for reason in reasons if reason.evidence.part == part] for part in (0, 1)]
    weakened: dict[int, list[WeakenedPart]] = {}
    found: dict[str, Flip] = {}
    is_about_spam = SPAM in (score.labels[toward], score.labels[against])
    for sign, bound in bounds(model, verdict.label, is_about_spam):
        if sign not in weakened:
            weakened[sign] = [weaken_part(part, damping, sign) for part in parts]
        first, second = weakened[sign]
        removal = fewest_removals(first, second, sign * lead, bound)
        if removal:
            if len(score.joint) == 2:  # only their difference counts
                joint, *means = (
                    [sign * lead if k == toward else 0.0 for k in (0, 1)]
                    for lead in (removal.lead, *removal.part_leads)
                )
            else:
                without = score_without(model, features, removal)
                joint, means = without.joint, list(without.parts)
            now = model.decide(Score(score.labels, without_rounding(joint), [], means if score.parts else ()))
            tokens = [reason.token for part in removal.removed for reason in part]
            found.setdefault(now.label, Flip(now.label, now.score, tokens))
    found.pop(verdict.label, None)  # a tie, to the last digit
    return list(found.values())


def without_rounding(joint: list[float]) -> list[float]:
    """Make log-joints equal where they differ by rounding only."""
    return joint if max(joint) - min(joint) > ROUNDING else [0.0 for _ in joint]


def bounds(model: Model, label: str, is_about_spam: bool) -> list[tuple[int, float]]:
    """For each other verdict (sign, bound): a message gets it once sign · lead is no more than the bound."""
    cutoffs = model.cutoffs
    if not cutoffs or SPAM not in model.labels:
        return [] if label == UNSURE else [(1, 0.0)]
    if not is_about_spam:
        first = (-1, -cutoffs.margin) if label == UNSURE else (1, nextafter(cutoffs.margin, -inf))
        return [first, (1, -cutoffs.margin)]
    ham, spam = cutoffs.ham, cutoffs.spam
    if label == UNSURE:
        return [(1, ham), (-1, -spam)]
    if label == SPAM:
        return [(1, nextafter(spam, -inf)), (1, ham)]
    return [(-1, nextafter(-ham, -inf)), (-1, -spam)]


def weaken_part(part: list[Reason], damping: float | None, sign: int) -> WeakenedPart:
    """Remove the evidence of a part, strongest first.

    The leads never rise: where fewer removals are better, not all that are allowed need be made.
    """
    if not part:
        return WeakenedPart([], [0.0])
    ordered = sorted(part, key=attrgetter("adds"), reverse=sign > 0)
    adds = [sign * reason.adds for reason in ordered]
    count, whole = len(adds), sum(adds)
    removed = accumulate(adds[:-1], initial=0.0)
    if damping is None:
        leads = [whole - gone for gone in removed]
    else:
        leads = [(whole - gone) * (count + damping) / (count + damping - k) for k, gone in enumerate(removed)]
    return WeakenedPart(ordered, list(accumulate([*leads, 0.0], min)))


def fewest_removals(first: WeakenedPart, second: WeakenedPart, lead: float, bound: float) -> Removal | None:
    """The fewest tokens of both parts without which the lead is within a bound; None where it never is.

    For every number of tokens of the one part, the fewest of the other that suffice: these only ever become
    fewer, so all ways are tried in time linear in the evidence.
    """
    rest = lead - first.leads[0] - second.leads[0]
    room = bound - rest
    if first.leads[-1] + second.leads[-1] > room:
        return None
    best = len(first.reasons), len(second.reasons)
    least, other = sum(best), best[1]
    for count, smaller in enumerate(first.leads):
        while other and smaller + second.leads[other - 1] <= room:
            other -= 1
        if count + other < least and smaller + second.leads[other] <= room:
            best, least = (count, other), count + other
    removed = first.reasons[: best[0]], second.reasons[: best[1]]
    leads = first.leads[best[0]], second.leads[best[1]]
    return Removal(removed, rest + sum(leads), leads)


def score_without(model: Model, features: Features, removal: Removal) -> Score:
    """Score a message without some of its tokens and pairs."""
    gone = {reason.evidence.feature for part in removal.removed for reason in part}
    tokens = [token for token in features.tokens if token[0] not in gone]
    pairs = [pair for pair in features.pairs if pair[0] not in gone] if model.view.pairs else []
    return model.classifier.score(tokens, features.numbers, pairs)
