"""The plots of an evaluation, each with a few words on how to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spamnb.evaluation.results import CurvePoint, Evaluation, JudgedMessages
from spamnb.labels import SPAM
from spamnb.report.colours import HAM_COLOUR, SPAM_COLOUR
from spamnb.report.elements import Markup, element, joined
from spamnb.report.formats import share
from spamnb.report.histogram import ScoreGroup, histogram
from spamnb.report.plots import calibration, learning, legend, trade_off


def plots_section(evaluation: Evaluation) -> Markup | None:
    judged, metrics = evaluation.judged, evaluation.metrics
    if not metrics["messages"]:
        return None
    drawn = [errors_figure(judged, metrics), scores_figure(judged), calibration_figure(judged, metrics)]
    if evaluation.curve:
        drawn.append(learning_figure(evaluation.curve))
    figures = [plot for plot in drawn if plot]
    return element(
        "section", element("h2", "In pictures"), element("div", figures, class_=f"plots of{len(figures)}")
    )


def figure(name: str, plot: Markup, caption: str) -> Markup:
    return element("figure", element("h3", name), plot, element("figcaption", caption))


def errors_figure(judged: JudgedMessages, metrics: Mapping[str, Any]) -> Markup | None:
    plot = trade_off(judged, metrics["spam_missed_at_ham_lost"]) if SPAM in judged.labels else None
    if plot is None:
        return None
    return figure(
        "Ham lost against spam missed",
        plot,
        "Every cutoff is a point of the line; the nearer to the lower left, the better. "
        "The ring is where the verdicts are, with unsure mail delivered.",
    )


def scores_figure(judged: JudgedMessages) -> Markup:
    upper, lower = score_groups(judged)
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


def score_groups(judged: JudgedMessages) -> tuple[ScoreGroup, ScoreGroup]:
    """Split messages into ham and spam; without spam, a score is the verdict's: into right and wrong."""
    if SPAM in judged.labels:
        is_spam = judged.truth == judged.labels.index(SPAM)
        return ScoreGroup("ham", judged.score[~is_spam], HAM_COLOUR), ScoreGroup(
            "spam", judged.score[is_spam], SPAM_COLOUR
        )
    right = judged.truth == judged.verdict
    return ScoreGroup("right", judged.score[right], HAM_COLOUR), ScoreGroup(
        "wrong or unsure", judged.score[~right], SPAM_COLOUR
    )


def calibration_figure(judged: JudgedMessages, metrics: Mapping[str, Any]) -> Markup:
    error = metrics["expected_calibration_error"]
    off = "" if error is None else f" They are off by {share(error)} on average."
    return figure(
        "Calibration",
        calibration(judged),
        f"On the diagonal, probabilities mean what they say.{off} Below, the number of messages in each bin.",
    )


def learning_figure(curve: Sequence[CurvePoint]) -> Markup:
    words = "Lately is over the last messages before each point, the others are from the first message on."
    return figure("Learning", learning(curve), joined(legend(curve), words))
