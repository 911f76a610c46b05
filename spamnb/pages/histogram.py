"""A histogram of the scores of two groups of messages: bars above the axis and bars below it.

The number of messages has a logarithmic scale, so that a few on the wrong side of a cutoff can be seen.
"""

from collections.abc import Sequence
from math import log10
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array
from spamnb.pages.elements import Markup, joined
from spamnb.pages.formats import count, short, tick
from spamnb.pages.svg import BOTTOM, LEFT, RIGHT, TOP, Linear, box, drawing, line, round_step, text, x_axis

MAX_BARS = 50
MAX_SCORE = 1e12  # higher scores are drawn at the edge: a message that no label explains has 1.8e308
CHARACTER_WIDTH = 6.2  # of a drawing's text, about


class ScoreGroup(NamedTuple):
    """A group of messages: its name, scores and colour."""

    name: str
    scores: Array
    colour: str  # a class name of the style sheets


class Bins(NamedTuple):
    """Ranges of scores, starting at `low`, each `step` wide."""

    low: float
    step: float
    bin_count: int

    @property
    def high(self) -> float:
        return self.low + self.step * self.bin_count

    def counts(self, scores: Array) -> list[int]:
        """Count the messages in each bin; the first and last bin include messages beyond the axis."""
        indexes = np.clip((scores - self.low) / self.step, 0, self.bin_count - 1).astype(int)
        counts: list[int] = np.bincount(indexes, minlength=self.bin_count).tolist()
        return counts

    def edge(self, index: int) -> float:
        return round(self.low + index * self.step, 9)


class MirroredScale(NamedTuple):
    """A logarithmic scale of counts: upwards for positive counts, downwards for negative ones."""

    middle: float
    unit: float

    def at(self, messages: int) -> float:
        return self.middle - (1 if messages > 0 else -1) * self.unit * log10(1 + abs(messages))


def histogram(
    upper: ScoreGroup, lower: ScoreGroup, cutoffs: tuple[float, float] | None
) -> tuple[Markup, bool]:
    """Draw a histogram of two groups of messages; also return whether some scores are beyond the axis."""
    scores = [np.clip(group.scores, -MAX_SCORE, MAX_SCORE) for group in (upper, lower)]
    marks = [min(max(at, -MAX_SCORE), MAX_SCORE) for at in cutoffs or ()]
    bins = fitting_bins(np.concatenate(scores), marks)
    up, down = (bins.counts(group_scores) for group_scores in scores)
    most = max(10, *up, *down)
    top = TOP + 18  # below the names of the cutoffs
    y = MirroredScale((top + BOTTOM) / 2, (BOTTOM - top) / 2 / log10(1 + most))
    x = Linear(bins.low, bins.high, LEFT, RIGHT)
    beyond = any(bool(((each < bins.low) | (each > bins.high)).any()) for each in scores)
    return drawing(
        "scores",
        f"Scores of {upper.name} and {lower.name}",
        f"Messages on a logarithmic scale: {count(len(scores[0]))} {upper.name} upwards, "
        f"{count(len(scores[1]))} {lower.name} downwards.",
        unsure_band(x, marks),
        count_axis(y, most),
        *bars(x, y, bins, up, upper),
        *bars(x, y, bins, [-messages for messages in down], lower),
        line(LEFT, y.middle, RIGHT, y.middle, "axis"),
        *(
            cutoff(x, at, group.name, lowest=group is upper)
            for at, group in zip(marks, (upper, lower), strict=False)
            if bins.low <= at <= bins.high
        ),
        text(RIGHT, y.at(most) + 12, upper.name, "end", f"word {upper.colour}"),
        text(LEFT + 3, y.at(-most) - 5, lower.name, "start", f"word {lower.colour}"),
        x_axis(x, "score"),
    ), beyond


def fitting_bins(scores: Array, marks: Sequence[float]) -> Bins:
    """Choose bins for the scores, except a few that are far away, and for the cutoffs (`marks`) near them."""
    tails = np.percentile(scores, (0, 0.5, 99.5, 100)).tolist() if len(scores) else [0.0] * 4
    low, high = (tails[0], tails[3]) if tails[3] - tails[0] <= 3 * (tails[2] - tails[1]) else tails[1:3]
    width = max(high - low, 0.5, abs(low) / 1000)
    near = [at for at in marks if low - width <= at <= high + width]
    low, high = min([low, *near]), max([low + width, *near])
    step = round_step((high - low) / (MAX_BARS - 1))
    first, last = int(np.floor(low / step)), int(np.floor(high / step)) + 1
    return Bins(first * step, step, last - first)


def count_axis(y: MirroredScale, most: int) -> Markup:
    powers = [10**power for power in range(1, len(str(most)))]
    shown = powers if len(powers) < 4 else powers[-1::-2]  # three fit
    marks = [
        (
            line(LEFT, y.at(messages), RIGHT, y.at(messages), "rule"),
            text(LEFT - 6, y.at(messages) + 3.5, short(abs(messages)), "end"),
        )
        for power in shown
        for messages in (power, -power)
    ]
    zero = text(LEFT - 6, y.middle + 3.5, "0", "end")
    return joined(text(0, 11, "messages", "start", "name"), zero, marks)


def bars(x: Linear, y: MirroredScale, bins: Bins, counts: Sequence[int], group: ScoreGroup) -> list[Markup]:
    width = (RIGHT - LEFT) / bins.bin_count
    drawn = []
    for index, messages in enumerate(counts):
        if messages:
            left, top = x.at(bins.low + index * bins.step) + 0.3, min(y.at(messages), y.middle)
            scores = f"{tick(bins.edge(index))} to {tick(bins.edge(index + 1))}"
            tip = f"{count(abs(messages))} {group.name}: {scores}"
            drawn.append(box(left, top, width - 0.6, abs(y.at(messages) - y.middle), group.colour, tip))
    return drawn


def unsure_band(x: Linear, marks: Sequence[float]) -> Markup:
    """Shade the range of scores with unsure verdicts, between the two cutoffs (`marks`)."""
    if not marks:
        return Markup()
    left, right = (x.at(min(max(at, x.low), x.high)) for at in marks)
    return box(left, TOP, max(right - left, 0), BOTTOM - TOP, "unsure", "unsure")


def cutoff(x: Linear, at: float, name: str, *, lowest: bool) -> Markup:
    """Draw a line for a cutoff, and a name; near the edge, put the name lower and on the other side."""
    words = f"← {name} {tick(round(at, 2))}" if lowest else f"{tick(round(at, 2))} {name} →"
    line_x = x.at(at)
    fits = (line_x - LEFT if lowest else RIGHT - line_x) > CHARACTER_WIDTH * len(words)
    left = lowest if fits else not lowest
    beside = (line_x - 4, "end") if left else (line_x + 4, "start")
    return joined(
        line(line_x, TOP - 4, line_x, BOTTOM, "cutoff"),
        text(beside[0], TOP + (4 if fits else 16), words, beside[1], "small"),
    )
