"""Scoring messages by the counts of a model and a view, with or without the evidence for the score."""

from spamnb.bayes.likelihood import NONE_MISFILED, Likelihood
from spamnb.bayes.verdict import Evidence, Score
from spamnb.core.native import CountTable, FeatureScorer, Scorer, gram_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spamnb.bayes.view import View
    from spamnb.core.native import Counts, FeatureSet
    from spamnb.store.counts import TotalCounts


class Classifier(Likelihood):
    """Scores messages by token counts and totals; if no `counts` are given, `totals` must be a CountTable."""

    def __init__(
        self,
        totals: "TotalCounts",
        view: "View",
        misfiled: "Sequence[float]" = NONE_MISFILED,
        counts: "Counts | None" = None,
    ) -> None:
        super().__init__(totals, view, misfiled)
        if counts is None:
            if not isinstance(totals, CountTable):
                raise TypeError("give `counts`, too, because `totals` is not a CountTable")
            counts = totals
        self.counts = counts

    def score(self, features: "FeatureSet") -> Score:
        """Return the score of a message, with the evidence for it."""
        return with_evidence(FeatureScorer(self, self.counts), features)


def with_evidence(scorer: FeatureScorer, features: "FeatureSet") -> Score:
    """Return the score of a message with the evidence for it; other tokens do not become Python objects."""
    likelihood: Likelihood = scorer.likelihood
    joint, parts, strong, among_others, gain = scorer.evidence(features)
    evidence = [Evidence(*item) for item in strong]
    if likelihood.view.numbers:
        evidence += likelihood.numeric_evidence(features.numbers)
    others = [Evidence(*item) for item in among_others]
    return Score(likelihood.labels, joint, evidence, parts, others, gain)


class Scorers:
    """Scores messages on several threads. Each thread has its own scorer; all scorers use the same counts."""

    def __init__(self, classifier: Classifier, settings: "Any", are_for_many: bool = False) -> None:
        """Prepare to score mail tokenized with `settings`; `are_for_many` messages: weigh all grams first."""
        self.labels = classifier.labels
        weights = None
        if are_for_many and classifier.grams and classifier.is_mean_of_two:
            classifier.keep_logarithms()  # so that the next line takes 10 ms, not 20
            weights = gram_weights(Scorer(classifier.grams), classifier.counts)
        self.first = FeatureScorer(classifier, classifier.counts, weights, settings)
        self.idle = [self.first]  # scorers that no thread uses

    def with_evidence(self, features: "FeatureSet") -> Score:
        """Return the score of a message, with the evidence for it."""
        scorer = self._take()
        score = with_evidence(scorer, features)
        self.idle.append(scorer)
        return score

    def score(self, features: "FeatureSet") -> Score:
        """Return the score of a message without the evidence, which would take more time."""
        scorer = self._take()
        joint, parts = scorer.score(features)
        self.idle.append(scorer)
        return Score(self.labels, joint, [], parts)

    def scores(self, messages: list[bytes]) -> list[Score]:
        """Read messages, given as bytes, and return their scores without the evidence."""
        scorer = self._take()
        found = scorer.score_raw(messages)
        self.idle.append(scorer)
        return [Score(self.labels, joint, [], parts) for joint, parts in found]

    def _take(self) -> FeatureScorer:
        """Return a scorer that no thread uses; the caller puts it back into `idle`, unless scoring fails."""
        try:
            return self.idle.pop()
        except IndexError:
            return self.first.another()
