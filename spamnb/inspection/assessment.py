"""The quality of a model: how much spam it catches, and what mail it should learn."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import inf
from typing import TYPE_CHECKING

from spamnb.bayes.cutoffs import (
    ENOUGH_TO_SUSPECT,
    MIN_SCORED,
    ham_and_spam,
    has_spam,
    not_spam,
    quantile,
    score_scale,
    spam_caught,
)
from spamnb.errors import command_to_run
from spamnb.inspection.suspects import count_suspects
from spamnb.labels import HAM, LABELS, MAIL_KEPT, SPAM, UNSURE, plain_label, plain_mail
from spamnb.model import view_of
from spamnb.store.stored_model import load_learned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.bayes.cutoffs import Scores
    from spamnb.store.stored_model import StoredModel

ENOUGH = 200  # messages of each label; with fewer, more mail is advised
GROWTHS = (2, 3, 5, 10)  # how much spam is caught is estimated for so many times as much mail
WORTH_IT = 0.1  # more mail is advised if it catches so much more of the spam
HARDLY_ANY = 0.02
SURE = 0.9  # of the ham: the share that is surely ham


def left_out_scores(stored: StoredModel) -> tuple[Scores, Scores]:
    """Return the scores of learned ham and spam, all or a sample, each computed as if not learned."""
    return ham_and_spam(stored.labels, load_learned(stored).scored())


def known_scores(stored: StoredModel) -> tuple[Scores, Scores] | None:
    """Return what `left_out_scores` returns; None without a label spam, or with too few scores."""
    if not has_spam(stored.labels):
        return None
    ham, spam = left_out_scores(stored)
    return (ham, spam) if min(len(ham), len(spam)) >= MIN_SCORED else None


def score_of_sure_ham(stored: StoredModel) -> float:
    """Return the score up to which mail is surely ham: nine of ten ham score so low (at most the ham cutoff).

    With 200 messages of each label, at most 0.06 % of later spam scored so low, 2.7 % below the ham cutoff.
    """
    scores = known_scores(stored)
    return min(stored.head["cutoffs"][0], quantile(scores[0], SURE)) if scores else -inf


def verdicts_left_out(stored: StoredModel) -> dict[str, dict[str, float]]:
    """Return the share of each verdict on learned ham, and on learned spam, both judged as if not learned."""
    scores = known_scores(stored)
    if scores is None:
        return {}
    ham_cutoff, spam_cutoff = stored.head["cutoffs"]
    found = {}
    for label, of_label in zip(LABELS, scores, strict=True):
        low, high = bisect_right(of_label, ham_cutoff), len(of_label) - bisect_left(of_label, spam_cutoff)
        counts = {HAM: low, UNSURE: len(of_label) - low - high, SPAM: high}
        found[label] = {verdict: number / len(of_label) for verdict, number in counts.items()}
    return found


def assessment(stored: StoredModel, plain: bool = False) -> list[str]:
    """Return sentences on how well a model judges mail that it did not learn; `plain` avoids the word ham."""
    named = plain_mail if plain else str
    scores = known_scores(stored)
    if scores is None:
        return missing_mail(stored.path, stored.labels, stored.messages, named)
    ham, spam = scores
    learned = zip(stored.labels, stored.messages, strict=True)
    *most, last = (f"{count:,} {named(label)}" for label, count in learned)
    loss = stored.head["ham_loss"]
    scale = score_scale(view_of(stored))
    caught = spam_caught(ham, spam, loss, scale=scale)
    share = f"about {caught:.0%} of the spam in mail like this is caught".replace("%", " %")
    alone = "without its base, " if "base" in stored.head else ""
    result = share if caught > HARDLY_ANY else "nearly all is still unsure"
    if rest := bisect_right(ham, stored.head["cutoffs"][0]) / len(ham):
        name = not_spam(stored.labels)
        of, called = (MAIL_KEPT, plain_label(HAM)) if plain else (name, name)
        result += f", and {rest:.0%} of the {of} is called {called}".replace("%", " %")
    said = [f"{alone}with {', '.join(most)} and {last}, {result}"]
    for growth in GROWTHS:
        then = spam_caught(ham, spam, loss, growth, scale)
        if then > caught + WORTH_IT:
            each = zip(stored.labels, stored.messages, strict=True)
            more = " and ".join(f"{(growth - 1) * count:,} more {label}" for label, count in each if count)
            said.append(f"to catch about {100 * then:.0f} % of the spam, learn {more}")
            break
    return [*said, *(count_suspects(stored) if min(len(ham), len(spam)) >= ENOUGH_TO_SUSPECT else ())]


def missing_mail(
    model: str, labels: Sequence[str], messages: Sequence[int], named: Callable[[str], str] = str
) -> list[str]:
    """Return sentences that say of which labels a model should learn more mail."""
    learned = [label for label, count in zip(labels, messages, strict=True) if count]
    if len(learned) == 1:
        other = next((label for label in labels if label not in learned), None)
        option = f"--{other} PATH" if other in LABELS else f"--label {other or 'NAME'}=PATH"
        how = f"{command_to_run('train', '--model', model)} {option}"
        return [f"only {named(learned[0])} was learned so far; learn other mail, too: {how}"]
    return [
        f"{ENOUGH - count} more {named(label)} would help"
        for label, count in zip(labels, messages, strict=True)
        if count < ENOUGH
    ]
