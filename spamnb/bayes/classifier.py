"""Scores of single messages, whose rows of counts are looked up in a model file, with the evidence."""

from __future__ import annotations

from spamnb.bayes.likelihood import NONE_MISFILED, Likelihood
from spamnb.bayes.verdict import Evidence, Score, lead_of
from spamnb.core.native import Scorer
from spamnb.labels import SPAM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.bayes.view import View
    from spamnb.store.counts import Counts, Pair, Row, Token

STRONG, STRONG_AMONG_OTHERS = 1, 2  # what a row is evidence for: spam or any label, one of the others


class Classifier(Likelihood):
    """Scores messages by a count table, seen through a view."""

    def __init__(self, counts: Counts, view: View, misfiled: Sequence[float] = NONE_MISFILED) -> None:
        super().__init__(counts, view, misfiled)
        self.counts = counts
        self.is_used = False

    def score(
        self,
        tokens: Sequence[Token],
        numbers: Mapping[str, float] | None = None,
        pairs: Sequence[Pair] = (),
        grams: Sequence[int] = (),
    ) -> Score:
        """Score a message: its tokens, each once, its numeric features, its pairs of neighbours and grams."""
        if self.is_used:
            self.keep_logarithms()  # takes as long as a message
        self.is_used = True
        scorer, view = Scorer(self), self.view
        evidence: list[Evidence] = []
        others: list[Evidence] = []  # what tells labels but spam apart, where spam is held against them all
        if view.event != "gaussian":
            rows = self.counts.rows([token[0] for token in tokens])
            length = sum(token[1] for token in tokens) if view.tfidf else 0
            for fingerprint, occurrences, part in tokens:
                row = rows.get(fingerprint)
                if row is not None:
                    times: float = occurrences if self.is_multinomial else 1
                    if view.tfidf:
                        times = occurrences / length * self.idf(row)
                    if strong := scorer.add(row, times, part):
                        self._note(scorer, strong, fingerprint, row, times, part, evidence, others)
        if view.pairs:
            rows = self.counts.pair_rows([pair[0] for pair in pairs])
            for fingerprint, part in pairs:
                row = rows.get(fingerprint)
                if row is not None and (strong := scorer.add(row, 1, part)):
                    self._note(scorer, strong, fingerprint, row, 1, part, evidence, others)
        if scorer.grams:
            counters = list(grams)
            scorer.grams.add_grams(counters, self.counts.counts_of_grams(counters))
        joint = scorer.joint()
        if view.numbers and numbers:
            for item in self.numeric_evidence(numbers):
                evidence.append(item)
                joint = [before + weight for before, weight in zip(joint, item.weights, strict=True)]
        return Score(self.labels, joint, evidence, scorer.means(), others)

    def _note(
        self,
        scorer: Scorer,
        strong: int,
        fingerprint: int,
        row: Row,
        times: float,
        part: int,
        evidence: list[Evidence],
        others: list[Evidence],
    ) -> None:
        """Put the token or pair added last to the evidence that it counts for."""
        part = part if self.view.split_head_body else 0
        if strong & STRONG:
            evidence.append(Evidence(fingerprint, row, times, scorer.evidence_weights(), part))
        if strong & STRONG_AMONG_OTHERS:
            others.append(Evidence(fingerprint, row, times, self.weights(row), part))

    @property
    def bias(self) -> float:
        """The log-odds of spam, or of the second label, before any token is seen.

        By a textbook's view of two labels, those of a message are bias + Σ times · weight(row of the token).
        """
        return self.log_odds(self.score([]).joint)

    def weight(self, row: Row) -> float:
        """Return what a token adds to the log-odds each time that it counts."""
        return self.log_odds(self.weights(row))

    def log_odds(self, values: list[float]) -> float:
        """Return how far spam, or the second label, is ahead of the other one."""
        if self.label_count != 2 or self.view.damping is not None:
            raise ValueError("only a textbook's view of two labels is linear")
        return lead_of(values, self.labels.index(SPAM) if SPAM in self.labels else 1)

    def is_evidence(self, row: Row) -> bool:
        """Tell whether a row of counts is strong enough to count, for spam or between other labels."""
        return Scorer(self).add(row, 1, 0) > 0

    def numeric_evidence(self, numbers: Mapping[str, float]) -> list[Evidence]:
        """Return the numeric features that every label has, weighed by their normal distributions."""
        from spamnb.bayes.gaussian import numeric_evidence  # the default view has no use for it

        return numeric_evidence(self, numbers)
