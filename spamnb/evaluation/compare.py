"""Compare settings on the same folds of the same mail."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spamnb.evaluation.candidates import Candidate
from spamnb.evaluation.corpus import Corpus
from spamnb.evaluation.folds import assign_folds, cross_validate
from spamnb.evaluation.intervals import compare_auc, compare_verdicts
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.results import JudgedMessages
from spamnb.labels import SPAM
from spamnb.reading.settings import Settings

CHANCE = 0.05  # a difference more probable than this by chance alone counts as none


@dataclass(frozen=True)
class ComparedCandidate:
    """The figures of a candidate, and how it did against the first one, message by message."""

    candidate: Candidate
    metrics: dict[str, Any]
    won: int  # messages judged right by this candidate and not by the first
    tied: int
    lost: int
    verdicts_p: float | None  # how likely such a difference of the verdicts is by chance
    ranking_p: float | None  # how likely such a difference of (1-AUC) is by chance

    def as_map(self) -> dict[str, Any]:
        against = {"won": self.won, "tied": self.tied, "lost": self.lost}
        chances = {"verdicts_p": self.verdicts_p, "ranking_p": self.ranking_p}
        return {"name": self.candidate.name, **self.metrics, "against_first": {**against, **chances}}


def compare_candidates(
    candidates: Sequence[Candidate],
    read: Callable[[Settings], Corpus],
    folds: int,
    seed: int,
    group_duplicates: bool,
    jobs: int,
) -> Iterator[ComparedCandidate]:
    """Cross-validate each candidate on the same folds, those with the tokenizer of the first one first.

    The mail is read again only for another tokenizer.
    """
    first: JudgedMessages | None = None
    settings: Settings | None = None
    by_tokenizer = sorted(candidates, key=lambda candidate: repr(sorted(candidate.settings.items())))
    for candidate in sorted(by_tokenizer, key=lambda candidate: candidate.settings != candidates[0].settings):
        if settings != Settings(**candidate.settings):
            settings = Settings(**candidate.settings)
            corpus = read(settings)
            assigned = assign_folds(corpus, folds, seed, group_duplicates)
        judged = cross_validate(corpus, assigned, candidate.view, jobs)
        first = first or judged
        yield compare_with_first(candidate, judged, first)


def compare_with_first(
    candidate: Candidate, judged: JudgedMessages, first: JudgedMessages
) -> ComparedCandidate:
    labels = judged.labels
    figures = measure(
        labels, judged.truth, judged.verdict, judged.score, judged.probability, resamples=0
    ).as_map()
    figures.pop("intervals", None)
    verdicts = compare_verdicts(judged.truth, judged.verdict, first.verdict)
    ranking = None
    if SPAM in labels:
        ranking = compare_auc(judged.truth == labels.index(SPAM), judged.score, first.score)
    return ComparedCandidate(
        candidate,
        figures,
        verdicts.won,
        verdicts.tied,
        verdicts.lost,
        verdicts.p if judged is not first else None,
        ranking.p if ranking and judged is not first else None,
    )
