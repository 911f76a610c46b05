"""How it goes: shares week by week, mistakes put right, the learning curve, words that come and go."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from spamnb.bayes.cutoffs import not_spam
from spamnb.evaluation.intervals import Estimate, share
from spamnb.history.database import Week
from spamnb.inspection.model_summary import TellingToken
from spamnb.inspection.standing import learning_curve, standing
from spamnb.inspection.token_changes import TokenChanges, token_changes
from spamnb.labels import SPAM, UNSURE
from spamnb.report.elements import Markup, element, joined, label, row, scrolling, table, untrusted
from spamnb.report.formats import UNKNOWN, colour_of_label, count, percent
from spamnb.report.plots import figure, legend_of
from spamnb.report.svg import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Linear,
    Logarithmic,
    dot,
    drawing,
    line,
    path,
    power_below,
    text,
    x_axis,
    y_axis,
)
from spamnb.report.tokens_and_mistakes import TOKEN
from spamnb.review.context import PageContext, heading, sentences

WEEKS = 12  # shown
FEWEST = 20  # messages of a week that is drawn; the table has all
WORDS_SHOWN = 12
CHANGE_DAYS = 30  # words that came within so many days, or were not seen for so many


def course_page(context: PageContext) -> str:
    weeks = context.history.weeks(context.model_path)[-WEEKS:]
    labels = context.model.labels
    return context.page(
        "How it goes",
        heading("How it goes", sentences(standing(context.model.stored))),
        weeks_section(weeks, labels) if weeks else None,
        curve_section(context),
        words_section(context),
    )


def weeks_section(weeks: Sequence[Week], labels: Sequence[str]) -> Markup:
    lead = "With 95 % intervals. Lost and missed is what you have put right: as much as you have looked."
    rest = not_spam(labels)
    drawn = [week for week in weeks if week.messages >= FEWEST] or weeks
    shown = [shares_figure(drawn)]
    if SPAM in labels:
        shown.append(mistakes_figure(drawn, rest))
    return element(
        "section",
        element("h2", "Week by week"),
        element("p", lead, class_="lead"),
        element("div", shown, class_="plots of2"),
        scrolling("Week by week", week_table(weeks, rest)),
    )


def spam_share(week: Week) -> Estimate | None:
    return share(week.verdicts.get(SPAM, 0), week.messages)


def unsure_share(week: Week) -> Estimate | None:
    return share(week.verdicts.get(UNSURE, 0), week.messages)


def ham_lost(week: Week) -> Estimate | None:
    """Share of the ham that was taken for spam, as far as a person has said so."""
    return mistaken(week, lambda label: label != SPAM, lambda verdict: verdict == SPAM)


def spam_missed(week: Week) -> Estimate | None:
    """Share of the spam that was taken for something else, as far as a person has said so."""
    return mistaken(week, lambda label: label == SPAM, lambda verdict: verdict not in (SPAM, UNSURE))


def mistaken(week: Week, is_kind: Callable[[str], bool], is_wrong: Callable[[str], bool]) -> Estimate | None:
    """Share of the mail of a kind that got a wrong verdict; what nobody corrected is taken to be right.

    Nothing is known of a week in which nobody has said anything.
    """
    if not week.corrections:
        return None
    right = sum(n for verdict, n in week.verdicts.items() if verdict != UNSURE and is_kind(verdict))
    right -= sum(n for (verdict, _), n in week.corrections.items() if verdict != UNSURE and is_kind(verdict))
    given = {pair: n for pair, n in week.corrections.items() if is_kind(pair[1])}
    wrong = sum(n for (verdict, _), n in given.items() if is_wrong(verdict))
    return share(wrong, right + sum(given.values()))


Series = tuple[str, str, Callable[[Week], Estimate | None]]  # name, classes of the style sheet, measure


def shares_figure(weeks: Sequence[Week]) -> Markup:
    series = ((SPAM, "curve spam", spam_share), (UNSURE, "curve quiet dashed", unsure_share))
    return week_figure("shares", "Spam and unsure", "Of all mail that was judged.", weeks, series)


def mistakes_figure(weeks: Sequence[Week], rest: str) -> Markup:
    series = ((f"{rest} lost", "curve ham", ham_lost), ("spam missed", "curve spam dashed", spam_missed))
    words = f"Of what is {rest}, and of the spam, by your corrections."
    return week_figure("mistakes", f"{rest.capitalize()} lost and spam missed", words, weeks, series)


def week_figure(name: str, title: str, words: str, weeks: Sequence[Week], series: Sequence[Series]) -> Markup:
    """Plot shares in percent, week by week, with an interval at each point."""
    points = [
        [(at, found.scaled(100)) for at, week in enumerate(weeks) if (found := measure(week))]
        for _, _, measure in series
    ]
    highest = max((found.high for of_series in points for _, found in of_series), default=1.0)
    x = Linear(-0.5, len(weeks) - 0.5, LEFT, RIGHT)
    y = Linear(0, min(100.0, highest * 1.05), BOTTOM, TOP)
    drawn: list[Markup] = []
    for place, ((each, class_, _), of_series) in enumerate(zip(series, points, strict=True)):
        shift = 4 * place - 2  # or the intervals would hide each other
        spots = [(x.at(at) + shift, found) for at, found in of_series]
        drawn += [line(left, y.at(found.low), left, y.at(found.high), "whisker") for left, found in spots]
        drawn.append(path([(left, y.at(found.value)) for left, found in spots], class_))
        drawn += [
            dot(left, y.at(found.value), 3, "point", f"{each}: {percent(found.value)} %")
            for left, found in spots
        ]
    shown = range(0, len(weeks), max(1, -(-len(weeks) // 5)))
    plot = drawing(
        name,
        title,
        "In percent, week by week; the same figures are in the table below.",
        y_axis(y, "%"),
        x_axis(x, "week from", shown, form=lambda at: day_of(weeks[int(at)].start)),
        *drawn,
    )
    return figure(title, plot, joined(legend_of((each, class_) for each, class_, _ in series), words))


def day_of(seconds: float) -> str:
    return time.strftime("%d %b", time.gmtime(seconds)).lstrip("0")


def week_table(weeks: Sequence[Week], rest: str) -> Markup:
    columns = ("week from", "messages", "spam", "unsure", "corrected", f"{rest} lost", "spam missed")
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


def estimate_cell(found: Estimate | None) -> Markup | str:
    """Write a share with its interval below."""
    if found is None:
        return UNKNOWN
    low, high = (percent(100 * bound) for bound in (found.low, found.high))
    return joined(f"{percent(100 * found.value)} %", element("span", f"{low} to {high}", class_="span"))


def curve_section(context: PageContext) -> Markup | None:
    """Draw how much spam is caught with less and with more mail than there is."""
    curve = learning_curve(context.model.stored)
    if not curve:
        return None
    messages = sum(context.model.stored.messages)
    x = Logarithmic(power_below(curve[0][0]), 10 * power_below(curve[-1][0]), LEFT, RIGHT)
    y = Linear(0, 100, BOTTOM, TOP)
    now = next(caught for learned, caught in curve if learned == messages)
    plot = drawing(
        "curve",
        "Learning curve",
        f"Spam caught against messages learned: {100 * now:.0f} % with {count(messages)}.",
        y_axis(y, "spam caught, %"),
        x_axis(x, "messages learned", x.ticks[1:], form=lambda value: f"{value:,.0f}"),
        line(x.at(messages), TOP, x.at(messages), BOTTOM, "mark"),
        path([(x.at(learned), y.at(100 * caught)) for learned, caught in curve], "curve"),
        dot(x.at(messages), y.at(100 * now), 5.5, "ring"),
        text(
            x.at(messages) + 8,
            y.at(100 * now) + 20,
            f"now: {count(messages)}, {100 * now:.0f} %",
            "start",
            "small",
        ),
    )
    words = (
        "Estimated from how the mail that was learned scores, each message without itself. "
        "The ring is where the model stands."
    )
    return element(
        "section", element("h2", "Learning curve"), element("figure", plot, element("figcaption", words))
    )


def words_section(context: PageContext) -> Markup | None:
    changes = token_changes(context.model, CHANGE_DAYS, WORDS_SHOWN)
    listed = [words_of_label(context, changes, index) for index in range(len(context.model.labels))]
    if not any(listed):
        return None
    lead = (
        f"Words that were learned for the first time within {CHANGE_DAYS} days, and words that nobody has "
        "written for so long, though they told much before."
    )
    return element(
        "section",
        element("h2", "Words gained and lost this month"),
        element("p", lead, class_="lead"),
        element("div", listed, class_="telling"),
    )


def words_of_label(context: PageContext, changes: TokenChanges, index: int) -> Markup | None:
    name = context.model.labels[index]
    kinds = (("gained", changes.gained[index]), ("lost", changes.lost[index]))
    if not any(tokens for _, tokens in kinds):
        return None
    return element(
        "div",
        [
            (element("h3", label(name), f": {kind}"), word_list(context, tokens, colour_of_label(name)))
            for kind, tokens in kinds
            if tokens
        ],
    )


def word_list(context: PageContext, tokens: Sequence[TellingToken], colour: str) -> Markup:
    items = [
        element(
            "li",
            element(
                "a",
                element("code", untrusted(token.token, TOKEN)),
                href=context.url("/words", word=token.token),
            ),
        )
        for token in tokens
    ]
    return element("ul", items, class_=f"evidence {colour}")
