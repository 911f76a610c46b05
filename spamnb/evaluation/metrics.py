"""Metrics: how good verdicts, scores and probabilities on labelled messages are.

A metric is an entry of METRICS, or of LABEL_METRICS if each label has its own; JSON, terminal and page use
these lists. Definitions are those of scikit-learn, and where these leave a choice:

- Unsure is not right: it counts against accuracy, and against recall and F1 of the true label.
- 0 of 0 is None. F1 = 2 / (1/precision + 1/recall) is 0 where nothing was right, and None where the label was
  neither there nor decided. Macro averages go over the labels that were there or decided, 0 of 0 counting 0.
- Where there is a label "spam", every other message is ham. Ham lost was decided as spam; spam missed was
  decided as something else; unsure is neither.
- Spam missed at a ham loss of 0.1 %: spam is what scores above a cutoff, the lowest with at most 0.1 % of the
  ham above it. With fewer than 1,000 ham, no ham may be above it.
  It has no interval: the cutoff is itself an estimate.
- The calibration error is that of the probability of spam; without spam, of the largest one. It has no
  interval: noise makes it larger, and 3 of 10 resampled intervals contained that of a perfect calibration.
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
IMBALANCED = 0.75  # a warning says what accuracy hides if the largest label has such a share
PERCENT = " %"


class Metric(NamedTuple):
    """A figure of an evaluation: its key in JSON, its name, how it is measured and how it is written."""

    key: str
    name: str  # {ham} stands for what is not spam
    measure: Callable[[Outcome], Estimate | None]  # a share where the unit is percent
    digits: int
    unit: str = ""
    meaning: str = ""  # a few words below it on the page, if it is one of the headlines
    at: str = ""  # a second key, if the figure is measured at several points

    def text(self, value: float | None) -> str:
        """Return a value as text, with this metric's number of digits and its unit."""
        return UNKNOWN if value is None else f"{value:.{self.digits}f}{self.unit}"

    def find_in(self, figures: Mapping[str, Any]) -> Any:
        """Return the value of this metric, or its interval, from a dict of an evaluation's figures."""
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

    It is measured by three counts of messages: right verdicts of the label, messages of it, verdicts of it.
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
    """Measure the figures of verdicts on labelled messages, ready for JSON.

    `truth` and `verdict` are indices into `labels`, -1 for unsure; `score` rises with spamminess.
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
    """Measure each label and the means over labels; `counts`: messages [true label, verdict]."""
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
    """Copy a nested dict of estimates; `pick` returns what to copy of each: its value, or its interval."""
    return {
        name: map_estimates(each, pick) if isinstance(each, dict) else pick(each) if each else None
        for name, each in estimates.items()
    }


def imbalance(supports: Mapping[str, int], named: Callable[[str], str] = str) -> str | None:
    """Return a warning if most messages have the same label, otherwise None."""
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
