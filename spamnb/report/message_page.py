"""One HTML page on why a message is judged as it is; it needs no network, no font and no script."""

from __future__ import annotations

from math import isfinite

from spamnb.inspection.explanation import Explanation
from spamnb.report.colours import colour_of_label
from spamnb.report.document import document
from spamnb.report.elements import Markup, element, label, untrusted
from spamnb.report.formats import count, share, signed
from spamnb.report.message_evidence import (
    changes_section,
    evidence_section,
    ignored_section,
    row_ids,
    sum_section,
)
from spamnb.report.message_text import message_section
from spamnb.report.tokens_and_mistakes import PATH, SUBJECT
from spamnb.report.waterfall import waterfall

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
