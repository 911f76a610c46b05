"""Cutoffs, calibration and shares of misfiled mail, by how a model's own mail scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bayes.cutoffs import has_spam, measured, misfiled_shares, score_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.core.native import LearnedMessages
    from spamnb.training.plan import About
    from spamnb.training.sample import SampleScorer


def find_limits(
    labels: Sequence[str],
    learned: LearnedMessages,
    about: About,
    scorer: SampleScorer | None = None,
) -> dict[str, Any]:
    """Find the limits by the scores that are known of learned mail; those of a sample are taken first.

    Scores, and what they say of misfiled mail, are taken in turn: each depends on the other.
    """
    messages = learned.message_counts(len(labels))
    shares = misfiled_shares(labels, messages, learned.scored())
    if scorer:
        scorer(learned, shares)
        found = misfiled_shares(labels, messages, learned.scored())
        if found != shares:
            scorer(learned, found)
            shares = found
    scale = score_scale(about.view)
    limits, calibration = measured(labels, messages, learned.scored(), about.ham_loss, scale)
    return {
        "cutoffs": [limits.ham, limits.spam],
        "calibration": [calibration.slope, calibration.intercept],
        "misfiled": list(shares),
        **({"margin": limits.margin} if has_spam(labels) and len(labels) > 2 else {}),
    }
