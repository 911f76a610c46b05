"""Scales, axes and shapes of plots that fit any width.

Drawings are 360 units wide, like a phone; on wider screens the style sheet makes their text smaller.
"""

from collections.abc import Callable, Iterable
from math import ceil, floor, log10
from typing import NamedTuple

from spamnb.pages.elements import Markup, attribute_text, element, joined
from spamnb.pages.formats import tick

WIDTH, HEIGHT = 360, 270
LEFT, RIGHT, TOP, BOTTOM = 40, 344, 26, 228  # the frame of a plot
ACROSS, UPWARD = (LEFT, RIGHT), (BOTTOM, TOP)  # start and end of scales
ZERO_GAP = 0.4  # distance, in decades, of zero from the lowest power of ten of a logarithmic axis


class Linear(NamedTuple):
    """A linear scale, from values to units of a drawing."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        step = round_step((self.high - self.low) / 5)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [float(f"{step * number:.10g}") + 0.0 for number in range(first, last + 1)]


class Logarithmic(NamedTuple):
    """A logarithmic scale between two powers of ten; zero is a little below the lower one."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        decades = log10(self.high / self.low) + ZERO_GAP
        above = log10(value / self.low) + ZERO_GAP if value > 0 else 0.0
        return self.start + (self.end - self.start) * max(above, 0.0) / decades

    @property
    def ticks(self) -> list[float]:
        low, high = round(log10(self.low)), round(log10(self.high))
        return [0.0, *(float(f"1e{power}") for power in range(low, high + 1))]


Scale = Linear | Logarithmic


def round_step(step: float) -> float:
    """Round up to the next of 1, 2, 5, 10, 20, 50 and so on."""
    power: float = 10.0 ** floor(log10(step))
    return next(round_ * power for round_ in (1, 2, 5, 10) if round_ * power >= step * (1 - 1e-9))


def power_below(value: float) -> float:
    power: float = 10.0 ** floor(log10(value) + 1e-9)
    return power


def drawing(name: str, title: str, description: str, *children: Markup, height: float = HEIGHT) -> Markup:
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        children,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


Ticks = Iterable[float] | None  # marks of an axis; None for those of its scale
Form = Callable[[float], str]


def x_axis(scale: Scale, name: str, ticks: Ticks = None, form: Form = tick) -> Markup:
    """Draw the axis below the plot, with its name."""
    marks = [
        (line(x, BOTTOM, x, BOTTOM + 4, "rule"), text(x, BOTTOM + 16, form(value)))
        for value in (scale.ticks if ticks is None else ticks)
        for x in [scale.at(value)]
    ]
    axis = line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    return joined(axis, marks, text(RIGHT, BOTTOM + 33, name, "end", "name"))


def y_axis(scale: Scale, name: str, ticks: Ticks = None) -> Markup:
    """Draw the axis at the left: lines across the plot, their values, and the name of the axis above."""
    marks = [
        (line(LEFT, y, RIGHT, y, "rule"), text(LEFT - 6, y + 3.5, tick(abs(value)), "end"))
        for value in (scale.ticks if ticks is None else ticks)
        for y in [scale.at(value)]
    ]
    return joined(marks, text(0, 11, name, "start", "name"))


def clipped(*children: Markup) -> Markup:
    """Put shapes into an inner <svg>, which hides what is outside the frame of the plot."""
    width, height = RIGHT - LEFT, BOTTOM - TOP
    return element(
        "svg",
        children,
        x=LEFT,
        y=TOP,
        width=width,
        height=height,
        viewBox=f"{LEFT} {TOP} {width} {height}",
        aria_hidden="true",
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def path(points: Iterable[tuple[float, float]], class_: str) -> Markup:
    d = " ".join(f"{attribute_text(x)},{attribute_text(y)}" for x, y in points)
    return element("polyline", points=d, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str, title: str | None = None) -> Markup:
    label = element("title", title) if title else None
    return element("rect", label, x=x, y=y, width=width, height=height, class_=class_)


def dot(x: float, y: float, radius: float, class_: str, title: str | None = None) -> Markup:
    return element("circle", element("title", title) if title else None, cx=x, cy=y, r=radius, class_=class_)


def text(x: float, y: float, words: str, anchor: str = "middle", class_: str | None = None) -> Markup:
    return element("text", words, x=x, y=y, text_anchor=None if anchor == "start" else anchor, class_=class_)


def legend(lines: Iterable[tuple[str, str]]) -> Markup:
    """List the names of lines, each beside a sample of the line; `lines`: (name, class in style sheet)."""
    drawn = [
        (element("svg", line(0, 5, 26, 5, class_), viewBox="0 0 26 10", aria_hidden="true"), name)
        for name, class_ in lines
    ]
    return element("ul", [element("li", *each) for each in drawn], class_="legend")
