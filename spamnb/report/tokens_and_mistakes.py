"""Sections of an evaluation: the most telling tokens of each label, and the worst mistakes."""

from collections.abc import Mapping, Sequence
from math import exp

from spamnb.evaluation.results import Mistake
from spamnb.inspection.model_summary import TellingToken
from spamnb.labels import SPAM, UNSURE
from spamnb.pages.colours import GREY, HAM_COLOUR, SPAM_COLOUR, colour_of_label
from spamnb.pages.elements import Markup, element
from spamnb.pages.formats import count, signed
from spamnb.pages.parts import label_text, path_text, section, subject_text, token_text, verdict_text

MAX_MISTAKES, MAX_EVIDENCE, MAX_TOKENS = 100, 12, 50  # these keep a page under 300 KB
MAX_WEIGHT = 14  # nats: higher weights are shown as a million times


def telling_tokens_section(tokens: Mapping[str, Sequence[TellingToken]]) -> Markup | None:
    largest = max((token.weight for of_label in tokens.values() for token in of_label), default=0.0)
    columns = []
    for name, of_label in tokens.items():
        items = [token_item(token, name, list(tokens), largest) for token in of_label[:MAX_TOKENS]]
        listed = element("ol", items, class_=f"tokens {colour_of_label(name)}")
        if items:
            columns.append(element("div", element("h3", label_text(name)), listed))
    if not columns:
        return None
    words = "How many times likelier than in any other label, as a logarithmic bar, and in how many messages."
    return section("Most telling tokens", words, element("div", columns, class_="telling"))


def token_item(token: TellingToken, label: str, labels: Sequence[str], largest: float) -> Markup:
    counts = zip(token.messages, labels, strict=False)
    shown = [(messages, name) for messages, name in counts if messages or name == label]
    width = 100 * max(token.weight, 0.0) / largest if largest > 0 else 0.0
    listed = [(", " if at else None, count(n), " ", label_text(name)) for at, (n, name) in enumerate(shown)]
    return element(
        "li",
        token_text(token.token),
        element("span", listed, class_="span"),
        element("span", likelier(token.weight), class_="times"),
        element("i", style=f"width:{width:.1f}%", class_="bar", aria_hidden="true"),
    )


def likelier(weight: float) -> str:
    if weight >= MAX_WEIGHT:
        return "×1,000,000+"
    ratio = exp(weight)
    return f"×{ratio:,.0f}" if ratio >= 10 else f"×{ratio:.1f}"


def mistakes_section(found: Sequence[Mistake]) -> Markup:
    words = "Farthest on the wrong side first. Often it is the label that is wrong."
    if len(found) > MAX_MISTAKES:
        words += f" {count(len(found) - MAX_MISTAKES)} more are not shown."
    listed = element("ol", map(mistake_item, found[:MAX_MISTAKES]), class_="mistakes") if found else None
    return section("Worst mistakes", words if found else "There were none.", listed)


def mistake_item(mistake: Mistake) -> Markup:
    number = None if mistake.index is None else f":{mistake.index}"
    is_about_spam = SPAM in (mistake.truth, mistake.verdict)
    listed = [evidence_item(*evidence, is_about_spam) for evidence in mistake.evidence[:MAX_EVIDENCE]]
    verdict = (
        verdict_text(mistake.truth),
        " left " if mistake.verdict == UNSURE else " taken for ",
        verdict_text(mistake.verdict),
        element("span", "score ", signed(mistake.score), class_="score"),
    )
    message = (
        element("p", subject_text(mistake.subject), class_="subject"),
        element("p", path_text(mistake.path), number, class_="path"),
        element("ul", listed, class_="evidence") if listed else None,
    )
    return element("li", element("p", verdict, class_="verdict"), element("div", message))


def evidence_item(token: str, weight: float, is_about_spam: bool) -> Markup:
    """Show a token and its weight for spam; that for another label has no colour."""
    colour = (SPAM_COLOUR if weight > 0 else HAM_COLOUR) if is_about_spam else GREY
    return element("li", token_text(token), " ", signed(weight), class_=colour)
