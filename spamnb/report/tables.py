"""The figures of an evaluation in tables: verdicts, each label, all messages, and what a ham loss buys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bayes.verdict import UNSURE
from spamnb.report.elements import Markup, element, joined, label
from spamnb.report.figures import count, percent, share, span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PAIRED = 3  # labels up to which two tables fit beside each other
OF_LABEL = ("precision", "recall", "f1")
OF_ALL = (
    ("one_minus_auc_percent", "(1−AUC) %", percent),
    ("lam_percent", "lam %", percent),
    ("log_loss", "log loss", share),
    ("brier", "Brier score", share),
    ("expected_calibration_error", "calibration error", share),
)


def numbers(metrics: Mapping[str, Any]) -> Markup:
    tables = (
        titled("Verdicts", confusion(metrics)),
        titled("By label", by_label(metrics)),
        titled("All messages", of_all(metrics)),
        titled("Spam missed for a given ham loss", at_ham_loss(metrics)),
    )
    side_by_side = "tables pair" if len(metrics["labels"]) <= PAIRED else "tables"
    return element("section", element("h2", "In numbers"), element("div", tables, class_=side_by_side))


def titled(name: str, table: Markup | None) -> Markup | None:
    """A table may be wider than a phone: it scrolls by itself, also by keyboard."""
    if table is None:
        return None
    scroller = element("div", table, class_="scroll", tabindex="0", role="region", aria_label=name)
    return element("div", element("h3", name), scroller)


def grid(columns: Sequence[str], rows: Iterable[Markup], kind: str | None = None) -> Markup:
    head = element("tr", [element("th", name, scope="col") for name in columns])
    return element("table", element("thead", head), element("tbody", *rows), class_=kind)


def row(name: str, *cells: str | None) -> Markup:
    return element("tr", element("th", name, scope="row"), [element("td", cell) for cell in cells])


def confusion(metrics: Mapping[str, Any]) -> Markup:
    verdicts = (*metrics["labels"], UNSURE)
    rows = (
        element(
            "tr", element("th", label(truth), scope="row"), [cell(metrics, truth, each) for each in verdicts]
        )
        for truth in metrics["labels"]
    )
    return grid(("truly", *map(label, metrics["labels"]), UNSURE), rows, "confusion")


def cell(metrics: Mapping[str, Any], truth: str, verdict: str) -> Markup:
    many, support = metrics["confusion"][truth][verdict], metrics["labels"][truth]["support"]
    kind = "right" if truth == verdict else "nothing" if not many else None if verdict == UNSURE else "wrong"
    part = element("span", f"{percent(100 * many / support)} %", class_="span") if many else None
    return element("td", count(many), part, class_=kind)


def by_label(metrics: Mapping[str, Any]) -> Markup:
    trust = metrics["intervals"]
    rows = [
        row(label(name), *estimates(own, trust["labels"][name]), count(own["support"]))
        for name, own in metrics["labels"].items()
    ]
    macro = row("macro average", *estimates(metrics["macro"], trust["macro"]), count(metrics["messages"]))
    accuracy = row("accuracy", None, None, estimate(metrics["accuracy"], trust["accuracy"]), None)
    return grid(("", "precision", "recall", "F1", "messages"), [*rows, macro, accuracy], "averaged")


def estimates(own: Mapping[str, float | None], trust: Mapping[str, Sequence[float] | None]) -> list[Markup]:
    return [estimate(own[name], trust[name]) for name in OF_LABEL]


def estimate(value: float | None, interval: Sequence[float] | None) -> Markup:
    known = span(interval, share)
    return joined(share(value), element("span", known, class_="span") if known else None)


def of_all(metrics: Mapping[str, Any]) -> Markup:
    known = ((metrics[key], metrics["intervals"][key], name, form) for key, name, form in OF_ALL)
    rows = (
        row(name, form(value), span(interval, form))
        for value, interval, name, form in known
        if value is not None
    )
    return grid(("", "figure", "95 % interval"), rows)


def at_ham_loss(metrics: Mapping[str, Any]) -> Markup | None:
    trust = metrics["intervals"]["spam_missed_at_ham_lost"]
    known = {at: value for at, value in metrics["spam_missed_at_ham_lost"].items() if value is not None}
    rows = (row(f"{at} %", f"{percent(value)} %", span(trust[at], percent)) for at, value in known.items())
    return grid(("ham lost", "spam missed", "95 % interval"), rows) if known else None
