"""The verdict as a plot: bars from the prior, token by token, to the sum."""

from collections.abc import Sequence
from typing import NamedTuple

from spamnb.inspection.explanation import Explanation
from spamnb.pages.colours import GREY, colour_of_weight
from spamnb.pages.elements import Markup, joined, shortened
from spamnb.pages.formats import count, signed
from spamnb.pages.parts import captioned, section
from spamnb.pages.svg import RIGHT, Linear, box, drawing, line, text

MOST_TOKENS = 16  # with a row each; of more, places of the message have rows
NAME_LENGTH = 24  # characters of a token
BARS_LEFT = 150  # x where the bars may begin
TOP, ROW = 34, 17  # units above the first row, and of the height of a row
FARTHEST_CUTOFF = 1e6  # that is drawn


class Step(NamedTuple):
    """A row of the plot: a token or a place of the message, and what it adds."""

    name: str
    adds: float


def waterfall_section(why: Explanation) -> Markup | None:
    if not why.is_finite or not why.reasons:
        return None
    words = "Each bar begins where the one above ended; dashed are the cutoffs. The last bar is the sum."
    return section("From prior to verdict", None, captioned(waterfall(why), words))


def waterfall(why: Explanation) -> Markup:
    """Plot what each step adds, for sums that are finite."""
    rows = steps(why)
    sums = [0.0]
    for step in rows:
        sums.append(sums[-1] + step.adds)
    marks = [cutoff for cutoff in why.limits if abs(cutoff) < FARTHEST_CUTOFF]
    x = fitting_scale([*sums, *marks])
    bottom = TOP + ROW * (len(rows) + 1)
    against, toward = why.sides
    return drawing(
        "waterfall",
        f"From nothing to {signed(why.lead)}",
        f"What the evidence adds, right for {toward}, left for {against}; the last bar is their sum.",
        line(x.at(0), TOP - 6, x.at(0), bottom, "axis"),
        *(line(x.at(cutoff), TOP - 6, x.at(cutoff), bottom, "cutoff") for cutoff in marks),
        text(x.at(0) - 4, TOP - 12, f"← {against}", "end", "small"),
        text(x.at(0) + 4, TOP - 12, f"{toward} →", "start", "small"),
        *(step_row(row, step, sums[row], x, why) for row, step in enumerate(rows)),
        text(BARS_LEFT - 8, TOP + ROW * len(rows) + 11, "sum", "end", "word"),
        bar(len(rows), x.at(0), x.at(why.lead), Step("sum", why.lead), GREY, "word"),
        height=bottom + 8,
    )


def steps(why: Explanation) -> list[Step]:
    """List the prior and its like, then each token; of more than fit, each place of the message."""
    before = [Step("prior", why.prior), Step("absent words", why.absent)]
    rows = [Step(reason.token, reason.adds) for reason in why.reasons]
    if len(rows) > MOST_TOKENS:
        rows = [
            Step(f"{place} ({count(len(reasons))})", sum(reason.adds for reason in reasons))
            for place, reasons in why.by_place().items()
        ]
    return [step for step in before if step.adds] + rows


def fitting_scale(values: Sequence[float]) -> Linear:
    low, high = min(values), max(values)
    room = max(high - low, 1e-6) / 3  # for a figure at the end of the longest bar
    return Linear(low - room, high + room, BARS_LEFT, RIGHT)


def step_row(row: int, step: Step, before: float, x: Linear, why: Explanation) -> Markup:
    y, start, end = TOP + ROW * row, x.at(before), x.at(before + step.adds)
    return joined(
        text(BARS_LEFT - 8, y + 11, shortened(step.name, NAME_LENGTH), "end", "name"),
        line(end, y + 2, end, y + ROW + 2, "rule"),
        bar(row, start, end, step, colour_of_weight(why, step.adds), "small"),
    )


def bar(row: int, start: float, end: float, step: Step, colour: str, class_: str) -> Markup:
    """Draw a bar, and write at its end what it adds, whichever way it points."""
    y, adds = TOP + ROW * row, signed(step.adds)
    figure_x, anchor = (end + 3, "start") if end >= start else (end - 3, "end")
    return joined(
        box(min(start, end), y + 2, max(abs(end - start), 0.6), ROW - 5, colour, f"{step.name}: {adds}"),
        text(figure_x, y + 11, adds, anchor, class_),
    )
