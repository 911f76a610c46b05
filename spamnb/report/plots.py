"""Plots of an evaluation, each with a sentence on how to read it."""

from collections.abc import Mapping, Sequence
from typing import Any

from spamnb.bayes.cutoffs import not_spam
from spamnb.evaluation.outcome import roc
from spamnb.evaluation.results import CurvePoint, Evaluation, JudgedMessages
from spamnb.files import counted
from spamnb.labels import SPAM, plain_label
from spamnb.pages import svg
from spamnb.pages.colours import HAM_COLOUR, SPAM_COLOUR
from spamnb.pages.elements import Markup, element
from spamnb.pages.formats import percent, tick
from spamnb.pages.histogram import ScoreGroup, histogram
from spamnb.pages.parts import captioned, section
from spamnb.pages.svg import ACROSS, BOTTOM, TOP, UPWARD, Linear, Logarithmic

MAX_POINTS = 300  # of a learning curve, about as many as a plot has dots across
MAX_LOST = 10.0  # percent of the ham; no filter that loses more is of any use
TEXT_HEIGHT = 12  # units of a line of text
LEARNING_SERIES = (  # field of CurvePoint, name, classes of the style sheet
    ("recent_error_percent", "wrong or unsure lately", "curve"),
    ("spam_missed_percent", "spam missed", "curve spam dashed"),
    ("ham_lost_percent", "{} lost", "curve ham"),
    ("one_minus_auc_percent", "(1−AUC) %", "curve quiet dotted"),
)


def plain_ham(labels: Sequence[str]) -> str:
    """Return an everyday name for mail that is not spam: the only other label, or "not spam" (as for ham)."""
    return plain_label(not_spam(labels))


def plots_section(evaluation: Evaluation) -> Markup | None:
    judged, metrics = evaluation.judged, evaluation.metrics
    if not metrics["messages"]:
        return None
    drawn = [errors_figure(judged, metrics), scores_figure(judged)]
    if evaluation.curve:
        drawn.append(learning_figure(evaluation.curve, plain_ham(judged.labels)))
    figures = [plot for plot in drawn if plot]
    return section("In pictures", None, element("div", figures, class_=f"plots of{len(figures)}"))


def errors_figure(judged: JudgedMessages, metrics: Mapping[str, Any]) -> Markup | None:
    plot = trade_off(judged, metrics["spam_missed_at_ham_lost"]) if SPAM in judged.labels else None
    if plot is None:
        return None
    words = (
        "Each point of the line is a cutoff; the nearer to the lower left, the better. "
        "The ring marks the verdicts, with unsure mail delivered."
    )
    return captioned(plot, words, title=f"{plain_ham(judged.labels).capitalize()} lost against spam missed")


def scores_figure(judged: JudgedMessages) -> Markup:
    upper, lower = score_groups(judged)
    plot, beyond = histogram(upper, lower, judged.cutoffs)
    words = (
        f"Bars up are {upper.name}, bars down are {lower.name}. "
        "The scale is logarithmic, so that a single message shows."
    )
    if judged.cutoffs:
        words += " Between the two cutoffs, shaded, a message is unsure."
    if beyond:
        words += " The outermost bars hold whatever lies beyond."
    return captioned(plot, words, title="Scores")


def score_groups(judged: JudgedMessages) -> tuple[ScoreGroup, ScoreGroup]:
    """Split messages into ham and spam or, if no label is spam, into rightly and wrongly judged ones."""
    if SPAM in judged.labels:
        is_upper = judged.truth != judged.labels.index(SPAM)
        names = plain_ham(judged.labels), SPAM
    else:
        is_upper = judged.truth == judged.verdict
        names = "right", "wrong or unsure"
    upper = ScoreGroup(names[0], judged.score[is_upper], HAM_COLOUR)
    return upper, ScoreGroup(names[1], judged.score[~is_upper], SPAM_COLOUR)


def learning_figure(curve: Sequence[CurvePoint], ham_name: str) -> Markup:
    words = "“Lately” covers the last messages before each point; the other lines, all messages so far."
    legend = svg.legend(
        (name.format(ham_name), class_)
        for field, name, class_ in LEARNING_SERIES
        if any(getattr(point, field) is not None for point in curve)
    )
    return captioned(learning(curve), legend, words, title="Learning")


