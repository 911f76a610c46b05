"""An evaluation as one HTML page that needs no network, no font and no script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bayes.verdict import SPAM
from spamnb.mailboxes.skipped import failures
from spamnb.report.document import document
from spamnb.report.elements import Markup, element, foreign, joined, label
from spamnb.report.evidence import PATH, mistakes, telling
from spamnb.report.figures import count, counted, percent, share, span
from spamnb.report.pictures import pictures
from spamnb.report.tables import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spamnb.evaluation.results import Evaluation
    from spamnb.mailboxes.skipped import Unreadable

WORDS = 160  # characters of a title or a reason
FAILURES = 20  # unreadable messages that are listed


def report(evaluation: Evaluation, title: str = "spamnb evaluation") -> str:
    metrics = evaluation.metrics
    sections = (
        headlines(metrics, learned_before(evaluation)),
        pictures(evaluation),
        numbers(metrics),
        telling(evaluation.telling),
        mistakes(evaluation.mistakes, SPAM in metrics["labels"]),
        mail(evaluation),
    )
    return document(title, masthead(evaluation, title), element("main", *sections))


def masthead(evaluation: Evaluation, title: str) -> Markup:
    metrics = evaluation.metrics
    supports = [(" · ", count(own["support"]), " ", label(name)) for name, own in metrics["labels"].items()]
    how = (" · judged ", foreign(evaluation.how, WORDS))
    return element(
        "header",
        element("h1", foreign(title, WORDS)),
        element("p", counted(metrics["messages"], "message"), supports, how, class_="lead"),
    )


def headlines(metrics: Mapping[str, Any], warning: Markup | None = None) -> Markup:
    """The figures to look at first: of ham and spam, or else of getting the label right."""
    trust = metrics["intervals"]
    unsure = card("Unsure", metrics["unsure_percent"], trust["unsure_percent"], "left to a person")
    if SPAM in metrics["labels"]:
        own, known = metrics["labels"][SPAM]["f1"], trust["labels"][SPAM]["f1"]
        cards = [
            card("Ham lost", metrics["ham_lost_percent"], trust["ham_lost_percent"], "taken for spam"),
            card(
                "Spam missed",
                metrics["spam_missed_percent"],
                trust["spam_missed_percent"],
                "taken for ham",
            ),
            unsure,
            card(
                "1 − AUC",
                metrics["one_minus_auc_percent"],
                trust["one_minus_auc_percent"],
                "pairs in wrong order",
            ),
            card("F1 of spam", own, known, "precision and recall", share),
        ]
    else:
        cards = [
            card("Accuracy", metrics["accuracy"], trust["accuracy"], "got their label", share),
            card("Macro F1", metrics["macro"]["f1"], trust["macro"]["f1"], "each label alike", share),
            unsure,
        ]
    note = element("p", metrics["imbalance"], class_="note") if metrics["imbalance"] else None
    small = element("p", "Below each figure, its 95 % interval.", class_="footnote")
    figures = element("dl", cards, class_="cards")
    return element("section", figures, small, note, warning, aria_label="Headlines")


def learned_before(evaluation: Evaluation) -> Markup | None:
    """Warn of figures that flatter a model, or say what was left out to keep them honest."""
    if not evaluation.learned:
        return None
    many = count(evaluation.learned)
    words = f"The model had learned {many} of these messages before, which flatters it."
    if evaluation.skipped:
        words = f"Messages left out, because the model had learned them before: {many}."
    return element("p", words, class_="note")


def card(
    name: str,
    value: float | None,
    interval: Sequence[float] | None,
    meaning: str,
    form: Callable[[float | None], str] = percent,
) -> Markup | None:
    """A figure with its interval; none where there is no figure."""
    if value is None:
        return None
    unit = element("span", " %", class_="unit") if form is percent else None
    known = span(interval, form)
    return element(
        "div",
        element("dt", name),
        element("dd", form(value), unit, class_="figure"),
        element("dd", known, class_="span") if known else None,
        element("dd", meaning, class_="meaning"),
    )


def mail(evaluation: Evaluation) -> Markup:
    """What to know of the mail itself: copies, what could not be read, and how the figures were taken."""
    return element(
        "section",
        element("h2", "The mail"),
        element("p", copies(evaluation.duplicates)),
        unreadable(failures(evaluation.judged.unreadable)),
        element(
            "p",
            "Unsure is neither lost nor missed, but counts against recall, F1 and accuracy.",
            class_="span",
        ),
    )


def copies(many: int) -> str:
    if not many:
        return "No message is an exact copy of another."
    are = "is an exact copy" if many == 1 else "are exact copies"
    return (
        f"{counted(many, 'message')} {are} of another. "
        "Where one of them was learned and the other judged, the figures flatter the filter."
    )


def unreadable(failures: Sequence[Unreadable]) -> Markup | None:
    if not failures:
        return None
    listed = [
        element("li", foreign(each.path, PATH, ending=True), ": ", foreign(each.why, WORDS))
        for each in failures[:FAILURES]
    ]
    more = len(failures) - len(listed)
    return joined(
        element("p", f"{counted(len(failures), 'message')} could not be read:"),
        element("ul", listed, element("li", f"and {count(more)} more") if more else None, class_="path"),
    )
