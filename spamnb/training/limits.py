"""Cutoffs, calibration and shares of misfiled mail, by how a model's own mail scores; also on a base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.bayes.cutoffs import (
    FEWEST,
    has_spam,
    is_caught_likely,
    measured,
    misfiled_shares,
    score_scale,
)
from spamnb.errors import SpamnbError
from spamnb.labels import SPAM
from spamnb.model import tell_no_base
from spamnb.store.stored_model import StoredModel
from spamnb.training.sample import Base, SampleScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.view import View
    from spamnb.tables.learned import LearnedMessages
    from spamnb.tables.totals import Totals
    from spamnb.training.sample import Sample

# Messages that a base may count as, all together; the usual one while there is too little mail to choose by.
WEIGHTS = (0, 10, 30, 100, 300, 1000)
USUAL_WEIGHT = 300
ENOUGH = 8  # messages of each label in less than half of the mail: by fewer a base is not given up


class LimitFinder:
    """Finds limits by the scores that a model keeps of its mail, and those of a sample, taken now."""

    def __init__(
        self,
        totals: Totals,
        view: View,
        ham_loss: float,
        sample: Sample | None,
        counts: Callable[[Sequence[Array]], Sequence[Array]],
    ) -> None:
        """`counts` looks up the rows of counts of vocabularies, each of sorted fingerprints."""
        self.totals, self.view, self.ham_loss = totals, view, ham_loss
        self.labels = list(totals.labels)
        is_scored = sample is not None and sample.pieces and has_spam(self.labels) and view.has_cutoffs
        self.sample = sample if is_scored else None
        self.counts = counts(self.sample.vocabularies()) if self.sample else []

    def own(self, learned: LearnedMessages) -> tuple[LearnedMessages, dict[str, Any]]:
        """Score the sample, and find the limits of the model by itself."""
        scorer = SampleScorer(self.sample, self.view, self.totals, self.counts) if self.sample else None
        return self._settled(learned, "scores", scorer)

    def on_base(
        self, learned: LearnedMessages, path: str, weight: int, cutoff: float
    ) -> tuple[LearnedMessages, dict[str, Any]]:
        """Find the limits of the model on top of a base, and how much that counts.

        If there is a sample of half of the mail or more, that chooses the weight which catches most of its
        spam, each message left out. A smaller one only finds out whether the model does better by itself,
        with its own cutoff of spam.
        """
        base = self._open(path)
        if not base or not self.sample:
            return self._about(learned, path, weight, None)
        labels = np.concatenate([piece.labels for piece in self.sample.load()])
        fewest = np.bincount(labels, minlength=len(self.labels)).min()
        is_half = 2 * len(labels) >= np.count_nonzero(~np.isnan(learned.scores))
        if fewest >= (FEWEST if is_half else ENOUGH):
            weight = self._chosen(learned, path, WEIGHTS if is_half else (0, weight), base, cutoff)
        return self._about(learned, path, weight, base)

    def _chosen(
        self, learned: LearnedMessages, path: str, weights: Sequence[int], base: Base, cutoff: float
    ) -> int:
        """Choose the weight that catches most of the sample's spam; of equals the first, which is the least.

        0 if the model by itself, with its own cutoff, does as well.
        """
        unscored = learned.scored(learned.digests, base_scores=np.full(len(learned), np.nan))
        scored = {each: self._about(unscored, path, each, base) for each in weights}

        def caught(weight: int, cutoff: float) -> float:
            spam = scored[weight][0].base_scores[learned.labels == self.labels.index(SPAM)]
            return is_caught_likely(spam[~np.isnan(spam)], cutoff)

        best = max(weights, key=lambda each: caught(each, scored[each][1]["cutoffs"][1]))
        _, found = self._about(learned, path, best, base)
        return best if caught(best, found["cutoffs"][1]) > caught(0, cutoff) else 0

    def _open(self, path: str) -> Base | None:
        if not self.sample:
            return None
        try:
            return Base(StoredModel.open(path), self.view, self.sample)
        except SpamnbError as error:
            tell_no_base(error)
            return None

    def _about(
        self, learned: LearnedMessages, path: str, weight: int, base: Base | None
    ) -> tuple[LearnedMessages, dict[str, Any]]:
        """Score the sample on top of a base that counts as so many messages, and find the limits."""
        scorer = None
        if base and self.sample:
            beneath = base if weight else None
            scorer = SampleScorer(self.sample, self.view, self.totals, self.counts, beneath, weight)
        learned, found = self._settled(learned, "base_scores", scorer)
        return learned, {"path": path, "weight": weight, **found}

    def _settled(
        self, learned: LearnedMessages, column: str, scorer: SampleScorer | None
    ) -> tuple[LearnedMessages, dict[str, Any]]:
        """Take scores and what they say of misfiled mail in turn: each depends on the other."""

        def shares_now() -> tuple[float, float]:
            return misfiled_shares(self.labels, learned.labels, getattr(learned, column))

        shares = shares_now()
        if scorer:
            learned = scorer(learned, shares, column)
            found = shares_now()
            if found != shares:
                learned, shares = scorer(learned, found, column), found
        columns = learned.labels, getattr(learned, column), learned.leads
        limits, calibration = measured(self.labels, *columns, self.ham_loss, score_scale(self.view))
        return learned, {
            "cutoffs": [limits.ham, limits.spam],
            "calibration": [calibration.slope, calibration.intercept],
            "misfiled": list(shares),
            **({"margin": limits.margin} if has_spam(self.labels) and len(self.labels) > 2 else {}),
        }
