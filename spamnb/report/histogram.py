"""The scores of two kinds of messages on one axis: one kind rises from it, the other hangs below.

Messages are counted on a logarithmic scale, because the few on the wrong side are the ones to see.
"""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.report.elements import Markup, joined
from spamnb.report.figures import count, short, tick
from spamnb.report.svg import BOTTOM, LEFT, RIGHT, TOP, Linear, across, box, drawing, line, nice, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.tables.count_table import Array

BARS = 50  # at most
FARTHEST = 1e12  # beyond it a score is drawn at the edge: one that no label explains is 1.8e308
CHARACTER = 6.2  # its width in a drawing, about


class Kind(NamedTuple):
    """Messages to be drawn: their name, scores, and colour."""

    name: str
    scores: Array
    colour: str


class Bars(NamedTuple):
    """The bars of an axis: from `low` on, each `step` wide."""

    low: float
    step: float
    many: int

    @property
    def high(self) -> float:
        return self.low + self.step * self.many

    def heights(self, scores: Array) -> list[int]:
        """Messages in each; those beyond the axis are in the outermost."""
        places = np.clip((scores - self.low) / self.step, 0, self.many - 1).astype(int)
        heights: list[int] = np.bincount(places, minlength=self.many).tolist()
        return heights

    def edge(self, place: int) -> float:
        return round(self.low + place * self.step, 9)


class Mirror(NamedTuple):
    """Counts upwards and, negative, downwards."""

    middle: float
    unit: float

    def at(self, many: int) -> float:
        return self.middle - (1 if many > 0 else -1) * self.unit * log10(1 + abs(many))


def histogram(upper: Kind, lower: Kind, cutoffs: tuple[float, float] | None) -> tuple[Markup, bool]:
    """The drawing, and whether some scores lie beyond its axis."""
    scores = [np.clip(kind.scores, -FARTHEST, FARTHEST) for kind in (upper, lower)]
    marks = [min(max(at, -FARTHEST), FARTHEST) for at in cutoffs or ()]
    bars = fitting(np.concatenate(scores), marks)
    up, down = (bars.heights(own) for own in scores)
    most = max(10, *up, *down)
    top = TOP + 18
    y = Mirror((top + BOTTOM) / 2, (BOTTOM - top) / 2 / log10(1 + most))
    x = Linear(bars.low, bars.high, LEFT, RIGHT)
    beyond = any(bool(((own < bars.low) | (own > bars.high)).any()) for own in scores)
    return drawing(
        "scores",
        f"Scores of {upper.name} and {lower.name}",
        f"Messages on a logarithmic scale: {count(len(scores[0]))} {upper.name} upwards, "
        f"{count(len(scores[1]))} {lower.name} downwards.",
        unsure(x, marks),
        scale(y, most),
        *columns(x, y, bars, up, upper),
        *columns(x, y, bars, [-many for many in down], lower),
        line(LEFT, y.middle, RIGHT, y.middle, "axis"),
        *(
            cutoff(x, at, kind.name, lowest=kind is upper)
            for at, kind in zip(marks, (upper, lower), strict=False)
            if bars.low <= at <= bars.high
        ),
        text(RIGHT, y.at(most) + 12, upper.name, "end", f"word {upper.colour}"),
        text(LEFT + 3, y.at(-most) - 5, lower.name, "start", f"word {lower.colour}"),
        across(x, "score"),
    ), beyond


def fitting(scores: Array, marks: Sequence[float]) -> Bars:
    """An axis for all scores, unless a few lie far out, and for the cutoffs near them."""
    tails = np.percentile(scores, (0, 0.5, 99.5, 100)).tolist() if len(scores) else [0.0] * 4
    low, high = (tails[0], tails[3]) if tails[3] - tails[0] <= 3 * (tails[2] - tails[1]) else tails[1:3]
    width = max(high - low, 0.5, abs(low) / 1000)
    near = [at for at in marks if low - width <= at <= high + width]
    low, high = min([low, *near]), max([low + width, *near])
    step = nice((high - low) / (BARS - 1))
    first, last = int(np.floor(low / step)), int(np.floor(high / step)) + 1
    return Bars(first * step, step, last - first)


def scale(y: Mirror, most: int) -> Markup:
    powers = [10**power for power in range(1, len(str(most)))]
    shown = powers if len(powers) < 4 else powers[-1::-2]  # there is room for three
    return joined(
        text(0, 11, "messages", "start", "name"),
        text(LEFT - 6, y.middle + 3.5, "0", "end"),
        [
            (
                line(LEFT, y.at(many), RIGHT, y.at(many), "rule"),
                text(LEFT - 6, y.at(many) + 3.5, short(abs(many)), "end"),
            )
            for power in shown
            for many in (power, -power)
        ],
    )


def columns(x: Linear, y: Mirror, bars: Bars, heights: Sequence[int], kind: Kind) -> list[Markup]:
    width = (RIGHT - LEFT) / bars.many
    return [
        box(
            x.at(bars.low + place * bars.step) + 0.3,
            min(y.at(many), y.middle),
            width - 0.6,
            abs(y.at(many) - y.middle),
            kind.colour,
            f"{count(abs(many))} {kind.name}: {tick(bars.edge(place))} to {tick(bars.edge(place + 1))}",
        )
        for place, many in enumerate(heights)
        if many
    ]


def unsure(x: Linear, marks: Sequence[float]) -> Markup:
    """The band where verdicts are unsure."""
    if not marks:
        return Markup()
    left, right = (x.at(min(max(at, x.low), x.high)) for at in marks)
    return box(left, TOP, max(right - left, 0), BOTTOM - TOP, "unsure", "unsure")


def cutoff(x: Linear, at: float, name: str, *, lowest: bool) -> Markup:
    """A line, with its name on the side that it decides; near the edge on the other, and lower."""
    words = f"← {name} {tick(round(at, 2))}" if lowest else f"{tick(round(at, 2))} {name} →"
    place = x.at(at)
    room = (place - LEFT if lowest else RIGHT - place) > CHARACTER * len(words)
    left = lowest if room else not lowest
    return joined(
        line(place, TOP - 4, place, BOTTOM, "cutoff"),
        text(
            place - 4 if left else place + 4,
            TOP + (4 if room else 16),
            words,
            "end" if left else "start",
            "small",
        ),
    )
