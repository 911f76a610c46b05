"""The "How strict" page: what each allowed share of lost ham would have done to last month's mail."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import cutoffs, has_spam, score_scale
from spamnb.bayes.verdict import Cutoffs
from spamnb.clock import DAY
from spamnb.errors import DataError
from spamnb.files import counted
from spamnb.inspection.assessment import left_out_scores
from spamnb.labels import HAM, SPAM, UNSURE, plain_label
from spamnb.model import Model
from spamnb.pages.colours import HAM_COLOUR, SPAM_COLOUR
from spamnb.pages.elements import Markup, element
from spamnb.pages.formats import count, tick
from spamnb.pages.histogram import ScoreGroup, fitting_bins, histogram
from spamnb.pages.parts import captioned, scrolling, table
from spamnb.pages.svg import ACROSS, Linear
from spamnb.review.context import PageContext, heading, hidden, note
from spamnb.training.train import train
from spamnb.workers import LocalPool

MONTH = 30 * DAY
LOSSES = [float(f"{step}e{power}") for power in (-5, -4, -3, -2) for step in (1, 2, 5)] + [0.1]
MAX_LOSS = 0.5  # as on the command line


class JudgedMail(NamedTuple):
    """The scores of messages, with the verdict and the correction of each."""

    scores: Array
    verdicts: Array
    labels: Array  # that a person gave the messages; "" for most

    @classmethod
    def of(cls, found: list[tuple[float, str, str | None]]) -> JudgedMail:
        verdicts, labels = (np.array([each[k] or "" for each in found], str) for k in (1, 2))
        return cls(np.array([each[0] for each in found], float), verdicts, labels)

    @property
    def corrected_to_ham(self) -> Array:
        """For each message, whether a person corrected it to a label other than spam."""
        return np.asarray((self.labels != "") & (self.labels != SPAM))


class Choice(NamedTuple):
    """An allowed share of lost ham, and its effect on the mail."""

    loss: float
    cutoff: float  # a message with this score or a higher one is spam
    spam: int
    unsure: int
    ham: int
    ham_lost: int  # counts only mail that a person has corrected
    spam_missed: int  # counts only mail that a person has corrected


def cutoff_page(context: PageContext) -> str:
    model, title, limits = context.model, "How strict", context.model.cutoffs
    if not has_spam(model.labels) or not limits:
        why = "There is nothing to choose here: this model always takes the most probable label."
        return context.page(title, heading(title), note(why))
    if not isfinite(limits.spam):
        why = "Too little mail was learned to choose: mark some spam and some other mail first."
        return context.page(title, heading(title), note(why))
    mail = JudgedMail.of(context.history.scores(context.model_path, MONTH))
    if not len(mail.scores):
        return context.page(
            title, heading(title), note("No mail was judged in the last 30 days, so no choice can be tried.")
        )
    now = float(model.stored.head["ham_loss"])
    choices = all_choices(model, mail, limits, now)
    intro = (
        "How much of the mail you keep may be taken for spam? The less, the more spam stays unsure. "
        f"The effect of each choice on {counted(len(mail.scores), 'message')} of the last 30 days:"
    )
    groups = score_groups(mail)
    bins = fitting_bins(mail.scores, [limits.ham, limits.spam])
    listed = choice_table(choices, now, Linear(bins.low, bins.high, *ACROSS))
    save = element("p", element("button", "use this", class_="main"), class_="save")
    form = context.form(
        "/cutoff",
        "/cutoff",
        element("div", picture(groups, limits), element("div", listed, save), class_="beside"),
        class_="cutoff",
    )
    return context.page(title, heading(title, intro), saved_note(context, now), form)


def saved_note(context: PageContext, now: float) -> Markup | None:
    """Say which share was just saved, with a button to undo that; return None if none was saved."""
    before = share_of(context.query.get("before", ""))
    if before is None or before == now:
        return None
    words = f"Saved: {percent_text(now)} may be lost, before it was {percent_text(before)}. "
    undo = context.form("/cutoff", "/cutoff", hidden("loss", str(before)), element("button", "undo"))
    return element("div", element("p", words, role="status"), undo, class_="note saved")


def percent_text(share: float) -> str:
    return f"{100 * share:.10g} %"


def all_choices(model: Model, mail: JudgedMail, limits_now: Cutoffs, now: float) -> list[Choice]:
    """Try each share of lost ham; of those with the same cutoff, return the current one, else the lowest."""
    known, scale = left_out_scores(model.stored), score_scale(model.view)
    choices: dict[float, Choice] = {}  # by cutoff
    for loss in sorted({*LOSSES, now}):
        made = effect_of(loss, cutoffs(*known, loss, scale=scale), limits_now, mail)
        if loss == now:
            choices[made.cutoff] = made
        else:
            choices.setdefault(made.cutoff, made)
    return list(choices.values())


def effect_of(loss: float, limits: Cutoffs, limits_now: Cutoffs, mail: JudgedMail) -> Choice:
    """Count verdicts on `mail` by the cutoffs `limits`; mail now unsure despite a low score stays unsure."""
    stays_unsure = (mail.verdicts == UNSURE) & (mail.scores <= limits_now.ham)
    is_spam = (mail.scores >= limits.spam) & (mail.scores != limits.ham)
    is_ham = (mail.scores <= limits.ham) & ~stays_unsure
    spam, ham = int(is_spam.sum()), int(is_ham.sum())
    lost, missed = int((is_spam & mail.corrected_to_ham).sum()), int((is_ham & (mail.labels == SPAM)).sum())
    return Choice(loss, limits.spam, spam, len(mail.scores) - spam - ham, ham, lost, missed)


def picture(groups: Sequence[ScoreGroup], limits: Cutoffs) -> Markup:
    plot, _ = histogram(groups[0], groups[1], (limits.ham, limits.spam))
    words = (
        "Bars up are mail you keep and unsure mail, bars down are spam, by your marks or the verdicts; "
        "the scale is logarithmic, so that a single message shows. "
        "Between the dashed lines a message is unsure; left of them, too, if its text or its "
        "headers alone are like spam."
    )
    return captioned(plot, words)


def score_groups(mail: JudgedMail) -> tuple[ScoreGroup, ScoreGroup]:
    """Split the scores into other mail and spam: by each message's correction or, without one, verdict."""
    is_spam = (mail.labels == SPAM) | ((mail.verdicts == SPAM) & ~mail.corrected_to_ham)
    ham_group = ScoreGroup(plain_label(HAM), mail.scores[~is_spam], HAM_COLOUR)
    return ham_group, ScoreGroup(SPAM, mail.scores[is_spam], SPAM_COLOUR)


def choice_table(choices: Sequence[Choice], now: float, x: Linear) -> Markup:
    columns = ("may be lost", "spam", "unsure", plain_label(HAM), "lost", "missed")
    note = (
        "Messages. Lost is mail you keep that would be taken for spam, missed is spam taken for "
        "mail you keep; both count only mail that you have marked."
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
    as_now = element("span", " now", class_="quiet") if is_now else None
    name = element("th", element("label", button, f" {percent_text(choice.loss)}", as_now), scope="row")
    return element("tr", name, [element("td", count(messages)) for messages in choice[2:]])


def save_cutoff(context: PageContext, loss: str) -> None:
    """Set to `loss` the share of ham that may be lost, as `spamnb train --ham-loss` does."""
    share = share_of(loss)
    if share is None:
        raise DataError("no such choice; load the page again")
    train(context.model_path, {}, pool=LocalPool(1), ham_loss=share)


def share_of(text: str) -> float | None:
    """Read a share of ham from a form; return None if the text is not a number from 0 to MAX_LOSS."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 <= share <= MAX_LOSS else None
