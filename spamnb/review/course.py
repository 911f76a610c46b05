"""The "Results" page: for each week, the shares of spam, unsure mail and corrected mistakes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from spamnb.evaluation.intervals import Estimate, share
from spamnb.files import counted
from spamnb.history.queries import Week
from spamnb.inspection.assessment import assessment
from spamnb.labels import SPAM, UNSURE, plain_label, sorted_into
from spamnb.pages import svg
from spamnb.pages.elements import Markup, element, joined
from spamnb.pages.formats import UNKNOWN, count, interval_text
from spamnb.pages.parts import captioned, row, scrolling, section, small, table
from spamnb.pages.svg import ACROSS, UPWARD, Linear
from spamnb.review.context import PageContext, heading, note, sentences

WEEKS = 12  # shown
MIN_MESSAGES = 20  # messages in a week, for it to be in the charts; the table has every week
MIN_WEEKS = 3  # weeks from which on there is something to draw

Series = tuple[str, str, Callable[[Week], Estimate | None]]  # name, classes of the style sheet, measure


def course_page(context: PageContext) -> str:
    weeks = context.history.weeks(context.model_path)[-WEEKS:]
    return context.page(
        "Results",
        heading("Results", sentences(assessment(context.model.stored, plain=True))),
        weeks_section(weeks, context.model.labels) if weeks else note("No mail was judged yet."),
        labels_section(weeks, context.model.labels),
    )


def weeks_section(weeks: Sequence[Week], labels: Sequence[str]) -> Markup:
    drawn = [week for week in weeks if week.messages >= MIN_MESSAGES]
    listed = scrolling("Week by week", week_table(weeks))
    if len(drawn) < MIN_WEEKS:
        return section(
            "Week by week", f"{summary_of(weeks)} After {MIN_WEEKS} weeks there are charts here.", listed
        )
    intro = (
        "Thin lines are 95 % intervals. Mail lost and spam missed are counted from your corrections: "
        "mistakes that you did not correct are not in them."
    )
    shares = ((SPAM, "curve spam", spam_share), (UNSURE, "curve quiet dashed", unsure_share))
    shown = [week_figure("shares", "Spam and unsure", "Of all mail that was judged.", drawn, shares)]
    if SPAM in labels:
        title = "Mail lost and spam missed"
        words = "By your corrections: mail you keep that was taken for spam, and spam that was not."
        missed = ("spam missed", "curve spam dashed", spam_missed)
        wrong = (("mail lost", "curve ham", ham_lost), missed)
        shown.append(week_figure("mistakes", title, words, drawn, wrong))
    return section("Week by week", intro, element("div", shown, class_="plots of2"), listed)


def summary_of(weeks: Sequence[Week]) -> str:
    """Return a sentence with the totals of all weeks, to show while there are too few weeks for a chart."""
    messages = sum(week.messages for week in weeks)
    spam, unsure = (sum(week.verdicts.get(verdict, 0) for week in weeks) for verdict in (SPAM, UNSURE))
    put_right = sum(sum(week.corrections.values()) for week in weeks)
    since, judged = day_of(weeks[0].start), counted(messages, "message")
    return (
        f"Since the week of {since}: {judged} judged, {count(spam)} of them spam, {count(unsure)} unsure; "
        f"you have corrected {count(put_right)}."
    )


def share_of(verdict: str) -> Callable[[Week], Estimate | None]:
    return lambda week: share(week.verdicts.get(verdict, 0), week.messages)


spam_share, unsure_share = map(share_of, (SPAM, UNSURE))


def ham_lost(week: Week) -> Estimate | None:
    """Return the share of a week's mail other than spam that was judged spam, according to corrections."""
    return mistakes(week, lambda label: label != SPAM, lambda verdict: verdict == SPAM)


def spam_missed(week: Week) -> Estimate | None:
    """Return the share of a week's spam that was judged ham or another label, according to corrections."""
    return mistakes(week, lambda label: label == SPAM, lambda verdict: verdict not in (SPAM, UNSURE))


