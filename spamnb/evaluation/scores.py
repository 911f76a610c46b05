"""Scores of many messages at once, without their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.verdict import Score

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.core.native import FeatureScorer, MessageRows


def row_scores(
    scorer: FeatureScorer, rows: MessageRows, messages: Array, learned_as: Array | None = None
) -> list[Score]:
    """Score some messages of `rows`; with `learned_as` (label indices), learn each after it was scored."""
    labels = scorer.likelihood.labels
    joints, parts = np.empty((len(messages), len(labels))), np.empty((len(messages), 2, len(labels)))
    if learned_as is None:
        scorer.score_rows(rows, messages, joints, parts)
    else:
        scorer.score_online(rows, messages, learned_as, joints, parts)
    is_averaged = scorer.likelihood.view.damping is not None  # else no part has a score of its own
    columns = zip(joints.tolist(), parts.tolist(), strict=True)
    return [Score(labels, joint, [], of_parts if is_averaged else ()) for joint, of_parts in columns]
