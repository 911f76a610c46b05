"""`spamnb evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from spamnb.bayes.view import View
from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.render.terminal import paths_and_reasons, print_json, print_json_lines
from spamnb.cli.shared.help import Number, rare_option
from spamnb.cli.shared.labelled_mail import LabelledMail, cluster_or_jobs
from spamnb.cli.shared.options import (
    Command,
    check_prior,
    given_options,
    jobs_option,
    json_option,
    mail_options,
    no_base_option,
    open_model,
    path_type,
    refuse_without_effect,
    tokenizer_options,
    view_options,
)
from spamnb.cli.shared.outputs import OUTPUT, check_writable, write_files
from spamnb.cli.shared.progress import announce_tried
from spamnb.errors import UsageError
from spamnb.evaluation.protocol import FIRST_MESSAGES, PROTOCOLS, OnlineProtocol
from spamnb.mailboxes.labelled import read_index
from spamnb.mailboxes.skipped import failures, passed_over
from spamnb.reading.settings import Settings

if TYPE_CHECKING:
    from spamnb.evaluation.folds import Folds
    from spamnb.evaluation.results import Evaluation
    from spamnb.store.stored_model import StoredModel

EXAMPLES = """
spamnb evaluate ham/ spam/
spamnb evaluate --folds 5 --event multinomial ham.mbox.xz spam.mbox.xz
spamnb evaluate --model model.msgpack later-ham/ later-spam/
spamnb evaluate --base shared.msgpack ham/ spam/
spamnb evaluate gs://bucket/ham/ gs://bucket/spam/
spamnb evaluate --online --protocol delayed --first 500 ham/ spam/
spamnb evaluate --online --index trec07p/full/index
spamnb evaluate --compare default --compare event=bernoulli ham/ spam/
spamnb evaluate --compare standard ham/ spam/
spamnb evaluate --report report.html --scores scores.tsv ham/ spam/
spamnb evaluate --json ham/ spam/ | jq .labels.spam.f1
"""


@click.command(cls=Command, examples=EXAMPLES)
@mail_options
@click.option(
    "--model", type=path_type, metavar="PATH", help="Judge with this model instead of cross-validating."
)
@click.option(
    "--base", type=path_type, metavar="FILE", help="Cross-validate on top of this model (see train --base)."
)
@no_base_option
@click.option("--skip-learned", is_flag=True, help="With --model: leave out mail it has already learned.")
@click.option("--folds", type=Number(2, 1000), default=10, show_default=True, help="Number of folds.")
@rare_option("--seed", type=Number(0), default=1, show_default=True, help="Shuffles messages into folds.")
@rare_option("--group-duplicates", is_flag=True, help="Put exact copies of a message in the same fold.")
@click.option(
    "--online", "is_online", is_flag=True, help="In order of time: judge each message, then learn it."
)
@rare_option(
    "--index",
    type=path_type,
    metavar="FILE",
    help="With --online: a file of lines `spam PATH` or `ham PATH`, in order.",
)
@rare_option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="immediate",
    show_default=True,
    help="With --online: which messages are learned.",
)
@rare_option(
    "--first",
    type=Number(1),
    default=FIRST_MESSAGES,
    show_default=True,
    help="With delayed: how many messages are learned before labels stop.",
)
@rare_option(
    "--margin",
    type=Number(0, whole=False),
    default=0.0,
    show_default=True,
    help="With on-error: also learn scores this close to the cutoff, in nats.",
)
@click.option(
    "--compare",
    multiple=True,
    metavar="SETTINGS",
    help="Compare settings, NAME=VALUE,…; repeat for each, or use `standard`.",
)
@view_options
@rare_option("--cutoff", metavar="[HAM,]SPAM", help="With --model: scores to decide by.")
@tokenizer_options
@click.option("--mistakes", type=Number(0), default=10, show_default=True, help="How many mistakes to show.")
@rare_option(
    "--scores",
    type=path_type,
    metavar="FILE",
    help="Write path, label, score and verdict of each message, as TSV.",
)
@click.option(
    "--report", type=path_type, metavar="FILE", help="Write all of it as an HTML page with pictures."
)
@jobs_option
@json_option
def evaluate(
    mail: LabelledMail,
    model: str | None,
    base: str | None,
    no_base: bool,
    folds: int,
    seed: int,
    group_duplicates: bool,
    is_online: bool,
    index: str | None,
    protocol: str,
    first: int,
    margin: float,
    compare: tuple[str, ...],
    view: View | None,
    cutoff: str | None,
    settings: dict[str, Any],
    mistakes: int,
    scores: str | None,
    report: str | None,
    skip_learned: bool,
    as_json: bool,
) -> int:
    """How good is the filter on this mail? Shows precision, recall, F1, and what was mistaken for what.

    Cross-validates: the mail is read once, then each fold is judged by the counts of all the others. With
    --model, a model trained on other mail judges; with --online, mail is judged in the order it came.
    """
    if index is not None and (not is_online or mail.folders or mail.ham or mail.spam or mail.label):
        raise UsageError("--index needs --online, and cannot be combined with other mail")
    listed = read_index(index) if index else []
    if listed:
        mail.sources = by_label(listed)
    else:
        mail.find()
    mail.check("mail of at least two labels is")
    check_options(protocol, bool(settings), view is not None)
    opened = open_model(model, view, cutoff, not no_base) if model is not None else None
    beneath = open_base(base, Settings(**settings), mail.labels)
    check_prior(view, mail.labels)
    check_writable(scores, report)
    from spamnb.evaluation.evaluate import evaluate_by_folds, evaluate_by_model, evaluate_online
    from spamnb.evaluation.folds import Folds
    from spamnb.workers.processes import all_cores

    tokenizer, split = Settings(**settings), Folds(folds, seed, group_duplicates)
    cores = cluster_or_jobs(mail.jobs)[1] or all_cores()
    code = 0
    try:
        if compare:
            compare_settings(mail, compare, split, cores, as_json)
        else:
            if opened:
                batches = mail.batches(opened.settings)
                found = evaluate_by_model(opened, mail.labels, batches, skip_learned, mistakes)
            elif is_online:
                how = OnlineProtocol(protocol, first, margin)
                found = evaluate_online(mail.corpus(tokenizer), view, how, listed)
            else:
                corpus = mail.corpus(tokenizer)
                found = evaluate_by_folds(corpus, tokenizer, view, split, mistakes, cores, beneath)
            code = show_and_write(found, as_json, scores, report)
    finally:
        unreadable = print_unreadable(mail.unreadable)
    return code or unreadable


def check_options(protocol: str, has_settings: bool, has_view: bool) -> None:
    """Refuse options that do not go together, or have no effect."""
    given = {option.name for option in given_options()}
    model, is_online, compare = (name in given for name in ("model", "is_online", "compare"))
    by_folds = ("folds", "seed", "group_duplicates")
    if not is_online:
        refuse_without_effect("without --online", "protocol", "first", "margin")
    if protocol != "delayed":
        refuse_without_effect("without --protocol delayed", "first")
    if protocol != "on-error":
        refuse_without_effect("without --protocol on-error", "margin")
    if is_online:
        refuse_without_effect("with --online", *by_folds, "mistakes")
    if model:
        refuse_without_effect("with --model", *by_folds)
    if compare:
        refuse_without_effect("with --compare", "mistakes")
    if "base" in given and (model or is_online or compare or has_view):
        raise UsageError("--base cannot be combined with --model, --online, --compare or another view")
    if not model and "no_base" in given:
        raise UsageError("--no-base needs --model")
    if model and is_online:
        raise UsageError("--online cannot be combined with --model")
    if not model and "skip_learned" in given:
        raise UsageError("--skip-learned needs --model")
    if not model and "cutoff" in given:
        raise UsageError("--cutoff needs --model; otherwise training finds the cutoffs")
    if model and has_settings:
        raise UsageError("tokenizer settings cannot be combined with --model, which has its own")
    if compare and given & {"scores", "report"}:
        raise UsageError("--scores and --report cannot be combined with --compare")
    if compare and (model or is_online or has_view):
        raise UsageError("--compare cannot be combined with --model, --online or other settings")


def open_base(path: str | None, settings: Settings, labels: Sequence[str]) -> StoredModel | None:
    """Open a model that others are to stand on."""
    if path is None:
        return None
    from spamnb.model import check_base
    from spamnb.store.stored_model import StoredModel

    base = StoredModel.open(path)
    check_base("this mail", labels, settings, base)
    return base


def by_label(listed: list[tuple[str, str]]) -> dict[str, list[str]]:
    """Sort the messages of an index by their labels."""
    sources: dict[str, list[str]] = {}
    for label, path in listed:
        sources.setdefault(label, []).append(path)
    return sources


def show_and_write(evaluation: Evaluation, as_json: bool, scores: str | None, report: str | None) -> int:
    """Show an evaluation and write its files, each whatever becomes of the others."""
    from spamnb.cli.render.evaluation import as_tsv, show_evaluation

    try:
        if OUTPUT in (scores, report):
            pass
        elif as_json:
            print_json(as_map(evaluation))
        else:
            show_evaluation(evaluation)
    finally:
        files = {}
        if scores:
            files[scores] = as_tsv(evaluation.judged)
        if report:
            from spamnb.report.evaluation_page import evaluation_page

            files[report] = evaluation_page(evaluation)
        code = write_files(files)
    return code


def compare_settings(
    mail: LabelledMail, specs: tuple[str, ...], folds: Folds, jobs: int, as_json: bool
) -> None:
    """Compare settings on the same folds."""
    from spamnb.cli.render.evaluation import show_comparison
    from spamnb.evaluation.candidates import STANDARD, parse_candidate
    from spamnb.evaluation.compare import compare_candidates, corrected

    names = [name for spec in specs for name in (STANDARD if spec == "standard" else (spec,))]
    candidates = [parse_candidate(name) for name in dict.fromkeys(names)]
    found = corrected(list(announce_tried(compare_candidates(candidates, mail.corpus, folds, jobs))))
    if as_json:
        print_json_lines(result.as_map() for result in found)
    else:
        show_comparison(found, f"{folds.count} folds")


def as_map(evaluation: Evaluation) -> dict[str, Any]:
    from dataclasses import asdict

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
        "passed_over": paths_and_reasons(passed_over(judged.unreadable)),
    }
