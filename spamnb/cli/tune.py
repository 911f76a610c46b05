"""`spamnb tune`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from spamnb.cli.help import Number, is_quiet, rare_option
from spamnb.cli.labelled_mail import LabelledMail
from spamnb.cli.options import (
    Command,
    all_folders_option,
    jobs_option,
    json_option,
    model_option,
    path_type,
    skip_option,
)
from spamnb.cli.outputs import check_replaceable, check_writable
from spamnb.cli.progress import announce_tried
from spamnb.cli.render.notices import model_location, print_unreadable
from spamnb.cli.render.terminal import paths_and_reasons, print_json, show
from spamnb.errors import CannotCreate, command_to_run
from spamnb.evaluation.candidates import VIEW_NAMES, Candidate, parse_candidate
from spamnb.files import make_folder, printable
from spamnb.lock import NAME_ANOTHER_FILE
from spamnb.mailboxes.skipped import Unreadable, failures, passed_over

if TYPE_CHECKING:
    from spamnb.evaluation.compare import ComparedCandidate

EXAMPLES = """
spamnb tune ham/ spam/
spamnb tune --fresh ham/ spam/
spamnb tune --language german --model tuned.msgpack ham/ spam/
spamnb tune --dry-run ham/ spam/
"""
FLAGS = {"headers=no": ["--no-headers"], "case=yes": ["--case"]}  # settings whose options take no value


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("folders", nargs=-1, metavar="[HAM SPAM]", type=path_type)
@click.option("--ham", multiple=True, type=path_type, metavar="PATH", help="Ham; may be repeated.")
@click.option("--spam", multiple=True, type=path_type, metavar="PATH", help="Spam; may be repeated.")
@all_folders_option
@model_option
@click.option("--fresh", is_flag=True, help="Replace an existing model with one trained on this mail.")
@click.option("--language", metavar="LANG", help="Also try the stemmer and stop words of this language.")
@rare_option("--folds", type=Number(2, 1000), default=5, show_default=True, help="Number of folds.")
@rare_option("--seed", type=Number(0), default=1, show_default=True, help="Shuffles messages into folds.")
@click.option("--dry-run", is_flag=True, help="Only show what would be chosen.")
@jobs_option
@skip_option
@json_option
def tune(
    folders: tuple[str, ...],
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    all_folders: bool,
    model: str,
    fresh: bool,
    language: str | None,
    folds: int,
    seed: int,
    dry_run: bool,
    jobs: int | None,
    skip_unreadable: bool,
    as_json: bool,
) -> int:
    """Find the settings that judge this mail best; if there is no model yet, train one with them.

    Changes one setting at a time, keeps what ranks better in cross-validation, and in the end only what
    beats the default by more than chance. An existing model is kept unless --fresh is given: the settings
    are then shown as options for `spamnb train`.
    """
    mail = LabelledMail(folders, ham, spam, (), all_folders, jobs).find()
    mail.check("ham and spam are")
    if not dry_run:
        check_replaceable(model)
    if is_to_be_written(model, fresh, dry_run):
        check_creatable(model)
    from spamnb.evaluation.compare import compare_candidates, search
    from spamnb.training import train as training
    from spamnb.workers.local import LocalPool
    from spamnb.workers.processes import all_cores

    def judge(candidates: list[Candidate]) -> list[ComparedCandidate]:
        wanted = [parse_candidate("default"), *candidates]
        return list(
            announce_tried(compare_candidates(wanted, mail.corpus, folds, seed, False, jobs or all_cores()))
        )

    try:
        tried, winner = search(judge, language)
        chosen = winner.candidate
        result = SearchResult(tried, chosen, f"{folds} folds", model)
        try:
            if is_to_be_written(model, fresh, dry_run):
                training.train(
                    model,
                    mail.sources,
                    chosen.settings,
                    view=chosen.view,
                    fresh=fresh,
                    all_folders=all_folders,
                    pool=LocalPool(jobs),
                )
                result.written = True
        finally:
            result.show(list(mail.unreadable.values()), as_json)
    finally:
        code = print_unreadable(mail.unreadable.values(), skip_unreadable)
    return code


def is_to_be_written(model: str, fresh: bool, dry_run: bool) -> bool:
    return not dry_run and (fresh or not os.path.lexists(model))


def check_creatable(model: str) -> None:
    """Raise an error if no model can be written there, before the search, which takes minutes."""
    try:
        make_folder(os.path.dirname(model))
    except OSError as error:
        raise CannotCreate(f"{model}: {error.strerror}; {NAME_ANOTHER_FILE}") from error
    check_writable(f"{model}.new")


@dataclass
class SearchResult:
    """Settings that a search has found, and whether a model was trained with them."""

    tried: list[ComparedCandidate]
    chosen: Candidate
    how: str
    model: str
    written: bool = False

    def show(self, unreadable: list[Unreadable], as_json: bool) -> None:
        if as_json:
            print_json(
                {
                    "winner": self.chosen.name,
                    "options": options_for(self.chosen),
                    "model": self.model if self.written else None,
                    "tried": [setting.as_map() for setting in self.tried],
                    "unreadable": paths_and_reasons(failures(unreadable)),
                    "passed_over": paths_and_reasons(passed_over(unreadable)),
                }
            )
        elif not is_quiet() or not self.written:  # what was found is the answer, if no model tells it
            from spamnb.cli.render.evaluation import show_comparison

            show_comparison(self.tried, self.how)
            show(
                f"chosen: {self.chosen.name}",
                *(model_location(self.model) if self.written else self.advice()),
            )

    def advice(self) -> list[str]:
        """Say that no model was written, and how to make one with these settings."""
        is_there, options = os.path.lexists(self.model), options_for(self.chosen)
        kept = f": {printable(self.model)} is kept; --fresh replaces it" if is_there else ""
        rest = ["--model", self.model, *options, "HAM", "SPAM"]
        lines = [
            f"nothing written{kept}",
            f"to train with these settings: {command_to_run('train', '--fresh', *rest)}",
        ]
        if is_there and options[:1] == ["--view"]:  # which changes no counts
            lines.append(f"to keep what the model has learned: {command_to_run('train', *rest)}")
        return lines


def options_for(chosen: Candidate) -> list[str]:
    """Give the settings as options of `spamnb train`.

    >>> options_for(parse_candidate("damping=4,ngrams=2,headers=no,smoothing=0.1"))
    ['--ngrams', '2', '--no-headers', '--view', 'damping=4,smoothing=0.1']
    """
    settings: list[str] = []
    view: list[str] = []
    for part in chosen.name.split(",") if chosen.name != "default" else ():
        name, _, value = part.partition("=")
        if name in VIEW_NAMES:
            view.append(part)
        else:
            settings += FLAGS.get(part, [f"--{name}", value])
    return [*settings, *(["--view", ",".join(view)] if view else [])]
