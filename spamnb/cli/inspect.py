"""`spamnb inspect`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from spamnb.bayes.view import View
from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.render.terminal import print_json
from spamnb.cli.shared.help import Number, rare_option
from spamnb.cli.shared.options import (
    Command,
    json_option,
    local_jobs_option,
    model_option,
    no_base_option,
    open_model,
    path_type,
    refuse_without_effect,
    view_options,
)
from spamnb.cli.shared.outputs import OUTPUT, check_writable, write_files
from spamnb.cli.shared.progress import progress
from spamnb.cli.shared.user_models import for_every_model
from spamnb.configuration.current import load
from spamnb.delivery.commands import read_stdin
from spamnb.errors import DataError, NoInput, UsageError, command_to_run
from spamnb.files import complain, printable
from spamnb.mailboxes.skipped import PassedOver, Unreadable
from spamnb.mailboxes.sources import check, message_name, messages, split_number, total_size
from spamnb.reading.headers import canonical, header_start
from spamnb.store.head import SIGNATURE

if TYPE_CHECKING:
    from spamnb.inspection.suspects import Suspect
    from spamnb.model import Model


EXAMPLES = """
spamnb inspect
spamnb inspect --top 50
spamnb inspect --plot model.svg
spamnb inspect message.eml
spamnb inspect archive.mbox:3 --html why.html
spamnb inspect - < message
spamnb inspect --token viagra subject:free 'click here'
spamnb inspect --sample spam -n 20 --seed 7
spamnb inspect --diff other.msgpack ~/Maildir/new
spamnb inspect --suspects ham/ spam/
spamnb inspect --suspects --relabel ham/ spam/
spamnb inspect --check
"""
SAMPLES, MOST_SAMPLES = 3, 100_000  # messages made up: by default, and at most


@click.command(cls=Command, examples=EXAMPLES)
@for_every_model
@click.argument("names", nargs=-1, metavar="[MESSAGE]", type=path_type)
@click.option(
    "--top", type=Number(0), help="Number of tokens to show; by default 20 of a message, 10 of each label."
)
@click.option("--all", "everything", is_flag=True, help="Show everything about a message.")
@click.option(
    "--html", type=path_type, metavar="FILE", help="Explain a message as one HTML page; - prints it."
)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    metavar="WORD",
    help="Show what is known of a token, or of two neighbours: 'WORD WORD'.",
)
@click.option("--sample", metavar="LABEL", help="Print messages made up by the model.")
@rare_option("-n", "count", type=Number(1, MOST_SAMPLES), help="With --sample: how many; 3 by default.")
@rare_option("--seed", type=Number(0), help="With --sample: the same seed gives the same messages.")
@click.option(
    "--diff", type=path_type, metavar="OTHER", help="Compare with another model, and its verdicts on mail."
)
@click.option("--suspects", is_flag=True, help="List mail learned that looks misfiled, of the mail given.")
@rare_option("--relabel", is_flag=True, help="With --suspects: ask of each whether to move it in the model.")
@rare_option("--yes", is_flag=True, help="With --relabel: move all without asking.")
@click.option("--plot", type=path_type, metavar="FILE", help="Draw the model as .svg or .png; - prints SVG.")
@click.option("--check", "verify", is_flag=True, help="Check the whole model; exit code 65 if it is damaged.")
@model_option
@no_base_option
@view_options
@local_jobs_option
@json_option
def inspect(
    names: tuple[str, ...],
    top: int | None,
    everything: bool,
    html: str | None,
    tokens: tuple[str, ...],
    sample: str | None,
    count: int | None,
    seed: int | None,
    diff: str | None,
    suspects: bool,
    relabel: bool,
    yes: bool,
    plot: str | None,
    verify: bool,
    model: str,
    no_base: bool,
    view: View | None,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Show what the model knows, or why one MESSAGE (- is standard input) is judged as it is.

    A message of a mailbox is named as classify names it: archive.mbox:3. With --token, more words may follow;
    with --diff, mail to be judged by both models; with --suspects, the mail that was learned.
    """
    options = {
        "--token": tokens or None,
        "--sample": sample,
        "--diff": diff,
        "--suspects": suspects or None,
        "--plot": plot,
        "--html": html,
        "--check": verify or None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    check_options(names, given, count is not None or seed is not None, as_json)
    if not names and sample is None:
        refuse_without_effect("without a message or --sample", "everything")
    if tokens or sample is not None or suspects or verify:
        refuse_without_effect(f"with {next(iter(given))}", "top")
    if not verify:
        refuse_without_effect("without --check", "user_models")
    if diff is None:
        refuse_without_effect("without --diff", "jobs")
    check_relabel(names, suspects, relabel, yes, as_json)
    check_writable(html, plot)
    if verify:
        return check_model(model, as_json)
    opened = open_model(model, view, layered=not no_base)
    if tokens:
        from spamnb.cli.render.tokens import show_tokens
        from spamnb.inspection.token_lookup import look_up

        return show_tokens(opened, [look_up(opened, token) for token in (*tokens, *names)], as_json)
    if sample is not None:
        return draw_samples(opened, view, sample, count, seed, everything, as_json)
    if diff is not None:
        return compare(opened, open_model(diff, view), names, top, jobs, as_json)
    if suspects:
        return list_suspects(opened, names, relabel, yes, as_json)
    if names:
        return explain_message(opened, names[0], top, everything, html, as_json)
    return summarise(opened, top, plot, as_json)


def check_options(names: Sequence[str], given: Mapping[str, object], is_drawn: bool, as_json: bool) -> None:
    """Refuse options that do not go together: one thing is inspected at a time."""
    match [*given]:
        case [first, second, *_]:
            raise UsageError(f"{first} and {second} cannot be combined")
    option = next(iter(given), "")
    if option in ("--sample", "--plot", "--check") and names:
        raise UsageError(f"{option} cannot be combined with a message")
    if option == "--token" and "-" in names:
        raise UsageError("--token cannot be combined with a message")
    if option == "--html" and not names:
        raise UsageError("--html needs a message")
    if option in ("", "--html") and len(names) > 1:
        raise UsageError("one message at a time")
    if option != "--sample" and is_drawn:
        raise UsageError("-n and --seed need --sample LABEL")
    plot = given.get("--plot", OUTPUT)
    if plot != OUTPUT and not str(plot).lower().endswith((".svg", ".png")):
        raise UsageError(f"--plot writes .svg or .png, not {plot!r}")
    if as_json and option in ("--html", "--plot") and given[option] == OUTPUT:
        raise UsageError(f"{option} - and --json both write to standard output; name a file")


def check_relabel(names: Sequence[str], suspects: bool, relabel: bool, yes: bool, as_json: bool) -> None:
    """Refuse options about mail that looks misfiled which do not go together."""
    if suspects and not names:
        raise UsageError("--suspects needs the mail that was learned: spamnb inspect --suspects ham/ spam/")
    if (relabel and not suspects) or (yes and not relabel):
        raise UsageError("--relabel needs --suspects, and --yes needs --relabel")
    if relabel and not yes and (as_json or not sys.stdin.isatty()):
        raise UsageError("--relabel asks on a terminal; to move all without asking, add --yes")


def explain_message(
    model: Model, path: str, top: int | None, everything: bool, html: str | None, as_json: bool
) -> int:
    from spamnb.cli.render.explanation import TOP, show_explanation
    from spamnb.inspection.explanation import explain

    why = explain(model, read_one_message(path, model.stored.path), load())
    try:
        if as_json:
            print_json(why.as_map(path))
        elif html != OUTPUT:
            show_explanation(why, TOP if top is None else top, everything)
    finally:
        pages = {}
        if html:
            from spamnb.report.message_page import message_page

            pages[html] = message_page(why, path)
        code = write_files(pages)
    return code


def summarise(model: Model, top: int | None, plot: str | None, as_json: bool) -> int:
    from spamnb.cli.render.model import TOP, show_model
    from spamnb.inspection.model_summary import ModelSummary

    known = ModelSummary.of(model, TOP if top is None else top)
    picture = draw_plot(model, plot) if plot else {}
    try:
        if as_json:
            print_json(asdict(known))
        elif plot != OUTPUT:
            show_model(known)
    finally:
        code = write_files(picture)
    return code


def draw_plot(model: Model, file: str) -> dict[str, str | bytes]:
    """Draw the model: the picture to be written to a file."""
    from spamnb.inspection.model_summary import ModelSummary
    from spamnb.inspection.standing import left_out_scores
    from spamnb.report.model_plots import ROWS, model_plots, png

    scores = left_out_scores(model.stored)
    svg = model_plots(ModelSummary.of(model, ROWS), *scores, f"spamnb: {model.stored.path}")
    return {file: png(svg) if file.lower().endswith(".png") else svg}


def check_model(path: str, as_json: bool) -> int:
    from spamnb.cli.render.model import show_check
    from spamnb.inspection.check import check as check_file

    size = os.path.getsize(path) if os.path.isfile(path) else 0
    with progress("checking", lambda: size, unit="entries") as step:
        found = check_file(path, step)
    return show_check(found, as_json)


def draw_samples(
    model: Model,
    view: View | None,
    label: str,
    count: int | None,
    seed: int | None,
    everything: bool,
    as_json: bool,
) -> int:
    from spamnb.cli.render.model import show_samples
    from spamnb.inspection.samples import draw_messages

    if label not in model.labels:
        raise UsageError(f"--sample: unknown label {label!r}; the labels are: {', '.join(model.labels)}")
    count = SAMPLES if count is None else count
    seed = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    samples = draw_messages(model, view, label, count, seed)
    show_samples(samples, count, seed, everything, as_json)
    return 0


def compare(
    here: Model, there: Model, mail: Sequence[str], top: int | None, jobs: int | None, as_json: bool
) -> int:
    from spamnb.cli.render.differences import TOP, show_difference
    from spamnb.inspection.differences import compare_models
    from spamnb.workers.processes import all_cores

    check(mail)
    top = TOP if top is None else top
    with progress("judging", lambda: 2 * total_size(mail)) as step:
        found, unreadable = compare_models(here, there, top, mail, jobs or all_cores(), step)
    show_difference(found, top, as_json)
    return print_unreadable(unreadable)


def list_suspects(model: Model, mail: Sequence[str], moves: bool, yes: bool, as_json: bool) -> int:
    from spamnb.cli.render.suspects import show_suspects
    from spamnb.inspection.suspects import find_suspects, relabel

    check(mail)
    with progress("reading", lambda: total_size(mail)) as step:
        found, elsewhere, unreadable = find_suspects(model, mail, step)
    moved = None
    if moves:
        moved = [suspect for suspect in found if yes or is_confirmed(suspect)]
        relabel(model.stored.path, moved)
    show_suspects(found, elsewhere, moved, as_json)
    return print_unreadable(unreadable)


def is_confirmed(suspect: Suspect) -> bool:
    """Ask whether a message is misfiled."""
    question = f"{suspect.name}: {suspect.subject}: move from {suspect.label} to {suspect.looks_like}?"
    return click.confirm(printable(question), err=True)


START = 4096  # bytes that are searched for headers


def read_one_message(path: str, model: str) -> bytes:
    """Read a message, of several in a file the first; refuse what is none."""
    raw = read_stdin() if path == "-" else _first_in_file(path, model)
    if not raw.strip():
        raise DataError(f"{path}: is empty")
    if SIGNATURE in raw[:64]:
        look = command_to_run("inspect", "--model", path)
        raise DataError(f"{path}: is a model, not a message; to inspect it: {look}")
    if header_start(canonical(raw[:START])) < 0 and b"\0" in raw[:START]:
        raise DataError(f"{path}: is a binary file, not a message")
    return raw


def _first_in_file(path: str, model: str) -> bytes:
    check([path])
    if os.path.isfile(path) and not os.path.getsize(path):
        raise DataError(f"{path}: is empty")
    found = (raw for raw in messages([path]) if not isinstance(raw, PassedOver))
    for raw in found:
        if isinstance(raw, Unreadable):
            raise raw.error(f"{raw.path}: {raw.why}")
        if not split_number(path)[0] and (more := next(found, None)):
            index = getattr(more, "index", None)  # none of a file that cannot be read
            look = command_to_run("inspect", "--model", model, message_name(more.path, index))
            complain(f"{path}: the first of several messages; for another: {look}")
        return raw.data
    raise NoInput(f"{path}: contains no message")
