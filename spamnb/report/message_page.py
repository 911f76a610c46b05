"""One HTML page on why a message is judged as it is; it needs no network, no font and no script."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from spamnb.inspection.explanation import Explanation
from spamnb.report.elements import Markup, document, element, joined, label, untrusted
from spamnb.report.formats import colour_of_label, colour_of_weight, count, share, signed
from spamnb.report.message_evidence import (
    changes_section,
    evidence_section,
    ignored_section,
    row_ids,
    sum_section,
)
from spamnb.report.message_text import message_section
from spamnb.report.svg import RIGHT, Linear, box, drawing, line, text
from spamnb.report.tokens_and_mistakes import PATH, SUBJECT

PROBABILITIES_SHOWN = 4  # those of the likeliest labels


def message_page(why: Explanation, path: str) -> str:
    """Make the page."""
    ids = row_ids(why)
    sections = (
        headlines(why),
        waterfall_section(why),
        message_section(why, ids),
        evidence_section(why, ids),
        sum_section(why),
        changes_section(why),
        ignored_section(why),
    )
    title = f"{why.verdict.label}: {why.message.get('subject') or path}"[:SUBJECT]
    return document(title, masthead(why, path), element("main", *sections), sheets=("message_page.css",))


def masthead(why: Explanation, path: str) -> Markup:
    verdict = element("b", label(why.verdict.label), class_=colour_of_label(why.verdict.label))
    subject = (why.message.get("subject") or "").strip()
    return element(
        "header",
        element("h1", verdict, ": ", untrusted(subject, SUBJECT) if subject else element("i", "no subject")),
        element("p", untrusted(path, PATH, ending=True), class_="path"),
    )


def headlines(why: Explanation) -> Markup:
    verdict = why.verdict
    likely = sorted(verdict.probabilities.items(), key=lambda item: -item[1])[:PROBABILITIES_SHOWN]
    ranked = [
        (" · " if index else None, label(name), " ", share(p)) for index, (name, p) in enumerate(likely)
    ]
    cards = (
        card("Score", signed(verdict.score), cutoffs(why)),
        card(f"Probability of {why.ranked_label}", share(verdict.probability), ranked),
        card(
            "Evidence",
            count(len(why.reasons)),
            f"of {count(len(why.features.tokens))} tokens and their pairs",
        ),
    )
    return element("section", element("dl", cards, class_="cards"), aria_label="Verdict")


def card(name: str, figure: str, meaning: object) -> Markup:
    return element(
        "div",
        element("dt", name),
        element("dd", figure, class_="figure"),
        element("dd", meaning, class_="meaning"),  # type: ignore[arg-type]
    )


def cutoffs(why: Explanation) -> str:
    if why.cutoffs is None:
        return "the likeliest label wins"
    if not isfinite(why.cutoffs.spam):
        return "too little mail was learned to decide"
    against, toward = why.sides
    return f"{against} up to {signed(why.cutoffs.ham)}, {toward} from {signed(why.cutoffs.spam)} on"


def waterfall_section(why: Explanation) -> Markup | None:
    if not why.is_finite or not why.reasons:
        return None
    words = "Each bar begins where the one above ended; dashed are the cutoffs. The last bar is the sum."
    return element(
        "section",
        element("h2", "From prior to verdict"),
        element("figure", waterfall(why), element("figcaption", words)),
    )


MOST_TOKENS = 16  # with a row each; of more, places of the message have rows
NAME_LENGTH = 24  # characters of a token
BARS_LEFT = 150  # x where the bars may begin
TOP, ROW = 34, 17  # units above the first row, and of the height of a row


class Step(NamedTuple):
    """A row of the plot: a token or a place of the message, and what it adds."""

    name: str
    adds: float


def waterfall(why: Explanation) -> Markup:
    """Plot what each step adds, for sums that are finite."""
    rows = steps(why)
    sums = [0.0]
    for step in rows:
        sums.append(sums[-1] + step.adds)
    marks = [cut for cut in (why.cutoffs.ham, why.cutoffs.spam) if abs(cut) < 1e6] if why.cutoffs else []
    x = fitting_scale([*sums, *marks])
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
        *(bar(row, step, sums[row], x, why) for row, step in enumerate(rows)),
        result(why, len(rows), x),
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
    room = max(high - low, 1e-6) / 5  # for a figure at the end of the longest bar
    return Linear(low - room, high + room, BARS_LEFT, RIGHT)


def bar(row: int, step: Step, before: float, x: Linear, why: Explanation) -> Markup:
    after = before + step.adds
    name = step.name if len(step.name) <= NAME_LENGTH else step.name[: NAME_LENGTH - 1] + "…"
    y = TOP + ROW * row
    return joined(
        text(BARS_LEFT - 8, y + 11, name, "end", "name"),
        line(x.at(after), y + 2, x.at(after), y + ROW + 2, "rule"),
        block(
            row,
            x.at(before),
            x.at(after),
            colour_of_weight(why, step.adds),
            f"{step.name}: {signed(step.adds)}",
        ),
        figure(row, x.at(before), x.at(after), signed(step.adds), "small"),
    )


def result(why: Explanation, row: int, x: Linear) -> Markup:
    return joined(
        text(BARS_LEFT - 8, TOP + ROW * row + 11, "sum", "end", "word"),
        block(row, x.at(0), x.at(why.lead), "quiet", f"sum: {signed(why.lead)}"),
        figure(row, x.at(0), x.at(why.lead), signed(why.lead), "word"),
    )


def block(row: int, start: float, end: float, colour: str, tip: str) -> Markup:
    return box(min(start, end), TOP + ROW * row + 2, max(abs(end - start), 0.6), ROW - 5, colour, tip)


def figure(row: int, start: float, end: float, words: str, class_: str) -> Markup:
    """Write a figure at the end of a bar, whichever way it points."""
    y = TOP + ROW * row + 11
    return (
        text(end + 3, y, words, "start", class_) if end >= start else text(end - 3, y, words, "end", class_)
    )
