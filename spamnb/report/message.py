"""Why a message is judged as it is, as one HTML page that needs no network, no font and no script."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from spamnb.bayes.verdict import SPAM
from spamnb.report.document import document
from spamnb.report.elements import Markup, element, foreign, label
from spamnb.report.evidence import PATH, SUBJECT, colour
from spamnb.report.figures import count, share, signed
from spamnb.report.reasons import changes, evidence, ignored, row_ids, sums
from spamnb.report.tinted import message
from spamnb.report.waterfall import waterfall

if TYPE_CHECKING:
    from spamnb.inspection import Explanation

PROBABLE = 4  # labels whose probability is told


def explained(why: Explanation, path: str) -> str:
    """The page."""
    ids = row_ids(why)
    sections = (
        headlines(why),
        picture(why),
        message(why, ids),
        evidence(why, ids),
        sums(why),
        changes(why),
        ignored(why),
    )
    title = f"{why.verdict.label}: {why.message.get('subject') or path}"[:SUBJECT]
    return document(
        title, masthead(why, path), element("main", *sections), sheets=("style.css", "message.css")
    )


def masthead(why: Explanation, path: str) -> Markup:
    verdict = element("b", label(why.verdict.label), class_=colour(why.verdict.label))
    subject = (why.message.get("subject") or "").strip()
    return element(
        "header",
        element("h1", verdict, ": ", foreign(subject, SUBJECT) if subject else element("i", "no subject")),
        element("p", foreign(path, PATH, ending=True), class_="path"),
    )


def headlines(why: Explanation) -> Markup:
    verdict = why.verdict
    likely = sorted(verdict.probabilities.items(), key=lambda item: -item[1])[:PROBABLE]
    ranked = [
        (" · " if place else None, label(name), " ", share(p)) for place, (name, p) in enumerate(likely)
    ]
    cards = (
        card("Score", signed(verdict.score), cutoffs(why)),
        card(f"Probability of {ranked_label(why)}", share(verdict.probability), ranked),
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


def ranked_label(why: Explanation) -> str:
    """The label that score and probability are of."""
    return SPAM if SPAM in why.model.labels else why.verdict.label


def cutoffs(why: Explanation) -> str:
    if why.cutoffs is None:
        return "the likeliest label wins"
    if not isfinite(why.cutoffs.spam):
        return "too little mail was learned to decide"
    against, toward = why.sides
    return f"{against} up to {signed(why.cutoffs.ham)}, {toward} from {signed(why.cutoffs.spam)} on"


def picture(why: Explanation) -> Markup | None:
    if not why.is_finite or not why.reasons:
        return None
    words = "Each bar begins where the one above ended; dashed are the cutoffs. The last bar is the sum."
    return element(
        "section",
        element("h2", "From prior to verdict"),
        element("figure", waterfall(why), element("figcaption", words)),
    )
