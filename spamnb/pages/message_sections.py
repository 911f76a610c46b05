"""The page that explains a verdict, and the page's sections: one file that needs no scripts or network."""

from collections.abc import Mapping, Sequence

from spamnb.files import counted
from spamnb.inspection.explanation import Explanation, IgnoredKind
from spamnb.inspection.reason import Reason
from spamnb.labels import plain_label
from spamnb.pages.colours import colour_of_label, colour_of_weight
from spamnb.pages.elements import Markup, element, joined, untrusted
from spamnb.pages.formats import count, share, signed
from spamnb.pages.message_text import message_section
from spamnb.pages.parts import (
    SHEETS,
    SUBJECT,
    card,
    document,
    intro_text,
    label_text,
    path_text,
    row,
    scrolling,
    section,
    subject_text,
    table,
    titled,
    token_text,
)

MAX_PROBABILITIES = 4  # those of the likeliest labels
SHOWN, MAX_TOKENS = 12, 500  # tokens of a place: shown at once, and when opened
MAX_REASON = 120  # characters
MAX_IGNORED = 200  # tokens of a kind


def message_page(why: Explanation, path: str) -> str:
    """Make the HTML page that explains the verdict on a message."""
    subject = why.message.get("subject") or ""
    masthead = element(
        "header",
        element("h1", subject_text(subject)),
        element("p", path_text(path), class_="path"),
        sentence_text(why),
    )
    title = f"{plain_label(why.verdict.label)}: {subject or path}"[:SUBJECT]
    return document(title, masthead, *message_sections(why), sheets=SHEETS)


def message_sections(why: Explanation, *details: Markup) -> tuple[Markup | None, ...]:
    """Make the sections of a page about a message; the last one (`details` and numbers) starts out closed."""
    ids = row_ids(why)
    return (
        message_section(why, ids),
        reasons_section(why),
        element(
            "details",
            element("summary", "Details"),
            *details,
            headlines(why),
            evidence_section(why, ids),
            sum_section(why),
            ignored_section(why),
            class_="numbers",
        ),
    )


def sentence_text(why: Explanation) -> Markup:
    """Show the verdict and the reason for it, in a sentence."""
    verdict, colon, because = why.sentence.partition(":")
    colour = colour_of_label(why.verdict.label)
    return element("p", element("b", label_text(verdict), class_=colour), colon, because, class_="sentence")


def reasons_section(why: Explanation) -> Markup | None:
    """List the strongest reasons in words, each in the colour of its label."""
    items = [
        element(
            "li",
            element("span", untrusted(reason.text, MAX_REASON), class_=colour_of_label(reason.label)),
            " ",
            element("span", reason.counts, class_="span"),
        )
        for reason in why.in_words
    ]
    return section("Strongest reasons", None, element("ul", items, class_="reasons")) if items else None


def headlines(why: Explanation) -> Markup:
    verdict = why.verdict
    likely = sorted(verdict.probabilities.items(), key=lambda item: -item[1])[:MAX_PROBABILITIES]
    ranked = [(" · " if at else None, label_text(name), " ", share(p)) for at, (name, p) in enumerate(likely)]
    of_tokens = f"tokens, word pairs and byte runs; the message has {count(len(why.features.tokens))} tokens"
    cards = (
        card("Score", signed(verdict.score), why.rule(plain_label)),
        card(f"Probability of {why.ranked_label}", share(verdict.probability), ranked),
        card("Evidence", count(len(why.reasons)), of_tokens),
    )
    return element("section", element("dl", cards, class_="cards"), aria_label="Verdict")


def row_ids(why: Explanation) -> dict[str, str]:
    """Return a dict: for each token, the HTML id of the token's row in the tables of evidence."""
    listed = [reason for reasons in why.by_place().values() for reason in reasons[:MAX_TOKENS]]
    tokens = [reason.token for reason in listed if not reason.is_number]
    return {token: f"e{serial}" for serial, token in enumerate(tokens)}


def evidence_section(why: Explanation, ids: Mapping[str, str]) -> Markup:
    against, toward = map(plain_label, why.sides)
    words = (
        "How many messages have each token; its weight, the natural logarithm of how many times likelier it "
        f"is in {toward} than in {against}; and what it adds to the sum."
    )
    largest = max((abs(reason.adds) for reason in why.reasons), default=0.0)
    left = dict(ids)  # each id may be used once
    places = [place_table(why, name, reasons, left, largest) for name, reasons in why.by_place().items()]
    intro = words if places else "No part of this message is evidence for either label."
    return section("Evidence by part", intro, element("div", places, class_="tables"))


def place_table(
    why: Explanation, name: str, reasons: Sequence[Reason], ids: dict[str, str], largest: float
) -> Markup | None:
    columns = ("token", *map(plain_label, why.column_labels), "weight", "adds", "")
    rows = [reason_row(why, reason, ids.pop(reason.token, None), largest) for reason in reasons[:MAX_TOKENS]]
    total = signed(sum(reason.adds for reason in reasons))
    title = f"{name.capitalize()}: {counted(len(reasons), 'token')}, {total}"
    shown = titled(title, table(columns, rows[:SHOWN]))
    if len(rows) <= SHOWN:
        return shown
    left_out = (
        f", {count(len(reasons) - MAX_TOKENS)} more are not on this page" if len(reasons) > MAX_TOKENS else ""
    )
    summary = element("summary", f"{count(len(rows) - SHOWN)} more{left_out}")
    more = scrolling(f"{name}: more", table(columns, rows[SHOWN:]))
    return joined(shown, element("details", summary, more))


def reason_row(why: Explanation, reason: Reason, id_: str | None, largest: float) -> Markup:
    label_indexes = [why.model.labels.index(name) for name in why.column_labels]
    times = f" ×{reason.evidence.times:.3g}" if reason.evidence.times != 1 else None
    width = min(100.0, 100 * abs(reason.adds) / largest) if 0 < largest < float("inf") else 0.0
    bar = element("i", class_=f"bar {colour_of_weight(why, reason.adds)}", style=f"width:{width:.1f}%")
    return element(
        "tr",
        element("th", token_text(reason.token), times, scope="row"),
        [element("td", reason.count_text(k)) for k in label_indexes],
        element("td", signed(reason.weight)),
        element("td", signed(reason.adds, 4)),
        element("td", bar, aria_hidden="true"),
        id=id_,
    )


def sum_section(why: Explanation) -> Markup:
    """Show how the lead of one label over the other is added up."""
    if not why.is_finite:
        return section("The sum", "The sum is infinite: without smoothing, a count of zero means never.")
    rows = [
        row(one.name, None if one.weight is None else signed(one.weight, 3), one.divisor, signed(one.adds, 4))
        for one in why.sum_rows(plain_label)
    ]
    summed = table(("part", "weights", "divided by", "adds"), rows, "sum")
    return section("The sum", None, scrolling("The sum", summed))


def ignored_section(why: Explanation) -> Markup:
    listed = [ignored_tokens(kind) for kind in why.ignored(MAX_IGNORED)]
    return section("What was ignored", None, listed or intro_text("Nothing."))


def ignored_tokens(kind: IgnoredKind) -> Markup:
    title = f"{count(kind.total)} {kind.name}: {kind.why}"
    if not kind.examples:
        return element("p", title)
    items = [element("li", token_text(token)) for token in kind.examples]
    more = element("li", f"and {count(kind.total - MAX_IGNORED)} more") if kind.total > MAX_IGNORED else None
    return element("details", element("summary", title), element("ul", items, more, class_="evidence quiet"))
