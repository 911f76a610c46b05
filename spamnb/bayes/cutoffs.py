"""Choosing cutoffs, and calibrating probabilities.

Both use the scores of training mail, where each message is scored with the counts of all other mail.
"""

from __future__ import annotations

# That of `statistics`, which itself takes 8 ms to load.
from _statistics import _normal_dist_inv_cdf as inverse_normal  # type: ignore[import-not-found]
from array import array
from bisect import bisect_left, bisect_right
from math import fsum, inf, log, nan, sqrt
from operator import neg

from spamnb.bayes.likelihood import NONE_MISFILED
from spamnb.bayes.verdict import HAM_LOSS, MIN_SCORE, Calibration, Cutoffs
from spamnb.bayes.view import SHARE_OF_GRAMS
from spamnb.core.native import fewest_mistakes, fitted_logistic
from spamnb.labels import SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.view import View

    Scores = array[float]  # sorted
    Scored = tuple[int, float, float]  # of a message: index of its label, score, lead among labels but spam

# The share of spam that may be taken for ham before it is called unsure: it reaches the inbox either way.
# With 1 %, 0.81 % of spamassassin is unsure and 0.73 % of its spam called ham; with 1.5 %, 0.70 and 0.94 %.
SPAM_LOSS = 0.015
MISFILED = 0.01  # the share of mail but spam that may get a wrong label before it is called unsure
MIN_SCORED = 2  # messages of each label that cutoffs need: one is left out, one is learned
TAIL_SHARE = 0.05  # of the scores: the highest, which tell how high scores go
FEWEST_IN_TAIL = 5
# Mail of lists and senders not met yet is taken to score as the highest twentieth of the mail met does, or as
# 0 if that is higher, give or take chance: 0.68 weights of a token that was met once, and on one side only.
# Around 0, and by 0.55, one draw of 20 of ten messages of each label lost 3.75 % of the ham of spamassassin,
# one of two messages 5.05 %; so 1.3 % and none.
UNMET_DEVIATION = 0.68
# Messages of each label from which on some may look misfiled: of models of spamassassin with 3 to 20 messages
# per label, all filed right, one in five had such messages; with 30 and more, one in 40.
ENOUGH_TO_SUSPECT = 30
MAX_MISFILED_SHARE = 0.5  # of a label: with more, which of the two is wrong cannot be known
MAX_TURNS = 5
SCALE = log(1 + 1 / 0.01)  # of scores by the default smoothing
UNLIKE_SPAM = 0.0075  # the share of spam that scores too low to be called so, even if no ham is near it
MAX_UNLIKE = 6  # messages of these: the more spam is known, the more of the gap below it is
# Nats by which cutoffs may be lower where more ham may be lost, a nat for each e times as much: so that mail
# that says nothing, and scores -2, is no spam. With 3.5, 1 % lost 47 % of strangers' short mail, now 5 %.
MAX_LOWERING = 2.0
MIN_LOSS = 1e-6


def has_spam(labels: Sequence[str]) -> bool:
    """Return whether spam and another label exist, so that cutoffs can separate spam from other mail."""
    return len(labels) > 1 and SPAM in labels


def not_spam(labels: Sequence[str]) -> str:
    """Return a name for mail that is not spam: the other label if there is only one, otherwise "not spam"."""
    others = [label for label in labels if label != SPAM]
    return others[0] if len(others) == 1 else "not spam"


def spam_scores(labels: Sequence[str], joints: Iterable[Sequence[float]]) -> list[float]:
    """Return for each message how far spam leads the best other label; `joints`: log P(label, message)."""
    spam = labels.index(SPAM)
    if len(labels) == 2:
        return [row[spam] - row[1 - spam] for row in joints]
    return [row[spam] - max(*row[:spam], *row[spam + 1 :], -inf) for row in joints]


def leads_among_others(
    labels: Sequence[str], label_indices: Iterable[int], joints: Iterable[Sequence[float]]
) -> list[float]:
    """Return for each message how far its own label leads the best other label except spam.

    NaN for a message that is spam, and for every message if only one label exists besides spam.
    """
    others = [place for place, label in enumerate(labels) if label != SPAM]
    if len(others) < 2:
        return [nan for _ in joints]
    return [
        row[own] - max(row[place] for place in others if place != own) if own in others else nan
        for own, row in zip(label_indices, joints, strict=True)
    ]


def margin(leads: Iterable[float], count: int, scale: float = SCALE) -> float:
    """Choose by how much a label must lead the others except spam, so that few messages get a wrong label.

    `leads`: the results of `leads_among_others`; `count`: how many messages are not spam.
    """
    known = in_order(lead for lead in leads if lead == lead)
    if len(known) < MIN_SCORED:
        return MIN_SCORE
    behind, _ = rightly_filed(negative(known), known)
    return max(highest_score(behind, known, MISFILED, scale, count - len(behind)), MIN_SCORE)


