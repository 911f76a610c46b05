"""What would change a verdict: the fewest tokens without which it would be another one."""

from __future__ import annotations

from itertools import accumulate
from math import inf, nextafter
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from spamnb.bayes.verdict import SPAM, UNSURE, Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bayes.verdict import Verdict
    from spamnb.inspection.reason import Reason
    from spamnb.model import Model

NOTHING = 1e-9  # nats: what rounding leaves of no evidence at all


class Flip(NamedTuple):
    """Without these tokens the verdict is this one."""

    verdict: str
    score: float
    without: list[str]


class Shrinking(NamedTuple):
    """A part of a message that loses its strongest evidence for one side, token by token."""

    reasons: list[Reason]  # in the order they are lost
    leads: list[float]  # the least that is left of its lead without up to none, one, two … of them


class Loss(NamedTuple):
    """Tokens of each part that are lost, and the lead that is left."""

    lost: tuple[list[Reason], list[Reason]]
    lead: float


def flips(
    model: Model, reasons: Sequence[Reason], score: Score, verdict: Verdict, toward: int, against: int
) -> list[Flip]:
    """For each verdict that can be reached by leaving tokens out, the fewest. All weights are finite."""
    damping = model.view.damping
    lead = score.joint[toward] - score.joint[against]
    parts = [[reason for reason in reasons if reason.evidence.part == part] for part in (0, 1)]
    smaller: dict[int, list[Shrinking]] = {}
    found: dict[str, Flip] = {}
    for sign, bound in bounds(model, verdict.label):
        if sign not in smaller:
            smaller[sign] = [shrinking(part, damping, sign) for part in parts]
        first, second = smaller[sign]
        loss = fewest(first, second, sign * lead, bound)
        if loss:
            if len(score.joint) == 2:  # only their difference counts
                joint = [sign * loss.lead if k == toward else 0.0 for k in (0, 1)]
            else:
                joint = left(parts, loss.lost, damping, score.joint)
            now = model.decide(Score(score.labels, settled(joint), []))
            tokens = [reason.token for part in loss.lost for reason in part]
            found.setdefault(now.label, Flip(now.label, now.score, tokens))
    found.pop(verdict.label, None)  # a tie, to the last digit
    return list(found.values())


def settled(joint: list[float]) -> list[float]:
    """What rounding leaves of no evidence at all is nothing."""
    return joint if max(joint) - min(joint) > NOTHING else [0.0 for _ in joint]


def bounds(model: Model, label: str) -> list[tuple[int, float]]:
    """How small the lead must become, losing what speaks for it (1) or against it (-1, the lead negated)."""
    cutoffs, labels = model.cutoffs, model.labels
    if not cutoffs or len(labels) > 2 or SPAM not in labels:
        return [] if label == UNSURE else [(1, 0.0)]
    ham, spam = cutoffs.ham, cutoffs.spam
    if label == UNSURE:
        return [(1, ham), (-1, -spam)]
    return [(1, below(spam)), (1, ham)] if label == SPAM else [(-1, below(-ham)), (-1, -spam)]


def below(value: float) -> float:
    return nextafter(value, -inf)


def shrinking(part: list[Reason], damping: float | None, sign: int) -> Shrinking:
    """Strongest first. To lose more than is best is no worse: then not all need be lost."""
    if not part:
        return Shrinking([], [0.0])
    ordered = sorted(part, key=attrgetter("adds"), reverse=sign > 0)
    adds = [sign * reason.adds for reason in ordered]
    many, whole = len(adds), sum(adds)
    lost = accumulate(adds[:-1], initial=0.0)
    if damping is None:
        leads = [whole - gone for gone in lost]
    else:
        leads = [(whole - gone) * (many + damping) / (many + damping - k) for k, gone in enumerate(lost)]
    return Shrinking(ordered, list(accumulate([*leads, 0.0], min)))


def fewest(first: Shrinking, second: Shrinking, lead: float, bound: float) -> Loss | None:
    """Of both parts, the fewest tokens without which the lead is within a bound; None where nothing does.

    For every number of tokens of the one part, the fewest of the other that suffice: these only ever become
    fewer, so all ways are tried in time linear in the evidence.
    """
    rest = lead - first.leads[0] - second.leads[0]
    room = bound - rest
    if first.leads[-1] + second.leads[-1] > room:
        return None
    best = len(first.reasons), len(second.reasons)
    least, other = sum(best), best[1]
    for one, smaller in enumerate(first.leads):
        while other and smaller + second.leads[other - 1] <= room:
            other -= 1
        if one + other < least and smaller + second.leads[other] <= room:
            best, least = (one, other), one + other
    lost = first.reasons[: best[0]], second.reasons[: best[1]]
    return Loss(lost, rest + first.leads[best[0]] + second.leads[best[1]])


def left(
    parts: Sequence[list[Reason]], lost: Sequence[list[Reason]], damping: float | None, joint: Sequence[float]
) -> list[float]:
    """The log-joint of each label when some tokens of each part are lost."""
    now = list(joint)
    for part, gone in zip(parts, lost, strict=True):
        for k in range(len(now)) if gone else ():
            whole = said(part, k)
            now[k] -= mean(whole, len(part), damping)
            now[k] += mean(whole - said(gone, k), len(part) - len(gone), damping)
    return now


def said(reasons: list[Reason], place: int) -> float:
    """For one label."""
    return sum([reason.evidence.weights[place] * reason.evidence.times for reason in reasons])


def mean(total: float, many: int, damping: float | None) -> float:
    """Of the evidence of a part, as a view takes it: the sum, or its mean as if so many more were silent."""
    if damping is None:
        return total
    return total / (many + damping) if many else 0.0
