"""The cutoff: what each share of ham that may be lost would have done to last month's mail."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import cutoffs, has_spam, not_spam, score_scale
from spamnb.bayes.verdict import Cutoffs
from spamnb.clock import DAY
from spamnb.errors import DataError
from spamnb.files import counted
from spamnb.history.queries import History
from spamnb.inspection.model_summary import left_out_scores
from spamnb.labels import SPAM, UNSURE
from spamnb.model import Model
from spamnb.pages.colours import HAM_COLOUR, SPAM_COLOUR
from spamnb.pages.elements import Markup, element
from spamnb.pages.formats import count, tick
from spamnb.pages.histogram import ScoreGroup, fitting_bins, histogram
from spamnb.pages.parts import captioned, scrolling, table
from spamnb.pages.svg import ACROSS, Linear
from spamnb.review.context import PageContext, heading, hidden
from spamnb.training.train import train
from spamnb.workers.local import LocalPool

MONTH = 30 * DAY
LOSSES = [float(f"{step}e{power}") for power in (-5, -4, -3, -2) for step in (1, 2, 5)] + [0.1]
MOST_LOSS = 0.5  # as on the command line


class JudgedMail(NamedTuple):
    """Scores of messages, and what the filter and a person have said of each."""

    values: Array
    unsure: Array  # by the filter
    taken_for_spam: Array  # by the filter
    said_ham: Array  # by a person: spam or not; most have no word of theirs
    said_spam: Array

    @classmethod
    def since(cls, history: History, time: float, model: str) -> JudgedMail:
        found = history.scores(time, model)
        verdict = np.array([verdict for _, verdict, _ in found], object)
        label = np.array([label or "" for _, _, label in found], object)
        return cls(
            np.array([score for score, _, _ in found], float),
            np.asarray(verdict == UNSURE, bool),
            np.asarray(verdict == SPAM, bool),
            np.asarray((label != "") & (label != SPAM), bool),
            np.asarray(label == SPAM, bool),
        )


class Choice(NamedTuple):
    """A share of ham that may be lost, and what it would have done."""

    loss: float
    cutoff: float  # the score from which on a message is spam
    spam: int
    unsure: int
    ham: int
    ham_lost: int  # of those that a person has corrected
    spam_missed: int  # likewise

    @property
    def name(self) -> str:
        return f"{100 * self.loss:.10g} %"


def cutoff_page(context: PageContext) -> str:
    model, title = context.model, "Cutoff"
    if not has_spam(model.labels) or model.settings.closed or not model.cutoffs:
        why = "This model decides by the likeliest label. Cutoffs tell spam from other labels."
        return context.page(title, heading(title, why))
    if not isfinite(model.cutoffs.spam):
        why = "Too little mail was learned to choose one: learn a few of spam and of other mail first."
        return context.page(title, heading(title, why))
    latest = context.history.entries("time", model=context.model_path, limit=1)
    scores = JudgedMail.since(context.history, latest[0].time - MONTH if latest else 0.0, context.model_path)
    now, rest = float(model.stored.head["ham_loss"]), not_spam(model.labels)
    choices = all_choices(model, scores, now)
    lead = (
        "What share of the mail that is not spam may be taken for it? The less, the more spam stays unsure. "
        f"What each choice would have done to {counted(len(scores.values), 'message')} of the last 30 days:"
    )
    groups = score_groups(scores, rest)
    limits = model.cutoffs
    bins = fitting_bins(np.concatenate([group.scores for group in groups]), [limits.ham, limits.spam])
    listed = choice_table(choices, now, rest, Linear(bins.low, bins.high, *ACROSS))
    form = context.form(
        "/cutoff",
        hidden("model", context.model_path),
        slider(choices, now),
        element("div", picture(groups, limits), listed, class_="beside"),
        element("p", element("button", "use this", class_="main")),
        class_="cutoff",
    )
    return context.page(title, heading(title, lead), form)


def all_choices(model: Model, scores: JudgedMail, now: float) -> list[Choice]:
    """Try each share of ham; one that changes nothing is no choice, unless it is the one of now."""
    known, scale = left_out_scores(model.stored), score_scale(model.view)
    choices: list[Choice] = []
    for loss in sorted({*LOSSES, now}):
        made = judged(loss, cutoffs(*known, loss, scale=scale), model.cutoffs or Cutoffs(), scores)
        if choices and choices[-1].cutoff == made.cutoff:
            if loss != now:
                continue
            choices.pop()
        choices.append(made)
    return choices


def judged(loss: float, limits: Cutoffs, limits_now: Cutoffs, scores: JudgedMail) -> Choice:
    """Judge mail anew by its scores. What was unsure for another reason than its score stays so."""
    is_spam = (scores.values >= limits.spam) & (scores.values != limits.ham)
    is_ham = (scores.values <= limits.ham) & ~(scores.unsure & (scores.values <= limits_now.ham))
    spam, ham = int(is_spam.sum()), int(is_ham.sum())
    lost, missed = int((is_spam & scores.said_ham).sum()), int((is_ham & scores.said_spam).sum())
    return Choice(loss, limits.spam, spam, len(scores.values) - spam - ham, ham, lost, missed)


def slider(choices: Sequence[Choice], now: float) -> Markup:
    """Make the slider, which the script shows; without it, the table has a button for each choice."""
    at = next(index for index, choice in enumerate(choices) if choice.loss == now)
    return element(
        "p",
        element("label", "What may be lost: ", element("output", choices[at].name), for_="slider"),
        element("input", type="range", id="slider", min="0", max=str(len(choices) - 1), value=str(at)),
        element("span", id="counts", class_="lead"),
        class_="slider",
        hidden="",
    )


def picture(groups: Sequence[ScoreGroup], limits: Cutoffs) -> Markup:
    plot, _ = histogram(groups[0], groups[1], (limits.ham, limits.spam))
    words = (
        f"Bars up are {groups[0].name} and what was unsure, bars down are spam, as you or else the filter "
        "called it; the scale is logarithmic, so that a single message shows. "
        "Between the cutoffs a message is unsure."
    )
    return captioned(plot, words)


def score_groups(scores: JudgedMail, rest: str) -> tuple[ScoreGroup, ScoreGroup]:
    """Split messages by what a person says of them, or else the filter."""
    spam = scores.said_spam | (scores.taken_for_spam & ~scores.said_ham)
    ham_group = ScoreGroup(rest, scores.values[~spam], HAM_COLOUR)
    return ham_group, ScoreGroup(SPAM, scores.values[spam], SPAM_COLOUR)


def choice_table(choices: Sequence[Choice], now: float, rest: str, x: Linear) -> Markup:
    columns = ("may be lost", "spam", "unsure", rest, "lost", "missed")
    note = (
        f"Messages. Lost is {rest} taken for spam, missed is spam taken for {rest}, "
        "both of the mail that you have marked."
    )
    listed = table(columns, [choice_row(choice, choice.loss == now, x) for choice in choices])
    return element("div", scrolling("Choices", listed), element("p", note, class_="footnote"))


def choice_row(choice: Choice, is_now: bool, x: Linear) -> Markup:
    button = element(
        "input",
        type="radio",
        name="loss",
        value=str(choice.loss),
        checked="" if is_now else None,
        data_x=x.at(min(max(choice.cutoff, x.low), x.high)),
        data_cutoff=tick(round(choice.cutoff, 2)),
    )
    as_now = element("span", " as now", class_="quiet") if is_now else None
    name = element("th", element("label", button, f" {choice.name}", as_now), scope="row")
    return element("tr", name, [element("td", count(messages)) for messages in choice[2:]])


def save_cutoff(context: PageContext, loss: str) -> None:
    """Set the share of ham that may be lost, as `spamnb train --ham-loss` does."""
    try:
        share = float(loss)
    except ValueError:
        share = -1.0
    if not 0 <= share <= MOST_LOSS:
        raise DataError("no such choice; load the page again")
    train(context.model_path, {}, pool=LocalPool(1), ham_loss=share)
