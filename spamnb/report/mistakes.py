"""The worst mistakes of an evaluation, with their evidence."""

from collections.abc import Sequence

from spamnb.evaluation.results import Mistake
from spamnb.labels import SPAM, UNSURE
from spamnb.pages.colours import GREY, HAM_COLOUR, SPAM_COLOUR
from spamnb.pages.elements import Markup, element
from spamnb.pages.formats import count, signed
from spamnb.pages.parts import path_text, section, subject_text, token_text, verdict_text

MAX_MISTAKES, MAX_EVIDENCE = 100, 12  # these keep a page under 300 KB


def mistakes_section(found: Sequence[Mistake]) -> Markup:
    words = "The most certain mistakes come first. Often the label of the message is wrong, not the verdict."
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
    """Show a token and its weight, coloured if the mistake is about spam (`is_about_spam`), else grey."""
    colour = (SPAM_COLOUR if weight > 0 else HAM_COLOUR) if is_about_spam else GREY
    return element("li", token_text(token), " ", signed(weight), class_=colour)
