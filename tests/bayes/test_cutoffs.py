"""Cutoffs promise a loss, with little mail and with much; a message without evidence is unsure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.bayes.cutoffs import MIN_SCORED, cutoffs, in_order, limits_of_rightly_filed
from spamnb.bayes.verdict import Cutoffs, Score, verdict_of

scores = st.lists(st.floats(-50, 50, width=32), min_size=MIN_SCORED, max_size=60).map(np.array)
losses = st.floats(0, 0.5)
SIZES = (2, 10, 100, 1000)
DRAWS = 100


@given(scores, scores, losses)
def test_what_has_no_evidence_is_unsure(ham, spam, spam_loss):
    found = cutoffs(ham, spam, spam_loss=spam_loss)
    assert -np.inf < found.ham < 0 < found.spam < np.inf
    assert found.verdict(0.0) == "unsure"


@given(scores, scores, losses)
def test_mail_that_says_nothing_is_no_spam_however_much_may_be_lost(ham, spam, ham_loss):
    found = cutoffs(ham, spam, ham_loss)
    assert found.ham <= found.spam
    assert found.verdict(-2.0) != "spam"


def test_the_more_ham_may_be_lost_the_lower_is_the_cutoff():
    random = np.random.default_rng(4)
    ham, spam = random.normal(-9, 3, 2000), random.normal(9, 4, 2000)
    found = [cutoffs(ham, spam, loss).spam for loss in (0.0001, 0.001, 0.003, 0.01)]
    assert found == sorted(set(found), reverse=True)


@pytest.mark.parametrize("count", [2, 5])
def test_with_little_mail_hard_ham_raises_the_cutoff(count):
    """One of few scores high: so may those to come."""
    spam, sure = np.full(count, 6.0), np.full(count, -5.0)
    assert cutoffs(np.append(sure[1:], 4.0), spam).spam > cutoffs(sure, spam).spam


@pytest.mark.parametrize(("ham", "spam"), [(0, 9), (1, 9), (9, 1)])
def test_too_little_mail_has_no_cutoffs(ham, spam):
    none = cutoffs(np.arange(float(ham)), np.arange(9.0, 9.0 + spam))
    assert (none.ham, none.spam) == (-np.inf, np.inf)
    assert none.verdict(1e9) == none.verdict(-1e9) == "unsure"


# Ham as it scores: sure, with some that is not, and newsletters that look like spam.
KINDS = {
    "one kind": [(1.0, -8, 1.5)],
    "some unsure": [(0.9, -8, 1.5), (0.1, -3, 2)],
    "newsletters": [(0.94, -7, 2), (0.06, -1, 1.5)],
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_promise_is_kept_in_nine_draws_of_ten(kind, size):
    """0.1 % of ham lost, in fact; however few messages the cutoff rests on."""
    random = np.random.default_rng(size)

    def drawn(count):
        shares, means, deviations = zip(*KINDS[kind], strict=True)
        kinds = random.choice(len(shares), count, p=shares)
        return random.normal(np.array(means)[kinds], np.array(deviations)[kinds])

    ham = drawn(100_000)
    lost = [np.mean(ham >= cutoffs(drawn(size), random.normal(7, 2, size)).spam) for _ in range(DRAWS)]
    assert np.mean(np.array(lost) <= 0.001) >= 0.9


@pytest.mark.parametrize(("ham_share", "spam_share"), [(0.0, 0.05), (0.05, 0.0), (0.1, 0.1)])
def test_misfiled_messages_move_cutoffs_little(ham_share, spam_share):
    """With hard ham and hard spam, which lie between the two, and keep their weight."""
    size = 200
    random = np.random.default_rng(2)
    ham, spam = (
        random.permutation(
            np.concatenate((random.normal(-at, 2, size), random.normal(-at / 4, 1, size // 20)))
        )
        for at in (8, -8)
    )
    right = cutoffs(ham, spam)
    moved, also = round(ham_share * size), round(spam_share * size)  # filed under the other label
    found = cutoffs(np.concatenate((ham[moved:], spam[:also])), np.concatenate((spam[also:], ham[:moved])))
    assert found.spam == pytest.approx(right.spam, abs=1)
    assert found.ham == pytest.approx(right.ham, abs=1)


def test_neither_hard_ham_nor_swapped_labels_are_taken_for_misfiled():
    random = np.random.default_rng(3)
    ham = np.concatenate((random.normal(-8, 2, 2000), random.uniform(0, 6, 100)))
    spam = random.normal(8, 1, 2000)
    assert limits_of_rightly_filed(in_order(ham), in_order(spam)) == (np.inf, -np.inf)
    assert cutoffs(ham, spam).spam > 5.5
    ham, spam = random.normal(-8, 2, 100), random.normal(8, 2, 100)
    assert limits_of_rightly_filed(in_order(spam), in_order(ham)) == (np.inf, -np.inf)


@pytest.mark.parametrize(
    ("ham", "spam", "work", "verdict", "is_spam"),
    [
        (-5.0, -9.0, 0.0, "work", False),
        (-0.2, -9.0, 0.0, "unsure", False),  # no spam, but which of the two?
        (-5.0, 0.0, 0.0, "unsure", None),
        (-5.0, 9.0, 0.0, "spam", True),
    ],
)
def test_spam_is_told_apart_from_which_label(ham, spam, work, verdict, is_spam):
    score = Score(("ham", "spam", "work"), [ham, spam, work], [])
    found = verdict_of(score, Cutoffs(-1.0, 2.0, margin=0.5), None)
    assert (found.label, found.is_spam) == (verdict, is_spam)


@pytest.mark.parametrize(
    ("body", "head", "verdict"),
    [(-4.0, 0.9, "ham"), (-4.0, 1.1, "unsure"), (1.1, -4.0, "unsure"), (9.0, -4.0, "spam")],
)
def test_good_words_below_a_head_that_tells_are_not_enough(body, head, verdict):
    score = Score(("ham", "spam"), [0.0, body + head], [], [[0.0, body], [0.0, head]])
    assert verdict_of(score, Cutoffs(-1.0, 2.0), None).label == verdict
    alone = Cutoffs(-1.0, 2.0, contradiction=np.inf)
    assert verdict_of(score, alone, None).label == alone.verdict(body + head)
