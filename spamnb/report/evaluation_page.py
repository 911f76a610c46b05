"""The report on an evaluation: one HTML page without network, fonts or scripts."""

from collections.abc import Mapping, Sequence
from typing import Any

from spamnb.evaluation.metrics import LABEL_METRICS, UNKNOWN, ShownMetric, imbalance, shown_metrics
from spamnb.evaluation.results import Evaluation
from spamnb.files import counted
from spamnb.labels import SPAM, UNSURE, plain_label
from spamnb.mailboxes.skipped import failures
from spamnb.pages.elements import Markup, element, joined, untrusted
from spamnb.pages.formats import count, interval_text, percent, share
from spamnb.pages.parts import card, document, label_text, path_text, row, section, small, table, titled
from spamnb.report.mistakes import mistakes_section
from spamnb.report.plots import plots_section

MAX_TEXT = 160  # characters shown of a title or a reason
MAX_FAILURES = 20
MAX_PAIRED = 3  # labels with which two tables fit side by side


def evaluation_page(evaluation: Evaluation, title: str = "spamnb evaluation") -> str:
    metrics = evaluation.metrics
    return document(
        title,
        masthead(evaluation, title),
        headlines(evaluation),
        plots_section(evaluation),
        tables_section(metrics),
        mistakes_section(evaluation.mistakes),
        mail_section(evaluation),
    )


def masthead(evaluation: Evaluation, title: str) -> Markup:
    labels = evaluation.metrics["labels"].items()
    supports = [(" · ", count(values["support"]), " ", label_text(name)) for name, values in labels]
    how = (" · judged ", untrusted(evaluation.how, MAX_TEXT))
    messages = counted(evaluation.metrics["messages"], "message")
    intro = element("p", messages, supports, how, class_="intro")
    return element("header", element("h1", untrusted(title, MAX_TEXT)), intro)


def headlines(evaluation: Evaluation) -> Markup:
    """Show the most important figures, and warnings about them."""
    metrics = evaluation.metrics
    cards = [
        card(each.name[0].upper() + each.name[1:], each.value, each.meaning, interval(each))
        for each in shown_metrics(metrics, plain_label)
        if each.meaning
    ]
    of_spam = metrics["labels"].get(SPAM)
    f1 = share((of_spam or metrics["macro"])["f1"])
    cards.append(card("F1 of spam" if of_spam else "Macro F1", f1, "precision and recall"))
    supports = {name: values["support"] for name, values in metrics["labels"].items()}
    notes = [
        element("p", note[0].upper() + note[1:], class_="note")
        for note in (imbalance(supports, plain_label), evaluation.learned_note)
        if note
    ]
    footnote = element("p", "Below each figure, its 95 % interval.", class_="footnote")
    figures = element("dl", cards, class_="cards")
    return element("section", figures, footnote, notes, aria_label="Headlines")


def interval(shown: ShownMetric) -> str | None:
    """Return the 95 % interval of a figure as text; None if it is unknown."""
    return f"{shown.low} to {shown.high}" if shown.low != UNKNOWN else None


def mail_section(evaluation: Evaluation) -> Markup:
    """Say how many messages are copies or could not be read, and how unsure verdicts are counted."""
    failed = failures(evaluation.judged.unreadable)
    listed = [
        element("li", path_text(each.path), ": ", untrusted(each.why, MAX_TEXT))
        for each in failed[:MAX_FAILURES]
    ]
    copies = f"Exact copies of other messages: {count(evaluation.duplicates)}."
    return section(
        "The mail",
        None,
        element("p", copies, " If one copy was learned and another judged, the figures are too good."),
        element("p", f"{counted(len(failed), 'message')} could not be read:") if failed else None,
        element("ul", listed, class_="path") if failed else None,
        element("p", "Unsure is neither lost nor missed, but counts against recall, F1 and accuracy."),
    )


def tables_section(metrics: Mapping[str, Any]) -> Markup:
    tables = (
        titled("Verdicts", confusion(metrics)),
        titled("By label", by_label(metrics)),
        titled("All messages", all_messages(metrics)),
    )
    side_by_side = "tables pair" if len(metrics["labels"]) <= MAX_PAIRED else "tables"
    return section("In numbers", None, element("div", tables, class_=side_by_side))


def confusion(metrics: Mapping[str, Any]) -> Markup:
    labels = metrics["labels"]
    rows = []
    for truth in labels:
        cells = [cell(metrics, truth, verdict) for verdict in (*labels, UNSURE)]
        rows.append(element("tr", element("th", label_text(truth), scope="row"), cells))
    return table(("truly", *map(label_text, labels), UNSURE), rows, "confusion")


def cell(metrics: Mapping[str, Any], truth: str, verdict: str) -> Markup:
    messages, support = metrics["confusion"][truth][verdict], metrics["labels"][truth]["support"]
    class_ = (
        "right" if truth == verdict else "nothing" if not messages else None if verdict == UNSURE else "wrong"
    )
    part = small(f"{percent(100 * messages / support)} %") if messages else None
    return element("td", count(messages), part, class_=class_)


def by_label(metrics: Mapping[str, Any]) -> Markup:
    trust = metrics["intervals"]
    rows = [
        row(label_text(name), *estimates(values, trust["labels"][name]), count(values["support"]))
        for name, values in metrics["labels"].items()
    ]
    macro = row("macro average", *estimates(metrics["macro"], trust["macro"]), count(metrics["messages"]))
    return table(("", *(metric.name for metric in LABEL_METRICS), "messages"), [*rows, macro], "averaged")


def estimates(
    values: Mapping[str, float | None], trust: Mapping[str, Sequence[float] | None]
) -> list[Markup]:
    keys = [metric.key for metric in LABEL_METRICS]
    return [joined(share(values[key]), small(interval_text(trust[key], share))) for key in keys]


def all_messages(metrics: Mapping[str, Any]) -> Markup:
    rows = (row(each.name, each.value, interval(each)) for each in shown_metrics(metrics, plain_label))
    return table(("", "figure", "95 % interval"), rows)
