"""Curves of a model, to be drawn: how its tokens weigh, how often they occur, and how its own mail scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import has_spam
from spamnb.inspection.model_summary import ModelSummary, left_out_scores, token_leads
from spamnb.labels import SPAM
from spamnb.model import Model
from spamnb.tables.vocabulary import Vocabulary

TOKENS_NAMED = 16  # most telling tokens of each label, at most
WEIGHT_STEP = 0.5  # nats: the width of a bin of weights
LARGEST_WEIGHT = 15.0  # nats; larger weights are counted as this
ZIPF_POINTS = 120  # as many as can be told apart in a drawing
SCORE_BINS = 100  # for programs; a drawing makes its own


@dataclass(frozen=True, eq=False)
class ModelCurves:
    """Histogram of weights, Zipf's curve and scores of a model's own mail."""

    summary: ModelSummary
    toward: str  # the label that weights speak for
    weights: list[tuple[float, int]]  # (weight, tokens that weigh from there to WEIGHT_STEP more)
    zipf: list[tuple[int, int]]  # (n, occurrences of the n-th most frequent token)
    ham: Array  # scores of the mail learned, each by the mail without itself
    spam: Array

    @classmethod
    def of(cls, model: Model) -> ModelCurves:
        """Take the curves of a model. Weights are for spam, or for the likeliest of more than two labels."""
        vocabulary = Vocabulary(model.stored)
        two = has_spam(model.labels)
        edges = np.arange(-LARGEST_WEIGHT if two else 0.0, LARGEST_WEIGHT + WEIGHT_STEP, WEIGHT_STEP)
        heights = np.zeros(len(edges) - 1, np.int64)
        occurrences = [np.empty(0, np.int64)]
        for block in vocabulary.blocks():
            occurs = block.occurrence_counts.max(axis=0) > 0
            occurrences.append(block.occurrence_counts.sum(axis=0)[occurs])
            if model.view.event != "gaussian":
                leads = token_leads(model.classifier, block.message_counts, block.occurrence_counts)[
                    :, occurs
                ]
                weights = leads[model.labels.index(SPAM)] if two else leads.max(axis=0)
                heights += np.histogram(np.clip(weights, edges[0], edges[-1]), edges)[0]
        return cls(
            ModelSummary.of(model, TOKENS_NAMED),
            SPAM if two else "the likeliest label",
            list(zip(edges[:-1].tolist(), heights.tolist(), strict=True)),
            zipf_curve(np.concatenate(occurrences)),
            *left_out_scores(model.stored),
        )

    def as_map(self) -> dict[str, Any]:
        """The curves as plain values, for programs."""
        both = np.concatenate((self.ham, self.spam))
        edges = np.histogram_bin_edges(both, SCORE_BINS) if len(both) else np.empty(0)
        scores = {
            "edges": edges.tolist(),
            "ham": np.histogram(self.ham, edges)[0].tolist() if len(both) else [],
            "spam": np.histogram(self.spam, edges)[0].tolist() if len(both) else [],
        }
        return {
            "toward": self.toward,
            "step": WEIGHT_STEP,
            "weights": self.weights,
            "zipf": self.zipf,
            "scores": scores,
        }


def zipf_curve(occurrences: Array) -> list[tuple[int, int]]:
    """Zipf's curve: ranks evenly spaced on a logarithmic axis, and the occurrences there."""
    falling = np.sort(occurrences)[::-1]
    if not len(falling):
        return []
    ranks = np.unique(np.geomspace(1, len(falling), ZIPF_POINTS).astype(np.int64))
    return list(zip(ranks.tolist(), falling[ranks - 1].tolist(), strict=True))
