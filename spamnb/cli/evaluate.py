"""`spamnb evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.render.terminal import paths_and_reasons, print_json, print_json_lines, show
from spamnb.cli.shared.help import Number
from spamnb.cli.shared.labelled_mail import LabelledMail
from spamnb.cli.shared.options import (
    Command,
    check_modes,
    check_prior,
    json_option,
    local_jobs_option,
    mail_options,
    open_model,
    path_type,
    settings_option,
)
from spamnb.cli.shared.outputs import OUTPUT, check_writable, write_reported
from spamnb.cli.shared.progress import announce_tried
from spamnb.errors import UsageError, command_to_run
from spamnb.evaluation.candidates import STANDARD, VIEW_NAMES, Candidate, parse_candidate, parse_settings
from spamnb.mailboxes.skipped import failures, skipped_mail
from spamnb.reading.settings import Settings

if TYPE_CHECKING:
    from spamnb.evaluation.compare import ComparedCandidate
    from spamnb.evaluation.results import Evaluation

EXAMPLES = """
spamnb evaluate ham/ spam/
spamnb evaluate --report report.html ham/ spam/
spamnb evaluate --model model.msgpack later-ham/ later-spam/
spamnb evaluate --online ham/ spam/
spamnb evaluate --tune ham/ spam/
spamnb evaluate --settings event=multinomial ham.mbox.xz spam.mbox.xz
spamnb evaluate --settings default --settings event=bernoulli ham/ spam/
spamnb evaluate --settings standard ham/ spam/
spamnb evaluate --json ham/ spam/ | jq .labels.spam.f1
"""
SEVERAL = "several --settings"
# Options that choose how to evaluate; for each, the options that have no effect with it.
MODES = {
    "--model": ("folds",),
    "--online": ("folds", "top"),
    "--tune": ("top", "report", "chosen"),
    SEVERAL: ("top", "report"),
}


@click.command(cls=Command, examples=EXAMPLES)
@mail_options
@click.option("--folds", type=Number(2, 1000), default=10, show_default=True, help="Number of folds.")
@click.option(
    "--model", type=path_type, metavar="PATH", help="Judge with this model instead of cross-validation."
)
@click.option(
    "--online", "is_online", is_flag=True, help="Judge each message in order of time, then learn it."
)
@click.option("--tune", "is_tuned", is_flag=True, help="Find the settings that judge this mail best.")
@click.option("--top", type=Number(0), default=10, show_default=True, help="How many mistakes to show.")
@click.option(
    "--report", type=path_type, metavar="FILE", help="Write the results as an HTML page with pictures."
)
@settings_option(
    "chosen",
    multiple=True,
    help="Judge with other settings: event=bernoulli …; repeat to compare them; `standard` compares many.",
)
@local_jobs_option
@json_option
def evaluate(
    mail: LabelledMail,
    folds: int,
    model: str | None,
    is_online: bool,
    is_tuned: bool,
    top: int,
    report: str | None,
    chosen: tuple[str, ...],
    as_json: bool,
) -> int:
    """Measure how good the filter is on this mail: precision, recall, F1, and a table of verdicts.

    By default, cross-validates: each fold of the mail is judged with the counts of the other folds. With
    --model, a model judges mail that it has not learned; with --online, mail is judged in order of time.
    """
    mail.find()
    names = list(
        dict.fromkeys(name for each in chosen for name in (STANDARD if each == "standard" else (each,)))
    )
    check_modes(MODES, *([SEVERAL] if len(names) > 1 else []))
    mail.check("mail of at least two labels is")
    check_writable(report)
    from spamnb.threads import all_cores

    cores, code = int(mail.jobs or all_cores()), 0
    try:
        if is_tuned:
            tune(mail, folds, cores, as_json)
        elif len(names) > 1:
            found = compare(mail, [parse_candidate(name) for name in names], folds, cores)
            show_compared(found, folds, as_json)
        else:
            text = names[0] if names else None
            judged = judge(mail, text, folds, model, is_online, top, cores)
            code = show_and_write(judged, as_json, report)
    finally:
        unreadable = print_unreadable(mail.unreadable)
    return code or unreadable


def judge(
    mail: LabelledMail, text: str | None, folds: int, model: str | None, is_online: bool, top: int, jobs: int
) -> Evaluation:
    """Evaluate settings (`text`, None: the default) with the given model, online, or by cross-validation."""
    allowed = {"allowed": VIEW_NAMES} if model is not None else {}
    tokenizer, view = parse_settings(text, **allowed) if text is not None else ({}, None)
    if model is not None:
        from spamnb.evaluation.evaluate import evaluate_by_model

        opened = open_model(model, view)
        return evaluate_by_model(opened, mail.labels, mail.batches(opened.settings), top)
    check_prior(view, mail.labels)
    settings = Settings(**tokenizer)
    if is_online:
        if view is not None and view.event == "bernoulli":
            raise UsageError("--online cannot judge with event=bernoulli; use event=binary, or omit --online")
        corpus = mail.corpus(settings, is_counted=False)
        from spamnb.evaluation.evaluate import evaluate_online

        return evaluate_online(corpus, view)
    corpus = mail.corpus(settings)
    from spamnb.evaluation.evaluate import evaluate_by_folds

    return evaluate_by_folds(corpus, settings, view, folds, top, jobs)


def show_and_write(evaluation: Evaluation, as_json: bool, report: str | None) -> int:
    """Print an evaluation, and write it to `report` as an HTML page, even if printing fails."""
    from spamnb.cli.render.evaluation import show_evaluation

    try:
        if as_json and report != OUTPUT:
            print_json(as_map(evaluation))
        elif report != OUTPUT:
            show_evaluation(evaluation)
    finally:
        code = 0
        if report:
            from spamnb.report.evaluation_page import evaluation_page

            code = write_reported(report, evaluation_page(evaluation))
    return code


def as_map(evaluation: Evaluation) -> dict[str, Any]:
    judged = evaluation.judged
    return {
        **evaluation.metrics,
        "how": evaluation.how,
        "cutoffs": list(judged.cutoffs) if judged.cutoffs else None,
        "duplicates": evaluation.duplicates,
        "learned": evaluation.learned,
        "mistakes": [asdict(mistake) for mistake in evaluation.mistakes],
        "curve": [asdict(point) for point in evaluation.curve],
        "unreadable": paths_and_reasons(failures(judged.unreadable)),
        "skipped": paths_and_reasons(skipped_mail(judged.unreadable)),
    }


def compare(
    mail: LabelledMail, candidates: Sequence[Candidate], folds: int, jobs: int
) -> list[ComparedCandidate]:
    """Compare settings on the same folds; on a terminal, report each as soon as it is evaluated."""
    from spamnb.evaluation.compare import compare_candidates

    return list(announce_tried(compare_candidates(candidates, mail.corpus, folds, jobs)))


def show_compared(compared: Sequence[ComparedCandidate], folds: int, as_json: bool) -> None:
    from spamnb.cli.render.evaluation import show_comparison
    from spamnb.evaluation.compare import corrected

    found = corrected(compared)
    if as_json:
        print_json_lines(result.as_map() for result in found)
    else:
        show_comparison(found, f"{folds} folds")


def tune(mail: LabelledMail, folds: int, jobs: int, as_json: bool) -> None:
    """Search for the settings that judge the mail best, and print the command to train with them."""
    from spamnb.cli.render.evaluation import show_comparison
    from spamnb.evaluation.compare import search

    default = parse_candidate("default")
    tried, winner, why = search(lambda candidates: compare(mail, [default, *candidates], folds, jobs))
    name = winner.candidate.name
    if as_json:
        print_json(
            {
                "winner": name,
                "reason": why,
                "tried": [result.as_map() for result in tried],
                "unreadable": paths_and_reasons(failures(mail.unreadable)),
                "skipped": paths_and_reasons(skipped_mail(mail.unreadable)),
            }
        )
        return
    show_comparison(tried, f"{folds} folds")
    show(f"chosen: {name}; {why}")
    if winner.candidate != default:
        show(f"to train with these settings: {command_to_run('train', '--settings', name, 'HAM', 'SPAM')}")
