"""The plots of an evaluation, each with a few words on how to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bayes.verdict import SPAM
from spamnb.report.elements import Markup, element, joined
from spamnb.report.figures import share
from spamnb.report.histogram import Kind, histogram
from spamnb.report.plots import calibration, learning, legend, trade_off

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.evaluation.results import CurvePoint, Evaluation, Judged


def pictures(evaluation: Evaluation) -> Markup | None:
    judged, metrics = evaluation.judged, evaluation.metrics
    if not metrics["messages"]:
        return None
    drawn = [of_errors(judged, metrics), of_scores(judged), of_calibration(judged, metrics)]
    if evaluation.curve:
        drawn.append(of_learning(evaluation.curve))
    figures = [one for one in drawn if one]
    return element(
        "section", element("h2", "In pictures"), element("div", figures, class_=f"plots of{len(figures)}")
    )


def figure(name: str, plot: Markup, caption: str) -> Markup:
    return element("figure", element("h3", name), plot, element("figcaption", caption))


def of_errors(judged: Judged, metrics: Mapping[str, Any]) -> Markup | None:
    plot = trade_off(judged, metrics["spam_missed_at_ham_lost"]) if SPAM in judged.labels else None
    if plot is None:
        return None
    return figure(
        "Ham lost against spam missed",
        plot,
        "Every cutoff is a point of the line; the nearer to the lower left, the better. "
        "The ring is where the verdicts are, with unsure mail delivered.",
    )


def of_scores(judged: Judged) -> Markup:
    upper, lower = kinds(judged)
    plot, beyond = histogram(upper, lower, judged.cutoffs)
    words = [
        f"Bars up are {upper.name}, bars down are {lower.name}. "
        "The scale is logarithmic, so that a single message shows."
    ]
    if judged.cutoffs:
        words.append(" Between the two cutoffs, shaded, a message is unsure.")
    if beyond:
        words.append(" The outermost bars hold whatever lies beyond.")
    return figure("Scores", plot, joined(words))


def kinds(judged: Judged) -> tuple[Kind, Kind]:
    """Ham and spam; without spam a score is that of the label decided on, so right and wrong."""
    if SPAM in judged.labels:
        is_spam = judged.truth == judged.labels.index(SPAM)
        return Kind("ham", judged.score[~is_spam], "ham"), Kind("spam", judged.score[is_spam], "spam")
    right = judged.truth == judged.verdict
    return Kind("right", judged.score[right], "ham"), Kind("wrong or unsure", judged.score[~right], "spam")


def of_calibration(judged: Judged, metrics: Mapping[str, Any]) -> Markup:
    error = metrics["expected_calibration_error"]
    off = "" if error is None else f" They are off by {share(error)} on average."
    return figure(
        "Calibration",
        calibration(judged),
        f"On the diagonal, probabilities mean what they say.{off} Below, the number of messages in each bin.",
    )


def of_learning(curve: Sequence[CurvePoint]) -> Markup:
    words = "Lately is over the last messages before each point, the others are from the first message on."
    return figure("Learning", learning(curve), joined(legend(curve), words))