def mistakes(week: Week, is_kind: Callable[[str], bool], is_wrong: Callable[[str], bool]) -> Estimate | None:
    """Return the share of wrong verdicts (`is_wrong`) among a week's mail whose label satisfies `is_kind`.

    Uncorrected verdicts count as right; if unsure, they are left out. Returns None without corrections.
    """
    if not week.corrections:
        return None
    right = sum(n for verdict, n in week.verdicts.items() if verdict != UNSURE and is_kind(verdict))
    right -= sum(n for (verdict, _), n in week.corrections.items() if verdict != UNSURE and is_kind(verdict))
    given = {pair: n for pair, n in week.corrections.items() if is_kind(pair[1])}
    wrong = sum(n for (verdict, _), n in given.items() if is_wrong(verdict))
    return share(wrong, right + sum(given.values()))


def week_figure(name: str, title: str, words: str, weeks: Sequence[Week], series: Sequence[Series]) -> Markup:
    """Plot each of `series` in percent, week by week, with an interval at each point."""
    points = [
        [(at, found.scaled(100)) for at, week in enumerate(weeks) if (found := measure(week))]
        for _, _, measure in series
    ]
    highest = max((found.high for of_series in points for _, found in of_series), default=1.0)
    x = Linear(-0.5, len(weeks) - 0.5, *ACROSS)
    y = Linear(0, min(100.0, highest * 1.05), *UPWARD)
    drawn: list[Markup] = []
    for place, ((each, class_, _), of_series) in enumerate(zip(series, points, strict=True)):
        shift = 4 * place - 2  # so that the intervals of two series do not cover each other
        spots = [(x.at(at) + shift, y.at(found.value), found) for at, found in of_series]
        drawn += [svg.line(at, y.at(found.low), at, y.at(found.high), "whisker") for at, _, found in spots]
        drawn.append(svg.path([(left, top) for left, top, _ in spots], class_))
        for left, top, found in spots:
            colour = class_.split()[1]
            drawn.append(svg.dot(left, top, 3, f"point {colour}", f"{each}: {tenths(found.value)} %"))
    shown = range(0, len(weeks), max(1, -(-len(weeks) // 5)))
    plot = svg.drawing(
        name,
        title,
        "In percent, week by week; the same figures are in the table below.",
        svg.y_axis(y, "%"),
        svg.x_axis(x, "week from", shown, form=lambda at: day_of(weeks[int(at)].start)),
        *drawn,
    )
    return captioned(plot, svg.legend((each, class_) for each, class_, _ in series), words, title=title)


def day_of(seconds: float) -> str:
    return time.strftime("%d %b", time.gmtime(seconds)).lstrip("0")


def week_table(weeks: Sequence[Week]) -> Markup:
    columns = ("week from", "messages", "spam", "unsure", "corrected", "mail lost", "spam missed")
    rows = [
        row(
            day_of(week.start),
            count(week.messages),
            estimate_cell(spam_share(week)),
            estimate_cell(unsure_share(week)),
            count(sum(week.corrections.values())),
            estimate_cell(ham_lost(week)),
            estimate_cell(spam_missed(week)),
        )
        for week in reversed(weeks)
    ]
    return table(columns, rows, "weeks")


def labels_section(weeks: Sequence[Week], labels: Sequence[str]) -> Markup | None:
    """For each label other than ham and spam, show how much mail was filed there, and how much corrected."""
    rows = []
    for label in sorted_into(labels):
        filed = sum(week.verdicts.get(label, 0) for week in weeks)
        pairs = [pair for week in weeks for pair in week.corrections.items()]
        wrong = sum(n for (verdict, correction), n in pairs if verdict == label != correction)
        rows.append(row(plain_label(label), count(filed), count(wrong), estimate_cell(share(wrong, filed))))
    if not weeks or not rows:
        return None
    columns = ("label", "filed", "corrected", "share")
    intro = "Mail filed under each label in these weeks, and how much of it you have corrected."
    return section("Labels", intro, scrolling("Labels", table(columns, rows)))


def estimate_cell(found: Estimate | None) -> Markup | str:
    """Write a share in percent, with its 95 % interval below."""
    if found is None:
        return UNKNOWN
    value, low, high = (100 * each for each in (found.value, found.low, found.high))
    return joined(f"{tenths(value)} %", small(interval_text((low, high), tenths)))


def tenths(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}"