def trade_off(judged: JudgedMessages, missed_at: Mapping[str, float | None]) -> Markup | None:
    """Plot ham lost against spam missed: a line of all possible cutoffs, and a ring for the verdicts."""
    spam_index = judged.labels.index(SPAM)
    is_spam = judged.truth == spam_index
    lost, missed = roc(is_spam, judged.score)
    if not len(lost):
        return None
    marks = [(float(at), value) for at, value in missed_at.items() if value is not None]
    ham, spam = int((~is_spam).sum()), int(is_spam.sum())
    highest = max((value for _, value in marks), default=100.0)
    x = Logarithmic(min(svg.power_below(100 / ham), 0.1), MAX_LOST, *ACROSS)
    y = Logarithmic(min(svg.power_below(100 / spam), 1.0), 10.0 if highest <= 10 else 100.0, *UPWARD)
    taken = judged.verdict == spam_index
    at_verdicts = 100 * float(taken[~is_spam].mean()), 100 * float(1 - taken[is_spam].mean())
    ham_name = plain_ham(judged.labels)
    descriptions = (f"at {tick(at)} % {ham_name} lost, {percent(value)} % of the spam" for at, value in marks)
    corners = zip(lost.tolist(), missed.tolist(), strict=True)
    return svg.drawing(
        "roc",
        f"Spam missed against {ham_name} lost",
        f"For every cutoff, on logarithmic axes: {'; '.join(descriptions)}.",
        svg.y_axis(y, "spam missed, %"),
        svg.x_axis(x, f"{ham_name} lost, %"),
        *(svg.line(x.at(at), TOP, x.at(at), BOTTOM, "mark") for at, _ in marks),
        svg.clipped(svg.path([(x.at(a), y.at(b)) for a, b in corners], "curve")),
        *(svg.dot(x.at(at), y.at(value), 3.5, "point") for at, value in marks),
        *(
            svg.text(x.at(at) + 5, y.at(value) - 6, f"{percent(value)} %", "start", "small")
            for at, value in without_overlap(marks, y)
        ),
        *(
            [svg.dot(x.at(at_verdicts[0]), y.at(at_verdicts[1]), 5.5, "ring")]
            if at_verdicts[0] <= x.high and at_verdicts[1] <= y.high
            else []
        ),
    )


def without_overlap(marks: Sequence[tuple[float, float]], y: Logarithmic) -> list[tuple[float, float]]:
    """Return the marks whose texts do not overlap: of two at about the same height, only the later one."""
    return [
        (at, value)
        for index, (at, value) in enumerate(marks)
        if all(abs(y.at(value) - y.at(other)) >= TEXT_HEIGHT for _, other in marks[index + 1 :])
    ]


def learning(curve: Sequence[CurvePoint]) -> Markup:
    """Plot errors in percent against the number of messages seen so far."""
    drawn = curve[:: max(1, -(-len(curve) // MAX_POINTS))]
    if drawn[-1] is not curve[-1]:
        drawn = [*drawn, curve[-1]]
    series = [
        (class_, [(point.messages, value) for point in drawn if (value := getattr(point, field)) is not None])
        for field, _, class_ in LEARNING_SERIES
    ]
    values = [value for _, points in series for _, value in points if value > 0]
    lowest, highest = min(values, default=0.1), max(values, default=10.0)
    x = Linear(0, max(drawn[-1].messages, 1), *ACROSS)
    y = Logarithmic(max(svg.power_below(min(lowest, 1)), 1e-3), 100.0 if highest > 10 else 10.0, *UPWARD)
    return svg.drawing(
        "learning",
        "Errors while learning",
        f"In percent, on a logarithmic axis, over {counted(drawn[-1].messages, 'message')} in their order.",
        svg.y_axis(y, "errors, %"),
        svg.x_axis(x, "messages seen"),
        *(
            svg.path([(x.at(messages), y.at(value)) for messages, value in points], class_)
            for class_, points in series
            if points
        ),
    )
