"""`spamnb tune`."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from spamnb.cli.render.notices import model_location, print_unreadable
from spamnb.cli.render.terminal import paths_and_reasons, print_json, show
from spamnb.cli.shared.help import Number, rare_option
from spamnb.cli.shared.labelled_mail import LabelledMail, cluster_or_jobs
from spamnb.cli.shared.options import (
    Command,
    jobs_option,
    json_option,
    mail_options,
    model_option,
)
from spamnb.cli.shared.outputs import check_replaceable, check_writable
from spamnb.cli.shared.progress import announce_tried
from spamnb.errors import CannotCreate, SpamnbError, command_to_run
from spamnb.evaluation.candidates import VIEW_NAMES, Candidate, parse_candidate
from spamnb.files import make_folder, printable
from spamnb.lock import NAME_ANOTHER_FILE
from spamnb.mailboxes.skipped import failures, passed_over

if TYPE_CHECKING:
    from spamnb.evaluation.compare import ComparedCandidate

EXAMPLES = """
spamnb tune ham/ spam/
spamnb tune --fresh ham/ spam/
spamnb tune --language german --model tuned.msgpack ham/ spam/
spamnb tune --dry-run ham/ spam/
"""
FLAGS = {"headers=no": ["--no-headers"]}  # settings whose options take no value


@click.command(cls=Command, examples=EXAMPLES)
@partial(mail_options, label=False, ham="Ham; may be repeated.")
@model_option
@click.option("--fresh", is_flag=True, help="Replace an existing model with one trained on this mail.")
@click.option("--language", metavar="LANG", help="Also try the stemmer and stop words of this language.")
@rare_option("--folds", type=Number(2, 1000), default=5, show_default=True, help="Number of folds.")
@rare_option("--seed", type=Number(0), default=1, show_default=True, help="Shuffles messages into folds.")
@click.option("--dry-run", is_flag=True, help="Only show what would be chosen.")
@jobs_option
@json_option
def tune(
    mail: LabelledMail,
    model: str,
    fresh: bool,
    language: str | None,
    folds: int,
    seed: int,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Find the settings that judge this mail best; if there is no model yet, train one with them.

    Changes one setting at a time, keeps what ranks better in cross-validation, and in the end only what
    beats the default by more than chance. An existing model is kept unless --fresh is given: the settings
    are then shown as options for `spamnb train`.
    """
    mail.find()
    mail.check("ham and spam are")
    jobs = cluster_or_jobs(mail.jobs)[1]
    if not dry_run:
        check_replaceable(model)
    if is_to_be_written(model, fresh, dry_run):
        check_creatable(model)
    from spamnb.evaluation.compare import compare_candidates, search
    from spamnb.evaluation.folds import Folds
    from spamnb.training import train as training
    from spamnb.workers.local import LocalPool
    from spamnb.workers.processes import all_cores

    def judge(candidates: list[Candidate]) -> list[ComparedCandidate]:
        wanted, split = [parse_candidate("default"), *candidates], Folds(folds, seed)
        compared = compare_candidates(wanted, mail.corpus, split, jobs or all_cores())
        return list(announce_tried(compared))

    written = False
    try:
        tried, winner, why = search(judge, language)
        chosen = winner.candidate
        try:
            if is_to_be_written(model, fresh, dry_run):
                training.train(
                    model,
                    mail.sources,
                    chosen.settings,
                    view=chosen.view,
                    fresh=fresh,
                    pool=LocalPool(jobs),
                )
                written = True
        finally:
            if as_json:
                print_json(
                    {
                        "winner": chosen.name,
                        "reason": why,
                        "options": options_for(chosen),
                        "model": model if written else None,
                        "tried": [setting.as_map() for setting in tried],
                        "unreadable": paths_and_reasons(failures(mail.unreadable)),
                        "passed_over": paths_and_reasons(passed_over(mail.unreadable)),
                    }
                )
            else:
                from spamnb.cli.render.evaluation import show_comparison

                show_comparison(tried, f"{folds} folds")
                found = [model_location(model)] if written else advice(model, chosen)
                show(f"chosen: {chosen.name}; {why}", *found)
    finally:
        code = print_unreadable(mail.unreadable)
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


def advice(model: str, chosen: Candidate) -> list[str]:
    """Say that no model was written, and how to make one with these settings, if there is none."""
    is_there, options = os.path.lexists(model), options_for(chosen)
    if is_there and has_settings(model, chosen):
        return [f"nothing to change: {printable(model)} has these settings"]
    kept = f": {printable(model)} is kept; --fresh replaces it" if is_there else ""
    rest = ["--model", model, *options, "HAM", "SPAM"]
    fresh = ["--fresh"] if is_there else []
    lines = [
        f"nothing written{kept}",
        f"to train with these settings: {command_to_run('train', *fresh, *rest)}",
    ]
    if is_there and options[:1] == ["--view"]:  # which changes no counts
        lines.append(f"to keep what the model has learned: {command_to_run('train', *rest)}")
    return lines


def has_settings(model: str, chosen: Candidate) -> bool:
    """Tell whether a model reads and judges mail by these settings."""
    from spamnb.model import settings_of, view_of
    from spamnb.reading.settings import Settings
    from spamnb.store.stored_model import StoredModel

    try:
        stored = StoredModel.open(model)
        own, view = settings_of(stored), view_of(stored)
    except SpamnbError:
        return False
    wanted = Settings(**chosen.settings)
    return own == wanted and view.as_map() == chosen.view.as_map()


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
