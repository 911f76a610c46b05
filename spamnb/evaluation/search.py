"""Search for the settings that judge mail best: one is changed at a time, as long as that is better."""

from collections.abc import Callable

from spamnb.evaluation.candidates import Candidate, parse_candidate, with_change
from spamnb.evaluation.compare import CHANCE, ComparedCandidate

TEXTBOOKS = ("event=multinomial", "event=binary", "event=bernoulli")


def search(
    judge: Callable[[list[Candidate]], list[ComparedCandidate]], language: str | None
) -> tuple[list[ComparedCandidate], ComparedCandidate]:
    """Try candidates; returns the results of all, the default's and the textbooks' first, and the winner.

    `judge` returns the result of the default first, then of the candidates. `language` is that of the mail.
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
    changes = ["ngrams=2", "headers=no", "case=yes"]
    if language:
        changes += [f"stem={language}", f"stop-words={language}"]
    for result in judge([with_change(best.candidate, change) for change in changes])[1:]:
        tried[result.candidate.name] = result
        if is_better(result, best):
            best = result
    beyond_chance = best is default or min(_chances(best), default=1.0) <= CHANCE
    return list(tried.values()), best if beyond_chance else default


def steps_from(best: Candidate) -> list[Candidate]:
    """The candidates to try next: the best so far with one setting changed."""
    changes = [
        *(f"smoothing={value}" for value in (0.001, 0.003, 0.01, 0.03, 0.1)),
        *(f"least-evidence={value}" for value in (1.5, 2.0, 2.5, 3.0, 3.5)),
        *(f"damping={value}" for value in (1, 2, 4, 8, 16)),
        *("pairs=yes", "pairs=no"),
    ]
    return [with_change(best, change) for change in changes]


def is_better(result: ComparedCandidate, best: ComparedCandidate) -> bool:
    """Whether a result ranks mail better than the best; in a tie, whether it makes fewer mistakes."""
    if None in (each.metrics["one_minus_auc_percent"] for each in (result, best)):
        return bool(result.metrics["accuracy"] > best.metrics["accuracy"])
    return _rank(result) < _rank(best)


def _rank(result: ComparedCandidate) -> tuple[float, float]:
    return result.metrics["one_minus_auc_percent"], -result.metrics["accuracy"]


def _chances(result: ComparedCandidate) -> list[float]:
    return [p for p in (result.verdicts_p, result.ranking_p) if p is not None]
