"""The search for the settings that judge some mail best: one changed at a time, as long as that is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.evaluation.candidates import candidate, extended
from spamnb.evaluation.compare import CHANCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.evaluation.candidates import Candidate
    from spamnb.evaluation.compare import Compared

TEXTBOOKS = ("event=multinomial", "event=binary", "event=bernoulli")


def search(
    judge: Callable[[list[Candidate]], list[Compared]], language: str | None
) -> tuple[list[Compared], Compared]:
    """All that was tried, the default and the textbooks' first; and the winner."""
    default, *textbooks = judge([candidate(name) for name in TEXTBOOKS])
    tried: dict[str, Compared] = {one.candidate.name: one for one in (default, *textbooks)}
    best = default
    while True:
        fresh = [one for one in steps_from(best.candidate) if one.name not in tried]
        found = judge(fresh)[1:] if fresh else []
        tried.update((one.candidate.name, one) for one in found)
        leader = min(found, key=_rank, default=best)
        if not better(leader, best):
            break
        best = leader
    changes = ["ngrams=2", "headers=no", "case=yes"]
    if language:
        changes += [f"stem={language}", f"stop-words={language}"]
    for one in judge([extended(best.candidate, change) for change in changes])[1:]:
        tried[one.candidate.name] = one
        if better(one, best):
            best = one
    beyond_chance = best is default or min(_chances(best), default=1.0) <= CHANCE
    return list(tried.values()), best if beyond_chance else default


def steps_from(best: Candidate) -> list[Candidate]:
    """What a search tries next: the best so far with one setting changed."""
    changes = [
        *(f"smoothing={value}" for value in (0.001, 0.003, 0.01, 0.03, 0.1)),
        *(f"least-evidence={value}" for value in (1.5, 2.0, 2.5, 3.0, 3.5)),
        *(f"damping={value}" for value in (1, 2, 4, 8, 16)),
        *("pairs=yes", "pairs=no"),
    ]
    return [extended(best, change) for change in changes]


def better(one: Compared, best: Compared) -> bool:
    """By ranking; in a tie by what is mistaken."""
    ours, theirs = (each.metrics["one_minus_auc_percent"] for each in (one, best))
    if ours is None or theirs is None:
        return bool(one.metrics["accuracy"] > best.metrics["accuracy"])
    return bool((ours, -one.metrics["accuracy"]) < (theirs, -best.metrics["accuracy"]))


def _rank(one: Compared) -> tuple[float, float]:
    return (one.metrics["one_minus_auc_percent"], -one.metrics["accuracy"])


def _chances(one: Compared) -> list[float]:
    return [p for p in (one.verdicts_p, one.ranking_p) if p is not None]
