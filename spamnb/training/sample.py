"""A sample of the messages that training learns, scored when it ends: cutoffs are set by these scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.classifier import Likelihood
from spamnb.bayes.cutoffs import has_spam, spam_scores
from spamnb.bayes.scoring import LeaveOneOut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.view import View
    from spamnb.tables.learned import Learned
    from spamnb.tables.totals import Totals
    from spamnb.training.batches import SampledMessages
    from spamnb.training.pool import Counted

SAMPLE = 5000  # messages of each label whose scores are taken: 0.1 % of them are five


class Sample:
    """Messages of a run to be scored when it ends: those of the lowest digests, in whatever order."""

    def __init__(self, size: int = SAMPLE) -> None:
        self.size = size
        self.pieces: list[SampledMessages] = []
        self.most = 0  # messages of the most frequent label
        self.limits: dict[int, int] = {}  # of each label: higher digests have no chance any more

    def add(self, batch: Counted, steps: Array) -> None:
        """Those messages of a batch that were learned: (message, place of the label, 1 or -1) each."""
        messages, places = steps[steps[:, 2] > 0, :2].T
        digests = batch.digests[messages]
        likely = np.ones(len(messages), bool)
        for place, limit in self.limits.items():
            likely &= (places != place) | (digests <= np.uint64(limit))
        messages, places = messages[likely], places[likely]
        if not len(messages):
            return
        self.pieces.append(batch.sampled(messages, places))
        self.most += int(np.bincount(places).max())
        if self.most > 2 * self.size:
            self.pieces = self._lowest()
            self.most = self.size

    def _lowest(self) -> list[SampledMessages]:
        digests = np.concatenate([piece.digests for piece in self.pieces])
        labels = np.concatenate([piece.labels for piece in self.pieces])
        chosen = sampled(digests, labels, np.arange(len(digests)), self.size)
        for place in np.unique(labels).tolist():
            own = digests[chosen][labels[chosen] == place]
            if len(own) == self.size:
                self.limits[place] = int(own.max())
        kept = np.zeros(len(digests), bool)
        kept[chosen] = True
        ends = np.cumsum([len(piece.digests) for piece in self.pieces])[:-1]
        return [
            piece if own.all() else piece.chosen(np.flatnonzero(own))
            for piece, own in zip(self.pieces, np.split(kept, ends), strict=True)
            if own.any()
        ]

    def scored(
        self,
        learned: Learned,
        labels: Sequence[str],
        view: View,
        totals: Totals,
        counts: Callable[[Array], tuple[Array, Array]],
    ) -> Learned:
        """What was learned with the scores of the sample noted: each by the mail without itself.

        `counts` tells those of some tokens, by their fingerprints in order.
        """
        if not self.pieces or not has_spam(labels) or not view.has_cutoffs:
            return learned
        pieces = self._lowest()
        fingerprints = np.unique(np.concatenate([piece.fingerprints for piece in pieces]))
        left_out = LeaveOneOut(Likelihood(totals, view), *counts(fingerprints))
        for piece in pieces:
            rows = piece.rows.renumbered(np.searchsorted(fingerprints, piece.fingerprints))
            scores = spam_scores(labels, left_out.scores(rows, piece.labels))
            learned = learned.scored(piece.digests, scores)
        return learned


def sampled(digests: Array, truth: Array, messages: Array, size: int = SAMPLE) -> Array:
    """Those of some messages that a Sample of them would keep."""
    order = messages[np.argsort(digests[messages], kind="stable")]
    return np.concatenate([order[truth[order] == place][:size] for place in np.unique(truth[order])])
