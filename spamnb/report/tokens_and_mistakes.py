"""Sections of an evaluation: the most telling tokens of each label, and the worst mistakes."""

from collections.abc import Mapping, Sequence
from math import exp

from spamnb.evaluation.results import Mistake
from spamnb.inspection.model_summary import TellingToken
from spamnb.labels import SPAM, UNSURE
from spamnb.report.elements import Markup, element, label, untrusted
from spamnb.report.formats import GREY, HAM_COLOUR, SPAM_COLOUR, colour_of_label, count, signed

SUBJECT, PATH, TOKEN = 160, 400, 60  # characters shown of each
MISTAKES, EVIDENCE, TOKENS = 100, 12, 50  # shown of each, which keeps a page under 300 KB
UNCOUNTED = 14  # nats: from a million times likelier on, nobody counts


def telling_tokens_section(tokens: Mapping[str, Sequence[TellingToken]]) -> Markup | None:
    largest = max((token.weight for of_label in tokens.values() for token in of_label), default=0.0)
    columns = [
        element(
            "div",
            element("h3", label(name)),
            element(
                "ol",
                [token_item(token, name, list(tokens), largest) for token in of_label[:TOKENS]],
                class_=f"tokens {colour_of_label(name)}",
            ),
        )
        for name, of_label in tokens.items()
        if of_label
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


def token_item(token: TellingToken, label_name: str, labels: Sequence[str], largest: float) -> Markup:
    counts = zip(token.messages, labels, strict=False)
    shown = [(messages, name) for messages, name in counts if messages or name == label_name]
    width = 100 * max(token.weight, 0.0) / largest if largest > 0 else 0.0
    return element(
        "li",
        element("code", untrusted(token.token, TOKEN)),
        element(
            "span",
            [
                (", " if index else None, count(messages), " ", label(name))
                for index, (messages, name) in enumerate(shown)
            ],
            class_="span",
        ),
        element("span", likelier(token.weight), class_="times"),
        element("i", style=f"width:{width:.1f}%", class_="bar", aria_hidden="true"),
    )


def likelier(weight: float) -> str:
    if weight >= UNCOUNTED:
        return "×1,000,000+"
    ratio = exp(weight)
    return f"×{ratio:,.0f}" if ratio >= 10 else f"×{ratio:.1f}"


def mistakes_section(found: Sequence[Mistake]) -> Markup:
    words = "Farthest on the wrong side first. Often it is the label that is wrong."
    if len(found) > MISTAKES:
        words += f" {count(len(found) - MISTAKES)} more are not shown."
    listed = [mistake_item(mistake) for mistake in found[:MISTAKES]]
    return element(
        "section",
        element("h2", "Worst mistakes"),
        element("p", words if found else "There were none.", class_="lead"),
        element("ol", listed, class_="mistakes") if listed else None,
    )


def mistake_item(mistake: Mistake) -> Markup:
    subject = untrusted(mistake.subject, SUBJECT) if mistake.subject.strip() else element("i", "no subject")
    number = None if mistake.index is None else f":{mistake.index}"
    is_about_spam = SPAM in (mistake.truth, mistake.verdict)
    listed = [evidence_item(*evidence, is_about_spam) for evidence in mistake.evidence[:EVIDENCE]]
    return element(
        "li",
        element(
            "p",
            element("b", label(mistake.truth), class_=colour_of_label(mistake.truth)),
            " left " if mistake.verdict == UNSURE else " taken for ",
            element("b", label(mistake.verdict), class_=colour_of_label(mistake.verdict)),
            element("span", "score ", signed(mistake.score), class_="score"),
            class_="verdict",
        ),
        element(
            "div",
            element("p", subject, class_="subject"),
            element("p", untrusted(mistake.path, PATH, ending=True), number, class_="path"),
            element("ul", listed, class_="evidence") if listed else None,
        ),
    )


def evidence_item(text: str, weight: float, is_about_spam: bool) -> Markup:
    """Show a token and its weight for spam; that for another label has no colour."""
    colour = (SPAM_COLOUR if weight > 0 else HAM_COLOUR) if is_about_spam else GREY
    return element("li", element("code", untrusted(text, TOKEN)), " ", signed(weight), class_=colour)
