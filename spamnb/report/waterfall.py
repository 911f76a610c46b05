"""From the prior to the verdict: what each token or each place of the message adds, one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spamnb.bayes.verdict import SPAM
from spamnb.report.elements import Markup, joined
from spamnb.report.figures import count, signed
from spamnb.report.svg import RIGHT, Linear, box, drawing, line, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.inspection import Explanation

MOST = 16  # tokens that have a row each
NAME = 24  # characters of each
START = 150  # where the bars may begin
TOP, ROW = 34, 17  # units above the first row, and of each


class Step(NamedTuple):
    name: str
    adds: float


def waterfall(why: Explanation) -> Markup:
    """For sums that are finite."""
    rows = steps(why)
    sums = [0.0]
    for step in rows:
        sums.append(sums[-1] + step.adds)
    marks = [cut for cut in (why.cutoffs.ham, why.cutoffs.spam) if abs(cut) < 1e6] if why.cutoffs else []
    x = fitting([*sums, *marks])
    bottom = TOP + ROW * (len(rows) + 1)
    against, toward = why.sides
    return drawing(
        "waterfall",
        f"From nothing to {signed(why.lead)}",
        f"What the evidence adds, right for {toward}, left for {against}; the last bar is their sum.",
        line(x.at(0), TOP - 6, x.at(0), bottom, "axis"),
        *(line(x.at(cut), TOP - 6, x.at(cut), bottom, "cutoff") for cut in marks),
        text(x.at(0) - 4, TOP - 12, f"← {against}", "end", "small"),
        text(x.at(0) + 4, TOP - 12, f"{toward} →", "start", "small"),
        *(bar(place, step, sums[place], x, why) for place, step in enumerate(rows)),
        result(why, len(rows), x),
        height=bottom + 8,
    )


def steps(why: Explanation) -> list[Step]:
    """The prior and its like, then each token; of more than fit, each place of the message."""
    own = [Step("prior", why.prior), Step("absent words", why.absent)]
    rows = [Step(one.token, one.adds) for one in why.reasons]
    if len(rows) > MOST:
        rows = [
            Step(f"{place} ({count(len(reasons))})", sum(one.adds for one in reasons))
            for place, reasons in why.by_place().items()
        ]
    return [step for step in own if step.adds] + rows


def fitting(values: Sequence[float]) -> Linear:
    low, high = min(values), max(values)
    room = max(high - low, 1e-6) / 5  # for a figure at the end of the longest bar
    return Linear(low - room, high + room, START, RIGHT)


def bar(place: int, step: Step, before: float, x: Linear, why: Explanation) -> Markup:
    after = before + step.adds
    name = step.name if len(step.name) <= NAME else step.name[: NAME - 1] + "…"
    y = TOP + ROW * place
    return joined(
        text(START - 8, y + 11, name, "end", "name"),
        line(x.at(after), y + 2, x.at(after), y + ROW + 2, "rule"),
        block(place, x.at(before), x.at(after), side(why, step.adds), f"{step.name}: {signed(step.adds)}"),
        figure(place, x.at(before), x.at(after), signed(step.adds), "small"),
    )


def result(why: Explanation, place: int, x: Linear) -> Markup:
    return joined(
        text(START - 8, TOP + ROW * place + 11, "sum", "end", "word"),
        block(place, x.at(0), x.at(why.lead), "quiet", f"sum: {signed(why.lead)}"),
        figure(place, x.at(0), x.at(why.lead), signed(why.lead), "word"),
    )


def block(place: int, start: float, end: float, kind: str, said: str) -> Markup:
    return box(min(start, end), TOP + ROW * place + 2, max(abs(end - start), 0.6), ROW - 5, kind, said)


def figure(place: int, start: float, end: float, words: str, kind: str) -> Markup:
    """At the end of a bar, whichever way it points."""
    y = TOP + ROW * place + 11
    return text(end + 3, y, words, "start", kind) if end >= start else text(end - 3, y, words, "end", kind)


def side(why: Explanation, adds: float) -> str:
    """The colour of what speaks for spam, or else for the label in the lead; and that of the other side."""
    warm = why.sides[adds > 0] == SPAM if SPAM in why.sides else adds > 0
    return "spam" if warm else "ham"
