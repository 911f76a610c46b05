"""Compare settings on the same folds of the same mail, and search for the settings that judge it best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spamnb.evaluation.candidates import Candidate, parse_candidate, with_change
from spamnb.evaluation.corpus import Corpus
from spamnb.evaluation.folds import CrossValidation, assign_folds
from spamnb.evaluation.intervals import compare_auc, compare_verdicts, holm
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.results import JudgedMessages
from spamnb.labels import SPAM
from spamnb.reading.settings import Settings

TEXTBOOKS = ("event=multinomial", "event=binary", "event=bernoulli")


def search(
    judge: Callable[[list[Candidate]], list[ComparedCandidate]],
) -> tuple[list[ComparedCandidate], ComparedCandidate, str]:
    """Search for the best settings; return all results (the default first), the chosen one, and the reason.

    `judge` tries the default, then the given candidates, and returns a result for each, in this order.
    """
    default, *textbooks = judge([parse_candidate(name) for name in TEXTBOOKS])
    tried: dict[str, ComparedCandidate] = {result.candidate.name: result for result in (default, *textbooks)}
    best = default
    while True:
        untried = [step for step in steps_from(best.candidate) if step.name not in tried]
        found = judge(untried)[1:] if untried else []
        tried.update((result.candidate.name, result) for result in found)
        leader = min(found, key=_rank, default=best)
        if not is_better(leader, best):
            break
        best = leader
    changes = ("ngrams=2", "headers=no")
    for result in judge([with_change(best.candidate, change) for change in changes])[1:]:
        tried[result.candidate.name] = result
        if is_better(result, best):
            best = result
    results = corrected(list(tried.values()))
    best = next(result for result in results if result.candidate.name == best.candidate.name)
    winner = best if beats_first(best) else results[0]
    return results, winner, reason(best, len(results) - 1)


def reason(best: ComparedCandidate, others: int) -> str:
    """Say why `best`, or else the default, is chosen; `others`: how many other settings were tried."""
    name = best.candidate.name
    if best.ranking_p is None:
        return f"none of the {others} other settings ranks this mail better than the default"
    chance = f"(p {best.ranking_p:.2g}, corrected for the number of tests)"
    if beats_first(best):
        return f"it ranks this mail significantly better than the default {chance}"
    if best.ranking_p > CHANCE:
        return f"of the {others} other settings {name} ranks this mail best, but perhaps by chance {chance}"
    return (
        f"{name} ranks this mail better {chance}, but judges {best.lost} messages worse and {best.won} better"
    )


def steps_from(best: Candidate) -> list[Candidate]:
    """Return the candidates to try next: copies of `best`, each with one setting changed."""
    changes = [
        *(f"smoothing={value}" for value in (0.001, 0.003, 0.01, 0.03, 0.1)),
        *(f"least-evidence={value}" for value in (1.5, 2.0, 2.5, 3.0, 3.5)),
        *(f"damping={value}" for value in (1, 2, 4, 8, 16)),
        *("word-pairs=yes", "word-pairs=no"),
    ]
    return [with_change(best, change) for change in changes]


def is_better(result: ComparedCandidate, best: ComparedCandidate) -> bool:
    """Return whether `result` has a lower 1 - AUC than `best`; if equal or unknown, a higher accuracy."""
    if None in (each.metrics["one_minus_auc_percent"] for each in (result, best)):
        return bool(result.metrics["accuracy"] > best.metrics["accuracy"])
    return _rank(result) < _rank(best)


def _rank(result: ComparedCandidate) -> tuple[float, float]:
    return result.metrics["one_minus_auc_percent"], -result.metrics["accuracy"]


def beats_first(result: ComparedCandidate) -> bool:
    """Return whether `result` ranks significantly better than the first, and judges not significantly worse.

    Better verdicts alone do not suffice: with little mail, one or two messages decide how many are unsure.
    """
    ranking, verdicts = (p is not None and p <= CHANCE for p in (result.ranking_p, result.verdicts_p))
    return ranking and not (verdicts and result.lost > result.won)


CHANCE = 0.05  # a difference that is more probable than this by chance alone is ignored


@dataclass(frozen=True)
class ComparedCandidate:
    """The figures of a candidate, and how its verdicts and ranking differ from the first candidate's."""

    candidate: Candidate
    metrics: dict[str, Any]
    won: int  # messages judged right by this candidate and not by the first
    tied: int
    lost: int
    # How probable it is that the verdicts, and 1 - AUC, differ so much by chance alone.
    verdicts_p: float | None
    ranking_p: float | None

    def as_map(self) -> dict[str, Any]:
        against = {"won": self.won, "tied": self.tied, "lost": self.lost}
        chances = {"verdicts_p": self.verdicts_p, "ranking_p": self.ranking_p}
        return {"name": self.candidate.name, **self.metrics, "against_first": {**against, **chances}}


def corrected(results: Sequence[ComparedCandidate]) -> list[ComparedCandidate]:
    """Correct the p-values for the number of tests: of many results, some differ by chance alone."""
    found = [p for result in results for p in (result.verdicts_p, result.ranking_p) if p is not None]
    chances: dict[float | None, float | None] = {None: None, **dict(zip(found, holm(found), strict=True))}
    return [
        replace(result, verdicts_p=chances[result.verdicts_p], ranking_p=chances[result.ranking_p])
        for result in results
    ]


def compare_candidates(
    candidates: Sequence[Candidate],
    read: Callable[[Settings], Corpus],
    fold_count: int,
    jobs: int,
) -> Iterator[ComparedCandidate]:
    """Cross-validate each candidate on the same folds; mail is read once for each tokenizer.

    So the results are grouped by tokenizer settings, beginning with those of the first candidate.
    """
    first: JudgedMessages | None = None
    settings: Settings | None = None
    by_tokenizer = sorted(candidates, key=lambda candidate: repr(sorted(candidate.settings.items())))
    for candidate in sorted(by_tokenizer, key=lambda candidate: candidate.settings != candidates[0].settings):
        if settings != Settings(**candidate.settings):
            settings = Settings(**candidate.settings)
            corpus = read(settings)
            assigned = assign_folds(corpus, fold_count)
        judged = CrossValidation(corpus, assigned, candidate.view, jobs).judge()
        first = first or judged
        yield compare_with_first(candidate, judged, first)


def compare_with_first(
    candidate: Candidate, judged: JudgedMessages, first: JudgedMessages
) -> ComparedCandidate:
    labels = judged.labels
    figures = measure(labels, judged.truth, judged.verdict, judged.score, judged.probability)
    del figures["intervals"]
    won, tied, lost, verdicts_p = compare_verdicts(judged.truth, judged.verdict, first.verdict)
    if judged is first:
        return ComparedCandidate(candidate, figures, won, tied, lost, None, None)
    ranking_p = None
    if SPAM in labels:
        ranking_p = compare_auc(judged.truth == labels.index(SPAM), judged.score, first.score)
    return ComparedCandidate(candidate, figures, won, tied, lost, verdicts_p, ranking_p)
