"""Cutoffs, calibration and shares of misfiled mail, by how a model's own mail scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bayes.cutoffs import has_spam, measured, misfiled_shares, score_scale
from spamnb.training.sample import SampleScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.view import View
    from spamnb.tables.learned import LearnedMessages
    from spamnb.tables.totals import Totals
    from spamnb.training.sample import Sample


def find_limits(
    learned: LearnedMessages,
    totals: Totals,
    view: View,
    ham_loss: float,
    sample: Sample | None,
    counts: Callable[[Sequence[Array]], Sequence[Array]],
    map_pieces: Callable[..., Iterable[Any]] = map,
) -> tuple[LearnedMessages, dict[str, Any]]:
    """Score a sample of the mail, and find the limits by these scores and those that the model keeps.

    `counts` looks up the rows of counts of vocabularies, each of sorted fingerprints. Scores, and what they
    say of misfiled mail, are taken in turn: each depends on the other.
    """
    labels = list(totals.labels)

    def shares_now() -> tuple[float, float]:
        return misfiled_shares(labels, learned.labels, learned.scores)

    shares = shares_now()
    if sample and sample.pieces and has_spam(labels) and view.has_cutoffs:
        scorer = SampleScorer(sample, view, totals, counts(sample.vocabularies()), map_pieces)
        learned = scorer(learned, shares)
        found = shares_now()
        if found != shares:
            learned, shares = scorer(learned, found), found
    columns = learned.labels, learned.scores, learned.leads
    limits, calibration = measured(labels, *columns, ham_loss, score_scale(view))
    return learned, {
        "cutoffs": [limits.ham, limits.spam],
        "calibration": [calibration.slope, calibration.intercept],
        "misfiled": list(shares),
        **({"margin": limits.margin} if has_spam(labels) and len(labels) > 2 else {}),
    }
