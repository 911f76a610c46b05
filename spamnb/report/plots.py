"""Plots of an evaluation, each with a few words on how to read it."""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

from spamnb.bayes.cutoffs import has_spam, not_spam
from spamnb.evaluation import intervals
from spamnb.evaluation.metrics import calibration_bins, roc
from spamnb.evaluation.results import CurvePoint, Evaluation, JudgedMessages
from spamnb.files import counted
from spamnb.labels import SPAM
from spamnb.report.elements import Markup, element, joined
from spamnb.report.formats import HAM_COLOUR, SPAM_COLOUR, percent, share, short, tick
from spamnb.report.histogram import ScoreGroup, histogram
from spamnb.report.svg import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Linear,
    Logarithmic,
    box,
    clipped,
    dot,
    drawing,
    line,
    path,
    power_below,
    text,
    x_axis,
    y_axis,
)


def plots_section(evaluation: Evaluation) -> Markup | None:
    judged, metrics = evaluation.judged, evaluation.metrics
    if not metrics["messages"]:
        return None
    drawn = [errors_figure(judged, metrics), scores_figure(judged), calibration_figure(judged, metrics)]
    if evaluation.curve:
        drawn.append(learning_figure(evaluation.curve, not_spam(judged.labels)))
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
        f"{not_spam(judged.labels).capitalize()} lost against spam missed",
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
        rest = not_spam(judged.labels)
        return ScoreGroup(rest, judged.score[~is_spam], HAM_COLOUR), ScoreGroup(
            SPAM, judged.score[is_spam], SPAM_COLOUR
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


def learning_figure(curve: Sequence[CurvePoint], rest: str) -> Markup:
    words = "Lately is over the last messages before each point, the others are from the first message on."
    return figure("Learning", learning(curve), joined(legend(curve, rest), words))


CURVE_POINTS = 300  # drawn of a learning curve, about as many as a plot has dots across
MOST_LOST = 10.0  # percent of the ham: who loses more has no use for a filter
COUNTS_TOP = 200  # y where the bars of message counts begin, below the calibration
LEARNING_SERIES = (  # field of CurvePoint, name, classes of the style sheet
    ("recent_error_percent", "wrong or unsure lately", "curve"),
    ("spam_missed_percent", "spam missed", "curve spam dashed"),
    ("ham_lost_percent", "{} lost", "curve ham"),
    ("one_minus_auc_percent", "(1−AUC) %", "curve quiet dotted"),
)


def trade_off(judged: JudgedMessages, missed_at: Mapping[str, float | None]) -> Markup | None:
    """Plot ham lost against spam missed for every cutoff, and where the verdicts themselves are."""
    spam_index = judged.labels.index(SPAM)
    is_spam = judged.truth == spam_index
    lost, missed = roc(is_spam, judged.score)
    if not len(lost):
        return None
    marks = [(float(at), value) for at, value in missed_at.items() if value is not None]
    ham, spam = int((~is_spam).sum()), int(is_spam.sum())
    highest = max((value for _, value in marks), default=100.0)
    x = Logarithmic(min(power_below(100 / ham), 0.1), MOST_LOST, LEFT, RIGHT)
    y = Logarithmic(min(power_below(100 / spam), 1.0), 10.0 if highest <= 10 else 100.0, BOTTOM, TOP)
    taken = judged.verdict == spam_index
    at_verdicts = 100 * float(taken[~is_spam].mean()), 100 * float(1 - taken[is_spam].mean())
    rest = not_spam(judged.labels)
    descriptions = (f"at {tick(at)} % {rest} lost, {percent(value)} % of the spam" for at, value in marks)
    corners = zip(lost.tolist(), missed.tolist(), strict=True)
    return drawing(
        "roc",
        f"Spam missed against {rest} lost",
        f"For every cutoff, on logarithmic axes: {'; '.join(descriptions)}.",
        y_axis(y, "spam missed, %"),
        x_axis(x, f"{rest} lost, %"),
        *(line(x.at(at), TOP, x.at(at), BOTTOM, "mark") for at, _ in marks),
        clipped(path([(x.at(a), y.at(b)) for a, b in corners], "curve")),
        *(dot(x.at(at), y.at(value), 3.5, "point") for at, value in marks),
        *(
            text(x.at(at) + 5, y.at(value) - 6, f"{percent(value)} %", "start", "small")
            for at, value in without_overlap(marks, y)
        ),
        *(
            [dot(x.at(at_verdicts[0]), y.at(at_verdicts[1]), 5.5, "ring")]
            if at_verdicts[0] <= x.high and at_verdicts[1] <= y.high
            else []
        ),
    )


def without_overlap(marks: Sequence[tuple[float, float]], y: Logarithmic) -> list[tuple[float, float]]:
    """Choose marks whose names do not overlap: where two are level, the name of the second is enough."""
    level = 12  # units: the height of a line of text
    return [
        (at, value)
        for index, (at, value) in enumerate(marks)
        if all(abs(y.at(value) - y.at(other)) >= level for _, other in marks[index + 1 :])
    ]


def calibration(judged: JudgedMessages) -> Markup:
    """Plot how often a forecast came true, with 95 % intervals, and of how many messages that is known."""
    bins = [
        each for each in calibration_bins(judged.labels, judged.truth, judged.probability) if each.messages
    ]
    x, y = Linear(0, 1, LEFT, RIGHT), Linear(0, 1, COUNTS_TOP - 18, TOP)
    scale = 20 / sqrt(max((each.messages for each in bins), default=1))
    marks: list[Markup] = []
    for each in bins:
        share, forecast = each.share or 0.0, x.at(each.mean_probability or 0.0)
        trust = intervals.share(round(share * each.messages), each.messages)
        if trust:
            marks.append(line(forecast, y.at(trust.low), forecast, y.at(trust.high), "whisker"))
        messages = counted(each.messages, "message")
        tip = f"forecast {each.mean_probability:.3f}, came true {share:.3f}, {messages}"
        marks.append(dot(forecast, y.at(share), 3.5, "point", tip))
        left, right, tall = x.at(each.low), x.at(each.high), scale * sqrt(each.messages)
        marks.append(box(left + 1, BOTTOM - tall, right - left - 2, tall, "quiet", tip))
        marks.append(text((left + right) / 2, BOTTOM - tall - 3, short(each.messages), class_="small"))
    what = SPAM if has_spam(judged.labels) else "the likeliest label"
    return drawing(
        "calibration",
        "Forecast against truth",
        f"How often {what} came true for each probability forecast, and the messages behind it.",
        y_axis(y, "share that came true", (0, 0.2, 0.4, 0.6, 0.8, 1)),
        line(x.at(0), y.at(0), x.at(1), y.at(1), "diagonal"),
        x_axis(x, f"probability of {what}", (0, 0.2, 0.4, 0.6, 0.8, 1)),
        *marks,
    )


def learning(curve: Sequence[CurvePoint]) -> Markup:
    """Plot errors in percent against messages seen."""
    drawn = curve[:: max(1, -(-len(curve) // CURVE_POINTS))]
    if drawn[-1] is not curve[-1]:
        drawn = [*drawn, curve[-1]]
    series = [
        (
            class_,
            [(point.messages, value) for point in drawn if (value := getattr(point, field)) is not None],
        )
        for field, _, class_ in LEARNING_SERIES
    ]
    values = [value for _, points in series for _, value in points if value > 0]
    lowest, highest = min(values, default=0.1), max(values, default=10.0)
    x = Linear(0, max(drawn[-1].messages, 1), LEFT, RIGHT)
    y = Logarithmic(max(power_below(min(lowest, 1)), 1e-3), 100.0 if highest > 10 else 10.0, BOTTOM, TOP)
    return drawing(
        "learning",
        "Errors while learning",
        f"In percent, on a logarithmic axis, over {counted(drawn[-1].messages, 'message')} in their order.",
        y_axis(y, "errors, %"),
        x_axis(x, "messages seen"),
        *(
            path([(x.at(messages), y.at(value)) for messages, value in points], class_)
            for class_, points in series
            if points
        ),
    )


def legend(curve: Sequence[CurvePoint], rest: str) -> Markup:
    """Name the lines of the learning curve."""
    return legend_of(
        (name.format(rest), class_)
        for field, name, class_ in LEARNING_SERIES
        if any(getattr(point, field) is not None for point in curve)
    )


def legend_of(lines: Iterable[tuple[str, str]]) -> Markup:
    """Name lines by how they are drawn: the name and the classes of each."""
    return element(
        "ul",
        [
            element(
                "li", element("svg", line(0, 5, 26, 5, class_), viewBox="0 0 26 10", aria_hidden="true"), name
            )
            for name, class_ in lines
        ],
        class_="legend",
    )
