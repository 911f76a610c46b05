"""Scores of many messages at once, without their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.verdict import Score

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.core.native import FeatureScorer, MessageRows


class ScoreColumns:
    """Log-joints of messages [message, label], and what body and head add to them [message, part, label]."""

    def __init__(self, messages: int, label_count: int) -> None:
        self.joints = np.empty((messages, label_count))
        self.parts = np.empty((messages, 2, label_count))

    def scores(self, scorer: FeatureScorer) -> list[Score]:
        """Return the scores of the messages; where weights are summed, no part has its own."""
        labels, is_averaged = scorer.likelihood.labels, scorer.likelihood.view.damping is not None
        columns = zip(self.joints.tolist(), self.parts.tolist(), strict=True)
        return [Score(labels, joint, [], parts if is_averaged else ()) for joint, parts in columns]


def row_scores(scorer: FeatureScorer, rows: MessageRows, messages: Array) -> list[Score]:
    """Score some messages."""
    found = ScoreColumns(len(messages), scorer.counts.label_count)
    scorer.score_rows(rows, messages, found.joints, found.parts)
    return found.scores(scorer)
