"""Several settings held against each other on the same folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spamnb.bayes.verdict import SPAM
from spamnb.evaluation.folds import cross_validated, fold_of
from spamnb.evaluation.intervals import compare_auc, compare_verdicts
from spamnb.evaluation.metrics import measure
from spamnb.reading.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spamnb.evaluation.candidates import Candidate
    from spamnb.evaluation.corpus import Corpus
    from spamnb.evaluation.results import Judged

CHANCE = 0.05  # a difference likelier than this by chance alone is none


@dataclass(frozen=True)
class Compared:
    """A candidate's figures, and how it did against the first, message by message."""

    candidate: Candidate
    metrics: dict[str, Any]
    won: int  # messages judged right here and not by the first
    tied: int
    lost: int
    verdicts_p: float | None  # how likely such a difference in verdicts is by chance
    ranking_p: float | None  # and such a one in ranking, by (1-AUC)

    def as_map(self) -> dict[str, Any]:
        against = {"won": self.won, "tied": self.tied, "lost": self.lost}
        chances = {"verdicts_p": self.verdicts_p, "ranking_p": self.ranking_p}
        return {"name": self.candidate.name, **self.metrics, "against_first": {**against, **chances}}


def compared(
    candidates: Sequence[Candidate],
    read: Callable[[Settings], Corpus],
    folds: int,
    seed: int,
    together: bool,
    jobs: int,
) -> Iterator[Compared]:
    """Each on the same folds, the first first; mail is read again only for another tokenizer."""
    theirs = candidates[0].settings
    first: Judged | None = None
    corpora: list[tuple[Settings, Corpus]] = []
    for one in sorted(
        candidates, key=lambda one: (one.settings != theirs, repr(sorted(one.settings.items())))
    ):
        settings = Settings(**one.settings)
        if not corpora or corpora[0][0] != settings:
            corpora[:] = [(settings, read(settings))]
        corpus = corpora[0][1]
        judged = cross_validated(corpus, fold_of(corpus, folds, seed, together), one.view, jobs)
        first = first or judged
        yield against(first, judged, one)


def against(first: Judged, judged: Judged, one: Candidate) -> Compared:
    labels = judged.labels
    figures = measure(
        labels, judged.truth, judged.verdict, judged.score, judged.probability, resamples=0
    ).as_map()
    figures.pop("intervals", None)
    verdicts = compare_verdicts(judged.truth, judged.verdict, first.verdict)
    ranking = None
    if SPAM in labels:
        ranking = compare_auc(judged.truth == labels.index(SPAM), judged.score, first.score)
    return Compared(
        one,
        figures,
        verdicts.won,
        verdicts.tied,
        verdicts.lost,
        verdicts.p if judged is not first else None,
        ranking.p if ranking and judged is not first else None,
    )