def in_order(scores: Iterable[float]) -> Scores:
    """Return scores sorted, so that no result depends on the order of the messages."""
    return array("d", sorted(scores))


def negative(scores: Scores) -> Scores:
    """Return the scores with the opposite sign, sorted."""
    return array("d", map(neg, reversed(scores)))


def ham_and_spam(labels: Sequence[str], scored: Iterable[Scored]) -> tuple[Scores, Scores]:
    """Return the sorted scores of all mail but spam, and of spam; `scored`: (label index, score, lead)."""
    if not has_spam(labels):
        return array("d"), array("d")
    both: tuple[list[float], list[float]] = [], []
    spam = labels.index(SPAM)
    for label, score, _ in scored:
        both[label == spam].append(score)
    return in_order(both[0]), in_order(both[1])


def cutoffs(
    ham: Iterable[float],
    spam: Iterable[float],
    ham_loss: float = HAM_LOSS,
    spam_loss: float = SPAM_LOSS,
    unscored: tuple[int, int] = (0, 0),
    scale: float = SCALE,
) -> Cutoffs:
    """Choose the lowest spam cutoff and highest ham cutoff that lose at most these shares of ham and spam.

    `unscored`: the numbers of learned ham and learned spam whose scores are unknown; `scale`: the result of
    `score_scale`.

    A message without evidence scores 0 and is always unsure; so is a message with little evidence. A message
    with a score below nearly all spam, but far above ham, is like neither, and also unsure.
    """
    ham, spam = in_order(ham), in_order(spam)
    if min(len(ham), len(spam)) < MIN_SCORED:
        return Cutoffs()
    ham, spam = rightly_filed(ham, spam)
    lower = -highest_score(negative(spam), negative(ham), spam_loss, scale, unscored[1])
    upper = _spam_cutoff(ham, spam, ham_loss, unscored[0], scale)
    return Cutoffs(min(lower, -MIN_SCORE, upper), upper)


def measured(
    labels: Sequence[str],
    messages: Sequence[int],
    scored: Sequence[Scored],
    ham_loss: float = HAM_LOSS,
    scale: float = SCALE,
) -> tuple[Cutoffs, Calibration]:
    """Choose cutoffs, margin and calibration from scores; `messages`: how many messages each label has."""
    ham, spam = ham_and_spam(labels, scored)
    limits = cutoffs(ham, spam, ham_loss, scale=scale)
    if len(labels) > 2 and has_spam(labels):
        others = sum(messages) - messages[labels.index(SPAM)]
        limits.margin = margin((lead for _, _, lead in scored), others, scale)
    return limits, calibrated(ham, spam).between(limits)


def score_scale(view: View) -> float:
    """Return the unit for random deviations of scores: the weight of a token in only one learned message.

    With grams, the unit is larger, because the random deviations of words and of grams add up.
    """
    scale = log(1 + 1 / float(view.smoothing)) if view.smoothing else SCALE
    return sqrt(1 + SHARE_OF_GRAMS**2) * scale if view.grams else scale


def _spam_cutoff(ham: Scores, spam: Scores, ham_loss: float, more: int, scale: float) -> float:
    unlike_spam = quantile(spam, min(UNLIKE_SPAM, MAX_UNLIKE / len(spam)))
    lowest = max(unlike_spam, MIN_SCORE) - min(log(max(ham_loss / HAM_LOSS, 1)), MAX_LOWERING)
    return max(highest_score(ham, spam, ham_loss, scale, more), lowest)


def spam_caught(ham: Scores, spam: Scores, ham_loss: float, growth: float = 1, scale: float = SCALE) -> float:
    """Estimate the share of spam caught if the share `ham_loss` of ham may be lost; scores must be sorted.

    `growth`: assume so many times the mail; a word that only spam has then weighs log(growth) more.
    """
    ham, spam = rightly_filed(ham, spam)
    more = log(growth)
    ham, spam = array("d", [score - more for score in ham]), array("d", [score + more for score in spam])
    cutoff = _spam_cutoff(ham, spam, ham_loss, round((growth - 1) * len(ham)), scale)
    return 1 - bisect_left(spam, cutoff) / len(spam)


def misfiled_shares(
    labels: Sequence[str], messages: Sequence[int], scored: Iterable[Scored]
) -> tuple[float, float]:
    """Estimate the share of other mail that is filed as spam, and the share of spam filed as other mail.

    `messages`: how many messages each label has; `scored` may have only some of the messages.
    """
    both = ham_and_spam(labels, scored)
    if not min(map(len, both)):
        return NONE_MISFILED
    kept = [len(left) / len(all_) for left, all_ in zip(rightly_filed(*both), both, strict=True)]
    spam = messages[labels.index(SPAM)]
    ham = sum(messages) - spam
    shares = (1 - kept[1]) * spam / (kept[0] * ham), (1 - kept[0]) * ham / (kept[1] * spam)
    return min(shares[0], MAX_MISFILED_SHARE), min(shares[1], MAX_MISFILED_SHARE)


