"""Cutoffs, calibration and shares of misfiled mail, by how a model's own mail scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bayes.cutoffs import has_spam, measured, misfiled_shares, score_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.store.learned import LearnedMessages
    from spamnb.training.plan import About
    from spamnb.training.sample import SampleScorer

    Scored = tuple[LearnedMessages, dict[str, Any]]  # messages with their scores, and the limits by these


def find_limits(
    labels: Sequence[str],
    learned: LearnedMessages,
    about: About,
    scorer: SampleScorer | None = None,
) -> Scored:
    """Find the limits by the scores that the model keeps, and by those of a sample, if there is one.

    Scores, and what they say of misfiled mail, are taken in turn: each depends on the other.
    """
    shares = misfiled_shares(labels, learned.labels, learned.scores)
    if scorer:
        learned = scorer(learned, shares)
        found = misfiled_shares(labels, learned.labels, learned.scores)
        if found != shares:
            learned, shares = scorer(learned, found), found
    columns = learned.labels, learned.scores, learned.leads
    limits, calibration = measured(labels, *columns, about.ham_loss, score_scale(about.view))
    return learned, {
        "cutoffs": [limits.ham, limits.spam],
        "calibration": [calibration.slope, calibration.intercept],
        "misfiled": list(shares),
        **({"margin": limits.margin} if has_spam(labels) and len(labels) > 2 else {}),
    }
