"""An evaluation as one HTML page that needs no network, no font and no script."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spamnb.bayes.cutoffs import not_spam
from spamnb.evaluation.results import Evaluation
from spamnb.files import counted
from spamnb.labels import SPAM, UNSURE
from spamnb.mailboxes.skipped import Unreadable, failures
from spamnb.report.elements import Markup, document, element, joined, label, row, table, titled, untrusted
from spamnb.report.formats import count, interval_text, percent, share
from spamnb.report.plots import plots_section
from spamnb.report.tokens_and_mistakes import PATH, mistakes_section, telling_tokens_section

TEXT_LENGTH = 160  # characters shown of a title or a reason
FAILURES_LISTED = 20


def evaluation_page(evaluation: Evaluation, title: str = "spamnb evaluation") -> str:
    metrics = evaluation.metrics
    sections = (
        headlines(metrics, learned_before(evaluation)),
        plots_section(evaluation),
        tables_section(metrics),
        telling_tokens_section(evaluation.telling()),
        mistakes_section(evaluation.mistakes),
        mail_section(evaluation),
    )
    return document(title, masthead(evaluation, title), element("main", *sections))


def masthead(evaluation: Evaluation, title: str) -> Markup:
    metrics = evaluation.metrics
    supports = [
        (" · ", count(values["support"]), " ", label(name)) for name, values in metrics["labels"].items()
    ]
    how = (" · judged ", untrusted(evaluation.how, TEXT_LENGTH))
    return element(
        "header",
        element("h1", untrusted(title, TEXT_LENGTH)),
        element("p", counted(metrics["messages"], "message"), supports, how, class_="lead"),
    )


def headlines(metrics: Mapping[str, Any], warning: Markup | None = None) -> Markup:
    """Show the figures to look at first: of ham and spam, or else of getting the label right."""
    intervals = metrics["intervals"]
    unsure = card("Unsure", metrics["unsure_percent"], intervals["unsure_percent"], "left to a person")
    if SPAM in metrics["labels"]:
        f1, f1_interval = metrics["labels"][SPAM]["f1"], intervals["labels"][SPAM]["f1"]
        rest = not_spam(list(metrics["labels"]))
        cards = [
            card(
                f"{rest.capitalize()} lost",
                metrics["ham_lost_percent"],
                intervals["ham_lost_percent"],
                "taken for spam",
            ),
            card(
                "Spam missed",
                metrics["spam_missed_percent"],
                intervals["spam_missed_percent"],
                f"taken for {rest}",
            ),
            unsure,
            card(
                "1 − AUC",
                metrics["one_minus_auc_percent"],
                intervals["one_minus_auc_percent"],
                "pairs in wrong order",
            ),
            card("F1 of spam", f1, f1_interval, "precision and recall", share),
        ]
    else:
        cards = [
            card("Accuracy", metrics["accuracy"], intervals["accuracy"], "got their label", share),
            card("Macro F1", metrics["macro"]["f1"], intervals["macro"]["f1"], "each label alike", share),
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
    learned = count(evaluation.learned)
    words = f"The model had learned {learned} of these messages before, which flatters it."
    if evaluation.skipped:
        words = f"Messages left out, because the model had learned them before: {learned}."
    return element("p", words, class_="note")


def card(
    name: str,
    value: float | None,
    interval: Sequence[float] | None,
    meaning: str,
    form: Callable[[float | None], str] = percent,
) -> Markup | None:
    """Show a figure with its interval; nothing where there is no figure."""
    if value is None:
        return None
    unit = element("span", " %", class_="unit") if form is percent else None
    known = interval_text(interval, form)
    return element(
        "div",
        element("dt", name),
        element("dd", form(value), unit, class_="figure"),
        element("dd", known, class_="span") if known else None,
        element("dd", meaning, class_="meaning"),
    )


def mail_section(evaluation: Evaluation) -> Markup:
    """Say what to know of the mail: copies, what could not be read, and how the figures were taken."""
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


def copies(duplicates: int) -> str:
    if not duplicates:
        return "No message is an exact copy of another."
    are = "is an exact copy" if duplicates == 1 else "are exact copies"
    return (
        f"{counted(duplicates, 'message')} {are} of another. "
        "Where one of them was learned and the other judged, the figures flatter the filter."
    )


def unreadable(failures: Sequence[Unreadable]) -> Markup | None:
    if not failures:
        return None
    listed = [
        element("li", untrusted(failure.path, PATH, ending=True), ": ", untrusted(failure.why, TEXT_LENGTH))
        for failure in failures[:FAILURES_LISTED]
    ]
    more = len(failures) - len(listed)
    return joined(
        element("p", f"{counted(len(failures), 'message')} could not be read:"),
        element("ul", listed, element("li", f"and {count(more)} more") if more else None, class_="path"),
    )


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
        titled("Spam missed, by what is lost", at_ham_loss(metrics)),
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
    rest = not_spam(list(metrics["labels"]))
    return table((f"{rest} lost", "spam missed", "95 % interval"), rows) if known else None
