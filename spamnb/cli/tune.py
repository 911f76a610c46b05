"""`spamnb tune`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from spamnb.bulk import comparing, training
from spamnb.bulk.comparing import CHANCE, Candidate, Compared, better, candidate, extended, steps_from
from spamnb.bulk.corpus import Corpus
from spamnb.bulk.crew import Here, size_of
from spamnb.bulk.workers import all_cores
from spamnb.cli.options import (
    Command,
    all_folders_option,
    check_replaceable,
    jobs_option,
    json_option,
    labelled,
    model_option,
    path_type,
)
from spamnb.cli.progress import progress, telling
from spamnb.cli.render import places, print_json, show, tell_unreadable
from spamnb.cli.tables import comparison_table
from spamnb.errors import UsageError
from spamnb.mail.sources import check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spamnb.bulk.batches import Batch
    from spamnb.mail.skipped import Unreadable
    from spamnb.tokens.settings import Settings

EXAMPLES = """
spamnb tune ham/ spam/
spamnb tune --language german --model tuned.msgpack ham/ spam/
spamnb tune --dry-run ham/ spam/
"""
TEXTBOOKS = ("event=multinomial", "event=binary", "event=bernoulli")


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("folders", nargs=-1, metavar="[HAM SPAM]", type=path_type)
@click.option("--ham", multiple=True, type=path_type, metavar="PATH", help="Ham; again for more.")
@click.option("--spam", multiple=True, type=path_type, metavar="PATH", help="Spam, likewise.")
@all_folders_option
@model_option
@click.option("--language", metavar="LANG", help="Try its stemmer and stop words, too.")
@click.option("--folds", type=click.IntRange(2, 1000), default=5, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--dry-run", is_flag=True, help="Only show what would be chosen.")
@jobs_option
@json_option
def tune(
    folders: tuple[str, ...],
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    all_folders: bool,
    model: str,
    language: str | None,
    folds: int,
    seed: int,
    dry_run: bool,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Search the settings that judge this mail best, and train a new model with them.

    Changes one setting at a time, keeps what ranks better in cross-validation, and in the end only what
    beats the default beyond chance. The model, if there is one, is replaced.
    """
    sources = labelled(folders, ham, spam, ())
    if len(sources) < 2:
        raise UsageError("ham and spam are needed, for instance: spamnb tune ham/ spam/")
    paths = [path for many in sources.values() for path in many]
    check(paths)
    if not dry_run:
        check_replaceable(model)
    processes = jobs or all_cores()
    unreadable: list[Unreadable] = []  # of the last reading, and what was passed over

    def corpus(settings: Settings) -> Corpus:
        def batches() -> Iterator[Batch]:
            with progress("reading", lambda: size_of(sources, all_folders)) as step:
                for batch in Here(processes).batches(sources, settings, all_folders=all_folders):
                    yield batch
                    step(batch.size, len(batch))

        found = Corpus.of(list(sources), batches())
        unreadable[:] = found.unreadable
        return found

    def judge(candidates: list[Candidate]) -> list[Compared]:
        wanted = [candidate("default"), *candidates]
        return list(telling(comparing.compared(wanted, corpus, folds, seed, False, processes)))

    tried, winner = search(judge, language)
    if not dry_run:
        training.train(
            model,
            sources,
            winner.candidate.settings,
            view=winner.candidate.view,
            fresh=True,
            all_folders=all_folders,
            jobs=jobs,
        )
    if as_json:
        found = {"winner": winner.candidate.name, "model": None if dry_run else model}
        print_json({**found, "tried": [one.as_map() for one in tried]})
    else:
        comparison_table(tried, f"{folds} folds")
        show(f"chosen: {winner.candidate.name}")
        show(*(["nothing written"] if dry_run else places(model)))
    tell_unreadable(unreadable)
    return 0


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


def _rank(one: Compared) -> tuple[float, float]:
    return (one.metrics["one_minus_auc_percent"], -one.metrics["accuracy"])


def _chances(one: Compared) -> list[float]:
    return [p for p in (one.verdicts_p, one.ranking_p) if p is not None]