def rightly_filed(ham: Scores, spam: Scores) -> tuple[Scores, Scores]:
    """Return the sorted scores of ham and of spam, without those of messages that look misfiled."""
    highest_ham, lowest_spam = limits_of_rightly_filed(ham, spam)
    return ham[: bisect_right(ham, highest_ham)], spam[bisect_left(spam, lowest_spam) :]


def limits_of_rightly_filed(ham: Scores, spam: Scores) -> tuple[float, float]:
    """Return the score above which ham looks misfiled, and the score below which spam does.

    Each limit depends on the other label's rightly filed mail, so the two limits are corrected in turns.
    """
    limits = inf, -inf
    if min(len(ham), len(spam)) < ENOUGH_TO_SUSPECT:
        return limits
    spam_down = negative(spam)
    for _ in range(MAX_TURNS):
        before = limits
        ham_left, spam_left = ham[: bisect_right(ham, limits[0])], spam[bisect_left(spam, limits[1]) :]
        # One misfiled ham overlooked makes much ham unsure; one hard ham too many left out, and ham is lost.
        highest_ham = _highest_of_label(ham, spam_left, 0.0)
        limits = highest_ham, -_highest_of_label(spam_down, negative(ham_left), 1.0)
        if limits == before:
            break
    return limits


def _highest_of_label(scores: Scores, others: Scores, deviations: float) -> float:
    """Return the score above which a label's messages are probably misfiled; infinity if none are.

    Misfiled messages are assumed to score like `others`, the other label's mail, and rightly filed messages
    lower. If no message scores in the higher half of `others`, none is misfiled. Otherwise the number of
    messages above the lowest quarter of `others`, plus `deviations` standard deviations, is taken as three
    quarters of the misfiled messages. The returned score makes the fewest mistakes, which are misfiled
    messages at or below this score, and rightly filed ones above it.
    """
    if not scores[-1] > quantile(others, 0.5):
        return inf
    quarter = quantile(others, 0.25)
    found = len(scores) - bisect_right(scores, quarter)
    best = fewest_mistakes(scores, others, quarter, (found + deviations * sqrt(found)) / 0.75)
    kept = bisect_right(scores, best)
    return best if kept >= max(MIN_SCORED, (1 - MAX_MISFILED_SHARE) * len(scores)) else inf


def highest_score(scores: Scores, others: Scores, loss: float, scale: float = SCALE, more: int = 0) -> float:
    """Return the score that at most the share `loss` of a label's mail exceeds: the higher of two estimates.

    One is for mail like the learned mail, one for unfamiliar mail. `others`: the other label's scores, which
    show how high scores can be; `more`: how many learned messages of the label are not in `scores`.
    """
    loss = max(loss, MIN_LOSS)
    unmet = max(quantile(scores, 1 - TAIL_SHARE), 0.0) + _above_unmet(len(scores) + more, loss, scale)
    return max(highest_of_learned_kinds(scores, others[-1], loss), unmet)


def highest_of_learned_kinds(scores: Scores, end: float, loss: float) -> float:
    """Return the score that the share `loss` of mail exceeds, given sorted scores of similar mail.

    Within the highest twentieth of the scores, the share of mail above a score is assumed to fall like
    (1 - x)^power, to 0 at `end` or, if higher, the highest score. The mean of this twentieth gives the power.
    """
    count = len(scores)
    size = min(max(FEWEST_IN_TAIL, int(TAIL_SHARE * count)), count - 1)
    if loss >= size / count:
        return scores[count - 1 - min(int(loss * count), count - 1)]
    start = scores[-1 - size]
    length = max(end, scores[-1]) + 0.1 - start
    excess = fsum(scores[count - size :]) / size - start
    power = max(length / max(excess, 1e-9) - 1, 0.5)
    return start + length * (1 - float((loss * count / size) ** (1 / power)))


def _above_unmet(count: int, loss: float, scale: float) -> float:
    """Return how far a cutoff must be above the mean score of unfamiliar mail, to lose the share `loss`.

    After `count` messages, the next one is unfamiliar with probability 1 / (count + 1) (Laplace).
    """
    of_all = loss * (count + 1)
    return UNMET_DEVIATION * scale * float(inverse_normal(1 - of_all, 0, 1)) if of_all < 1 else -inf


def calibrated(ham: Iterable[float], spam: Iterable[float]) -> Calibration:
    """Fit the probability of spam to the scores of ham and of spam, both sorted, by logistic regression."""
    ham, spam = array("d", ham), array("d", spam)
    if not ham or not spam:
        return Calibration()
    return Calibration(*fitted_logistic(*rightly_filed(ham, spam)))


def quantile(ordered: Scores, share: float) -> float:
    """Return the value below which the given share of sorted values lies, interpolated if necessary."""
    place = share * (len(ordered) - 1)
    before = int(place)
    low, high, way = ordered[before], ordered[min(before + 1, len(ordered) - 1)], place - before
    return high - (high - low) * (1 - way) if way >= 0.5 else low + (high - low) * way
