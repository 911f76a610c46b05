"""An evaluation as one HTML page that needs no network, no font and no script."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spamnb.bayes.cutoffs import not_spam
from spamnb.evaluation.results import Evaluation
from spamnb.files import counted
from spamnb.labels import SPAM, UNSURE
from spamnb.mailboxes.skipped import Unreadable, failures
from spamnb.pages.elements import Markup, element, joined, untrusted
from spamnb.pages.formats import count, interval_text, percent, share
from spamnb.pages.parts import card, document, label_text, path_text, row, section, small, table, titled
from spamnb.report.plots import plots_section
from spamnb.report.tokens_and_mistakes import mistakes_section, telling_tokens_section

TEXT_LENGTH = 160  # characters shown of a title or a reason
FAILURES_LISTED = 20
MOST_PAIRED = 3  # labels up to which two tables fit beside each other
LABEL_METRICS = ("precision", "recall", "f1")

Form = Callable[[float | None], str]
Headline = tuple[str, str, str, Form]  # name, metric (the way to it, by dots), a few words, how it is written

SPAM_HEADLINES: tuple[Headline, ...] = (
    ("{Rest} lost", "ham_lost_percent", "taken for spam", percent),
    ("Spam missed", "spam_missed_percent", "taken for {rest}", percent),
    ("Unsure", "unsure_percent", "left to a person", percent),
    ("1 − AUC", "one_minus_auc_percent", "pairs in wrong order", percent),
    ("F1 of spam", "labels.spam.f1", "precision and recall", share),
)
LABEL_HEADLINES: tuple[Headline, ...] = (
    ("Accuracy", "accuracy", "got their label", share),
    ("Macro F1", "macro.f1", "each label alike", share),
    ("Unsure", "unsure_percent", "left to a person", percent),
)
ALL_METRICS = (
    ("one_minus_auc_percent", "(1−AUC) %", percent),
    ("lam_percent", "lam %", percent),
    ("log_loss", "log loss", share),
    ("brier", "Brier score", share),
    ("expected_calibration_error", "calibration error", share),
)


def evaluation_page(evaluation: Evaluation, title: str = "spamnb evaluation") -> str:
    metrics = evaluation.metrics
    return document(
        title,
        masthead(evaluation, title),
        headlines(metrics, learned_before(evaluation)),
        plots_section(evaluation),
        tables_section(metrics),
        telling_tokens_section(evaluation.telling()),
        mistakes_section(evaluation.mistakes),
        mail_section(evaluation),
    )


def masthead(evaluation: Evaluation, title: str) -> Markup:
    labels = evaluation.metrics["labels"].items()
    supports = [(" · ", count(values["support"]), " ", label_text(name)) for name, values in labels]
    how = (" · judged ", untrusted(evaluation.how, TEXT_LENGTH))
    messages = counted(evaluation.metrics["messages"], "message")
    lead = element("p", messages, supports, how, class_="lead")
    return element("header", element("h1", untrusted(title, TEXT_LENGTH)), lead)


def headlines(metrics: Mapping[str, Any], warning: Markup | None) -> Markup:
    """Show the figures to look at first: of ham and spam, or else of getting the label right."""
    shown = SPAM_HEADLINES if SPAM in metrics["labels"] else LABEL_HEADLINES
    cards = [headline(metrics, *each) for each in shown]
    note = element("p", metrics["imbalance"], class_="note") if metrics["imbalance"] else None
    footnote = element("p", "Below each figure, its 95 % interval.", class_="footnote")
    figures = element("dl", cards, class_="cards")
    return element("section", figures, footnote, note, warning, aria_label="Headlines")


def headline(metrics: Mapping[str, Any], name: str, metric: str, meaning: str, form: Form) -> Markup | None:
    """Show a figure with its interval; nothing where there is no figure."""
    value: Any = metrics
    interval = metrics["intervals"]
    for key in metric.split("."):
        value, interval = value[key], interval[key]
    if value is None:
        return None
    rest = not_spam(list(metrics["labels"]))
    unit = element("span", " %", class_="unit") if form is percent else None
    return card(
        name.format(Rest=rest.capitalize()),
        (form(value), unit),
        meaning.format(rest=rest),
        interval_text(interval, form),
    )


def learned_before(evaluation: Evaluation) -> Markup | None:
    """Warn of figures that flatter a model, or say what was left out to keep them honest."""
    if not evaluation.learned:
        return None
    learned = count(evaluation.learned)
    words = f"The model had learned {learned} of these messages before, which flatters it."
    if evaluation.skipped:
        words = f"Messages left out, because the model had learned them before: {learned}."
    return element("p", words, class_="note")


def mail_section(evaluation: Evaluation) -> Markup:
    """Say what to know of the mail: copies, what could not be read, and how the figures were taken."""
    words = "Unsure is neither lost nor missed, but counts against recall, F1 and accuracy."
    return section(
        "The mail",
        None,
        element("p", copies(evaluation.duplicates)),
        unreadable(failures(evaluation.judged.unreadable)),
        element("p", words, class_="span"),
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
        element("li", path_text(failure.path), ": ", untrusted(failure.why, TEXT_LENGTH))
        for failure in failures[:FAILURES_LISTED]
    ]
    more = len(failures) - len(listed)
    return joined(
        element("p", f"{counted(len(failures), 'message')} could not be read:"),
        element("ul", listed, element("li", f"and {count(more)} more") if more else None, class_="path"),
    )


def tables_section(metrics: Mapping[str, Any]) -> Markup:
    tables = (
        titled("Verdicts", confusion(metrics)),
        titled("By label", by_label(metrics)),
        titled("All messages", all_messages(metrics)),
        titled("Spam missed, by what is lost", at_ham_loss(metrics)),
    )
    side_by_side = "tables pair" if len(metrics["labels"]) <= MOST_PAIRED else "tables"
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
    accuracy = row("accuracy", None, None, estimate(metrics["accuracy"], trust["accuracy"]), None)
    return table(("", "precision", "recall", "F1", "messages"), [*rows, macro, accuracy], "averaged")


def estimates(
    values: Mapping[str, float | None], trust: Mapping[str, Sequence[float] | None]
) -> list[Markup]:
    return [estimate(values[name], trust[name]) for name in LABEL_METRICS]


def estimate(value: float | None, interval: Sequence[float] | None) -> Markup:
    return joined(share(value), small(interval_text(interval, share)))


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
