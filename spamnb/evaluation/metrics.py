"""Metrics: how good verdicts, scores and probabilities on labelled messages are.

Each metric is an entry of METRICS or, if every label has its own value, of LABEL_METRICS; JSON, terminal and
page use these lists. The definitions are those of scikit-learn. Where it leaves a choice, these rules hold:

- An unsure verdict is not right: it lowers accuracy, and recall and F1 of the true label.
- A share of 0 messages is None. F1 = 2 / (1/precision + 1/recall) is 0 if no message of the label was judged
  right, and None if no message has or gets the label. A macro average is the mean over the labels that some
  message has or gets; None counts as 0 in it.
- With a label "spam", all other mail counts as ham. Ham lost is ham judged as spam; spam missed is spam
  judged as another label. Unsure mail is neither.
- Spam missed at 0.1 % ham lost is measured with one cutoff: the lowest that at most 0.1 % of the ham exceeds
  (no ham, if there are fewer than 1,000). It has no interval, because this cutoff is itself an estimate.
- The calibration error is that of the probability of spam; without spam, of the largest one. It has no
  interval: chance makes it larger, and 3 of 10 resampled intervals contained that of a perfect calibration.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import not_spam
from spamnb.evaluation.intervals import ZERO_OF_ZERO, Estimate, f1, macro, share
from spamnb.evaluation.outcome import HAM_LOSSES, Outcome
from spamnb.labels import SPAM, UNSURE

UNKNOWN = "–"
IMBALANCED = 0.75  # if the largest label has such a share of the messages, a warning says what accuracy hides
PERCENT = " %"


class Metric(NamedTuple):
    """A figure of an evaluation: its key in JSON, its name, how it is measured and how it is written."""

    key: str
    name: str  # {ham} stands for what is not spam
    measure: Callable[[Outcome], Estimate | None]  # a share where the unit is percent
    digits: int
    unit: str = ""
    meaning: str = ""  # a few words below the figure, if the page shows it as a headline
    at: str = ""  # a second key, if the figure is measured at several points

    def text(self, value: float | None) -> str:
        """Return a value as text, with this metric's number of digits and its unit."""
        return UNKNOWN if value is None else f"{value:.{self.digits}f}{self.unit}"

    def find_in(self, figures: Mapping[str, Any]) -> Any:
        """Return this metric's value from `figures`, or its interval from a dict of intervals."""
        return figures[self.key][self.at] if self.at else figures[self.key]


METRICS = (
    Metric("accuracy", "accuracy", Outcome.accuracy, 4, "", "got the right label"),
    Metric("ham_lost_percent", "{ham} lost", Outcome.ham_lost, 2, PERCENT, "taken for spam"),
    Metric("spam_missed_percent", "spam missed", Outcome.spam_missed, 2, PERCENT, "taken for {ham}"),
    Metric("misfiled_percent", "{ham}, under a wrong label", Outcome.misfiled, 2, PERCENT),
    Metric("unsure_percent", "unsure", Outcome.left_unsure, 2, PERCENT, "left to a person"),
    Metric("one_minus_auc_percent", "1 - AUC", Outcome.misranked, 4, PERCENT, "pairs in wrong order"),
    *(
        Metric(
            "spam_missed_at_ham_lost",
            f"spam missed at {loss} % {{ham}} lost",
            partial(Outcome.spam_missed_at, loss=loss),
            2,
            PERCENT,
            at=loss,
        )
        for loss in HAM_LOSSES
    ),
    Metric("expected_calibration_error", "calibration error", Outcome.calibration_error, 4),
)


class LabelMetric(NamedTuple):
    """A figure for each label, with the mean over all labels (macro average).

    `measure` gets three counts of messages: with this label and verdict, with this label, with this verdict.
    """

    key: str
    name: str
    measure: Callable[[int, int, int], Estimate | None]
    touched: int  # how many labels' figures a wrong verdict lowers


LABEL_METRICS = (
    LabelMetric("precision", "precision", lambda right, _there, decided: share(right, decided), 1),
    LabelMetric("recall", "recall", lambda right, there, _decided: share(right, there), 1),
    LabelMetric("f1", "F1", lambda right, there, decided: f1(right, there - right, decided - right), 2),
)


