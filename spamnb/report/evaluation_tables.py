"""The figures of an evaluation in tables: verdicts, each label, all messages, and what a ham loss buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spamnb.labels import UNSURE
from spamnb.report.elements import Markup, element, joined, label
from spamnb.report.formats import count, interval_text, percent, share
from spamnb.report.tables import row, table, titled

MOST_PAIRED = 3  # labels up to which two tables fit beside each other
LABEL_METRICS = ("precision", "recall", "f1")
ALL_METRICS = (
    ("one_minus_auc_percent", "(1−AUC) %", percent),
    ("lam_percent", "lam %", percent),
    ("log_loss", "log loss", share),
    ("brier", "Brier score", share),
    ("expected_calibration_error", "calibration error", share),
)


def tables_section(metrics: Mapping[str, Any]) -> Markup:
    tables = (
        titled("Verdicts", confusion(metrics)),
        titled("By label", by_label(metrics)),
        titled("All messages", all_messages(metrics)),
        titled("Spam missed for a given ham loss", at_ham_loss(metrics)),
    )
    side_by_side = "tables pair" if len(metrics["labels"]) <= MOST_PAIRED else "tables"
    return element("section", element("h2", "In numbers"), element("div", tables, class_=side_by_side))


def confusion(metrics: Mapping[str, Any]) -> Markup:
    verdicts = (*metrics["labels"], UNSURE)
    rows = (
        element(
            "tr",
            element("th", label(truth), scope="row"),
            [cell(metrics, truth, verdict) for verdict in verdicts],
        )
        for truth in metrics["labels"]
    )
    return table(("truly", *map(label, metrics["labels"]), UNSURE), rows, "confusion")


def cell(metrics: Mapping[str, Any], truth: str, verdict: str) -> Markup:
    messages, support = metrics["confusion"][truth][verdict], metrics["labels"][truth]["support"]
    class_ = (
        "right" if truth == verdict else "nothing" if not messages else None if verdict == UNSURE else "wrong"
    )
    part = element("span", f"{percent(100 * messages / support)} %", class_="span") if messages else None
    return element("td", count(messages), part, class_=class_)


def by_label(metrics: Mapping[str, Any]) -> Markup:
    trust = metrics["intervals"]
    rows = [
        row(label(name), *estimates(values, trust["labels"][name]), count(values["support"]))
        for name, values in metrics["labels"].items()
    ]
    macro = row("macro average", *estimates(metrics["macro"], trust["macro"]), count(metrics["messages"]))
    accuracy = row("accuracy", None, None, estimate(metrics["accuracy"], trust["accuracy"]), None)
    return table(("", "precision", "recall", "F1", "messages"), [*rows, macro, accuracy], "averaged")


def estimates(
    values: Mapping[str, float | None], trust: Mapping[str, Sequence[float] | None]
) -> list[Markup]:
    return [estimate(values[name], trust[name]) for name in LABEL_METRICS]


def estimate(value: float | None, interval: Sequence[float] | None) -> Markup:
    known = interval_text(interval, share)
    return joined(share(value), element("span", known, class_="span") if known else None)


def all_messages(metrics: Mapping[str, Any]) -> Markup:
    known = ((metrics[key], metrics["intervals"][key], name, form) for key, name, form in ALL_METRICS)
    rows = (
        row(name, form(value), interval_text(interval, form))
        for value, interval, name, form in known
        if value is not None
    )
    return table(("", "figure", "95 % interval"), rows)


def at_ham_loss(metrics: Mapping[str, Any]) -> Markup | None:
    trust = metrics["intervals"]["spam_missed_at_ham_lost"]
    known = {at: value for at, value in metrics["spam_missed_at_ham_lost"].items() if value is not None}
    rows = (
        row(f"{at} %", f"{percent(value)} %", interval_text(trust[at], percent))
        for at, value in known.items()
    )
    return table(("ham lost", "spam missed", "95 % interval"), rows) if known else None
