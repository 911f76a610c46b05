"""What speaks for the labels, and where it misled: telling tokens and the worst mistakes."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from spamnb.bayes.verdict import SPAM, UNSURE
from spamnb.report.elements import Markup, element, foreign, label
from spamnb.report.figures import count, signed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.evaluation.results import Mistake
    from spamnb.inspection.knowledge import Telling

SUBJECT, PATH, TOKEN = 160, 400, 60  # characters shown of each
MISTAKES, EVIDENCE, TOKENS = 100, 12, 50  # shown of each, which keeps a page under 300 KB
UNCOUNTED = 14  # nats: from a million times likelier on, nobody counts


def telling(tokens: Mapping[str, Sequence[Telling]]) -> Markup | None:
    largest = max((each.weight for own in tokens.values() for each in own), default=0.0)
    columns = [
        element(
            "div",
            element("h3", label(name)),
            element(
                "ol",
                [token(each, name, list(tokens), largest) for each in own[:TOKENS]],
                class_=f"tokens {colour(name)}",
            ),
        )
        for name, own in tokens.items()
        if own
    ]
    if not columns:
        return None
    words = "How many times likelier than in any other label, as a logarithmic bar, and in how many messages."
    return element(
        "section",
        element("h2", "Most telling tokens"),
        element("p", words, class_="lead"),
        element("div", columns, class_="telling"),
    )


def colour(name: str) -> str:
    return "spam" if name == SPAM else "quiet" if name == UNSURE else "ham"


def token(each: Telling, own: str, labels: Sequence[str], largest: float) -> Markup:
    held = [(many, name) for many, name in zip(each.messages, labels, strict=False) if many or name == own]
    width = 100 * max(each.weight, 0.0) / largest if largest > 0 else 0.0
    return element(
        "li",
        element("code", foreign(each.token, TOKEN)),
        element(
            "span",
            [
                (", " if place else None, count(many), " ", label(name))
                for place, (many, name) in enumerate(held)
            ],
            class_="span",
        ),
        element("span", likelier(each.weight), class_="times"),
        element("i", style=f"width:{width:.1f}%", class_="bar", aria_hidden="true"),
    )


def likelier(weight: float) -> str:
    if weight >= UNCOUNTED:
        return "×1,000,000+"
    ratio = exp(weight)
    return f"×{ratio:,.0f}" if ratio >= 10 else f"×{ratio:.1f}"


def mistakes(found: Sequence[Mistake], has_spam: bool) -> Markup:
    words = "Farthest on the wrong side first. Often it is the label that is wrong."
    if len(found) > MISTAKES:
        words += f" {count(len(found) - MISTAKES)} more are not shown."
    listed = [mistake(each, has_spam) for each in found[:MISTAKES]]
    return element(
        "section",
        element("h2", "Worst mistakes"),
        element("p", words if found else "There were none.", class_="lead"),
        element("ol", listed, class_="mistakes") if listed else None,
    )


def mistake(each: Mistake, has_spam: bool) -> Markup:
    subject = foreign(each.subject, SUBJECT) if each.subject.strip() else element("i", "no subject")
    number = None if each.index is None else f":{each.index}"
    listed = [evidence(*one, has_spam) for one in each.evidence[:EVIDENCE]]
    return element(
        "li",
        element(
            "p",
            element("b", label(each.truth), class_=colour(each.truth)),
            " left " if each.verdict == UNSURE else " taken for ",
            element("b", label(each.verdict), class_=colour(each.verdict)),
            element("span", "score ", signed(each.score), class_="score"),
            class_="verdict",
        ),
        element(
            "div",
            element("p", subject, class_="subject"),
            element("p", foreign(each.path, PATH, ending=True), number, class_="path"),
            element("ul", listed, class_="evidence") if listed else None,
        ),
    )


def evidence(text: str, weight: float, has_spam: bool) -> Markup:
    """A token and its weight for spam; without spam a weight has no side."""
    kind = ("spam" if weight > 0 else "ham") if has_spam else "quiet"
    return element("li", element("code", foreign(text, TOKEN)), " ", signed(weight), class_=kind)