class ShownMetric(NamedTuple):
    """A metric as text, ready to be shown."""

    name: str
    value: str
    low: str  # start and end of its interval
    high: str
    meaning: str


def shown_metrics(figures: Mapping[str, Any], named: Callable[[str], str] = str) -> Iterator[ShownMetric]:
    """Yield, as text, each metric that has a value; `named` returns the name under which a label is shown."""
    ham = named(not_spam(list(figures["labels"])))
    for metric in METRICS:
        value = metric.find_in(figures)
        if value is not None:
            low, high = metric.find_in(figures["intervals"]) or (None, None)
            name, meaning = (text.format(ham=ham) for text in (metric.name, metric.meaning))
            yield ShownMetric(name, metric.text(value), metric.text(low), metric.text(high), meaning)


def measure(
    labels: Sequence[str],
    truth: Array,
    verdict: Array,
    score: Array | None,
    probability: Array,
) -> dict[str, Any]:
    """Return the figures of verdicts on labelled messages, ready for JSON.

    `truth` and `verdict` are indices into `labels`, -1 for unsure; a higher `score` speaks for spam.
    """
    outcome = Outcome(labels, truth, verdict, score, probability)
    estimates = label_estimates(labels, outcome.counts)
    for metric in METRICS:
        found = metric.measure(outcome)
        found = found.scaled(100) if found and metric.unit == PERCENT else found
        if metric.at:
            estimates.setdefault(metric.key, {})[metric.at] = found
        else:
            estimates[metric.key] = found
    values = map_estimates(estimates, lambda estimate: estimate.value)
    verdicts = (*labels, UNSURE)
    rows = [dict(zip(verdicts, row, strict=True)) for row in outcome.counts.tolist()]
    for name, row in zip(labels, rows, strict=True):
        values["labels"][name]["support"] = sum(row.values())
    return {
        "messages": outcome.messages,
        **values,
        "confusion": dict(zip(labels, rows, strict=True)),
        "unsure": {name: row[UNSURE] for name, row in zip(labels, rows, strict=True)},
        "intervals": map_estimates(estimates, lambda estimate: estimate.interval),
        "imbalance": imbalance(dict(zip(labels, outcome.counts.sum(axis=1).tolist(), strict=True))),
    }


def label_estimates(labels: Sequence[str], counts: Array) -> dict[str, Any]:
    """Return the figures of each label and their means; `counts`: how many messages, by [label, verdict]."""
    right, support = counts.diagonal().tolist(), counts.sum(axis=1).tolist()
    decided = counts[:, :-1].sum(axis=0).tolist()
    of_label = [
        {metric.key: metric.measure(*of_label) for metric in LABEL_METRICS}
        for of_label in zip(right, support, decided, strict=True)
    ]
    present = [each for each, s, d in zip(of_label, support, decided, strict=True) if s or d]
    return {
        "labels": dict(zip(labels, of_label, strict=True)),
        "macro": {
            metric.key: macro([each[metric.key] or ZERO_OF_ZERO for each in present], metric.touched)
            for metric in LABEL_METRICS
        },
    }


def map_estimates(estimates: Mapping[str, Any], pick: Callable[[Estimate], Any]) -> dict[str, Any]:
    """Copy a nested dict, with `pick(estimate)` (its value, or its interval) in place of each estimate."""
    return {
        name: map_estimates(each, pick) if isinstance(each, dict) else pick(each) if each else None
        for name, each in estimates.items()
    }


def imbalance(supports: Mapping[str, int], named: Callable[[str], str] = str) -> str | None:
    """Return a warning if three quarters of the messages, or more, have the same label; otherwise None."""
    messages, label = sum(supports.values()), max(supports, key=lambda name: supports[name])
    most, name = supports[label], named(label)
    if len(supports) < 2 or most < IMBALANCED * messages or not messages:
        return None
    if most == messages:
        return f"All messages are {name}: the figures say nothing about other mail."
    percent = min(round(100 * most / messages), 99)
    ham = named(not_spam(list(supports)))
    look = f"{ham} lost and spam missed" if SPAM in supports else "the recall of each label"
    return (
        f"{percent} % of the messages are {name}: a filter that always says {name} would be right as often, "
        f"so accuracy says little. Look at {look}."
    )
