"""One HTML page on why a message is judged as it is; it needs no network, no font and no script."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from spamnb.bayes.cutoffs import not_spam
from spamnb.files import counted
from spamnb.inspection.explanation import Explanation, hidden_words, ignored_headers, ignored_parts
from spamnb.inspection.flips import Flip
from spamnb.inspection.reason import Reason
from spamnb.report.elements import (
    Markup,
    document,
    element,
    joined,
    label,
    row,
    scrolling,
    table,
    titled,
    untrusted,
)
from spamnb.report.formats import colour_of_label, colour_of_weight, count, share, signed
from spamnb.report.message_text import message_section
from spamnb.report.svg import RIGHT, Linear, box, drawing, line, text
from spamnb.report.tokens_and_mistakes import PATH, SUBJECT, TOKEN

PROBABILITIES_SHOWN = 4  # those of the likeliest labels


def message_page(why: Explanation, path: str) -> str:
    """Make the page."""
    title = f"{why.verdict.label}: {why.message.get('subject') or path}"[:SUBJECT]
    main = element("main", *message_sections(why))
    return document(title, masthead(why, path), main, sheets=("message_page.css",))


def message_sections(why: Explanation, *after_message: Markup | None) -> tuple[Markup | None, ...]:
    """Make the sections of a page about a message, with more of them below its text."""
    ids = row_ids(why)
    return (
        headlines(why),
        waterfall_section(why),
        message_section(why, ids),
        *after_message,
        evidence_section(why, ids),
        sum_section(why),
        changes_section(why),
        ignored_section(why),
    )


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
    if why.verdict.reason:
        return f"decided by the list of senders, not by the score: {why.verdict.reason}"
    if why.cutoffs is None:
        return "the likeliest label wins"
    if not isfinite(why.cutoffs.spam):
        return "too little mail was learned to decide"
    other, limits = not_spam(why.model.labels), why.cutoffs
    said = f"{other} up to {signed(limits.ham)}, spam from {signed(limits.spam)} on"
    return said + (
        f"; another label if {signed(why.cutoffs.margin)} ahead" if len(why.model.labels) > 2 else ""
    )


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
    marks = [cut for cut in why.limits if abs(cut) < 1e6]
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


SHOWN, MOST = 12, 500  # tokens of a place: shown at once, and once unfolded
LISTED = 200  # ignored tokens of a kind, at most


def row_ids(why: Explanation) -> dict[str, str]:
    """Number the rows of tokens: the id of each, by token."""
    listed = [reason for reasons in why.by_place().values() for reason in reasons[:MOST]]
    tokens = [reason.token for reason in listed if not reason.is_number]
    return {token: f"e{serial}" for serial, token in enumerate(tokens)}


def evidence_section(why: Explanation, ids: Mapping[str, str]) -> Markup:
    against, toward = why.sides
    words = (
        f"Messages that have each token, and how much likelier it is in {toward} than in {against}, "
        "as a natural logarithm: its weight. What it adds is its part of the sum."
    )
    largest = max((abs(reason.adds) for reason in why.reasons), default=0.0)
    places = [place_table(why, name, reasons, ids, largest) for name, reasons in why.by_place().items()]
    return element(
        "section",
        element("h2", "Evidence by part"),
        element("p", words if places else "Nothing in this message tells the labels apart.", class_="lead"),
        element("div", places, class_="tables"),
    )


def place_table(
    why: Explanation, name: str, reasons: Sequence[Reason], ids: Mapping[str, str], largest: float
) -> Markup | None:
    columns = ("token", *(f"in {label}" for label in why.column_labels), "weight", "adds", "")
    rows = [reason_row(why, reason, ids.get(reason.token), largest) for reason in reasons[:MOST]]
    total = signed(sum(reason.adds for reason in reasons))
    title = f"{name.capitalize()}: {counted(len(reasons), 'token')}, {total}"
    shown = titled(title, table(columns, rows[:SHOWN]))
    if len(rows) <= SHOWN:
        return shown
    left_out = f", {count(len(reasons) - MOST)} more are not on this page" if len(reasons) > MOST else ""
    return joined(
        shown,
        element(
            "details",
            element("summary", f"{count(len(rows) - SHOWN)} more{left_out}"),
            scrolling(f"{name}: more", table(columns, rows[SHOWN:])),
        ),
    )


def reason_row(why: Explanation, reason: Reason, id_: str | None, largest: float) -> Markup:
    label_indexes = [why.model.labels.index(name) for name in why.column_labels]
    times = f" ×{reason.evidence.times:.3g}" if reason.evidence.times != 1 else None
    width = min(100.0, 100 * abs(reason.adds) / largest) if 0 < largest < float("inf") else 0.0
    return element(
        "tr",
        element("th", element("code", untrusted(reason.token, TOKEN)), times, scope="row"),
        [element("td", count(reason.row[k])) for k in label_indexes],
        element("td", signed(reason.weight)),
        element("td", f"{reason.adds:+.4f}".replace("-", "−")),
        element(
            "td",
            element("i", class_=f"bar {colour_of_weight(why, reason.adds)}", style=f"width:{width:.1f}%"),
            aria_hidden="true",
        ),
        id=id_,
    )


def sum_section(why: Explanation) -> Markup:
    """Show the lead as a sum that can be checked."""
    if not why.is_finite:
        body: Markup = element(
            "p", "There is none: without smoothing, a count of zero means never.", class_="lead"
        )
        return element("section", element("h2", "The sum"), body)
    rows = [
        row(name, None, None, f"{adds:+.4f}")
        for name, adds in (("prior", why.prior), ("words that are absent", why.absent))
        if adds
    ]
    for part in why.part_sums:
        divided = (
            None if part.divisor == 1 else f"{count(part.tokens)} + {part.divisor - part.tokens:g} silent"
        )
        rows.append(row(part.name, f"{part.weight:+.3f}", divided, f"{part.adds:+.4f}"))
    against, toward = why.sides
    name = "score" if why.lead == why.verdict.score else f"{toward} ahead of {against} by"
    rows.append(row(name, None, None, f"{why.lead:+.4f}"))
    summed = table(("part", "weights", "divided by", "adds"), rows, "sum")
    return element("section", element("h2", "The sum"), scrolling("The sum", summed))


def changes_section(why: Explanation) -> Markup:
    if why.flips:
        listed: Markup = joined([flip_text(flip) for flip in why.flips])
    else:
        listed = element(
            "p", "Nothing that it could lack. Other words would have to be in it.", class_="lead"
        )
    return element("section", element("h2", "What would change the verdict"), listed)


def flip_text(flip: Flip) -> Markup:
    """Name the fewest tokens without which the verdict is another one."""
    return element(
        "div",
        element(
            "p",
            element("b", label(flip.verdict)),
            f", score {signed(flip.score)}, without these {counted(len(flip.without), 'token')}:",
        ),
        token_list(flip.without),
        class_="flip",
    )


def ignored_section(why: Explanation) -> Markup:
    hidden = hidden_words(why.features)
    weak = [f"{token.token} {signed(token.weight)}" for token in why.weak[:LISTED]]
    headers = ignored_headers(why.message, why.model.settings.headers)
    parts = ignored_parts(why.message)
    kinds: tuple[tuple[str, int, Iterable[str]], ...] = (
        ("unknown: in no message learned", len(why.unknown), why.unknown),
        (f"weak: less than {why.model.view.least_evidence:g} nats", len(why.weak_rows), weak),
        ("pairs of neighbours, unknown or weak", why.ignored_pairs, ()),
        ("words hidden from the reader: they count as hidden only", len(hidden), hidden),
        (
            "headers that are not read",
            len(headers),
            (f"{name}: {reason}" for name, reason in headers.items()),
        ),
        ("parts that are not read", len(parts), (f"{name}: {reason}" for name, reason in parts.items())),
    )
    listed = [ignored_tokens(name, total, list(examples)) for name, total, examples in kinds if total]
    return element(
        "section", element("h2", "What was ignored"), listed or element("p", "Nothing.", class_="lead")
    )


def ignored_tokens(name: str, total: int, examples: Sequence[str]) -> Markup:
    heading = f"{count(total)} {name}"
    if not examples:
        return element("p", heading)
    return element("details", element("summary", heading), token_list(examples, total))


def token_list(tokens: Sequence[str], total: int | None = None) -> Markup:
    more = (len(tokens) if total is None else total) - LISTED
    return element(
        "ul",
        [element("li", element("code", untrusted(token, TOKEN))) for token in tokens[:LISTED]],
        element("li", f"and {count(more)} more") if more > 0 else None,
        class_="evidence quiet",
    )
