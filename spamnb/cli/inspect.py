"""`spamnb inspect`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from spamnb.bayes.view import View
from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.render.terminal import print_json
from spamnb.cli.shared.help import Number
from spamnb.cli.shared.options import (
    Command,
    check_modes,
    json_option,
    model_option,
    open_model,
    path_type,
    refuse_without_effect,
    view_option,
)
from spamnb.cli.shared.outputs import OUTPUT, check_writable, write_reported
from spamnb.cli.shared.progress import progress
from spamnb.configuration import load
from spamnb.core.native import canonical, header_start
from spamnb.delivery.commands import read_stdin
from spamnb.errors import DataError, NoInput, UsageError, command_to_run
from spamnb.files import complain
from spamnb.mailboxes.skipped import SkippedMail, Unreadable
from spamnb.mailboxes.sources import check, message_name, messages, split_number, total_size
from spamnb.store.model_file import SIGNATURE

if TYPE_CHECKING:
    from spamnb.model import Model

EXAMPLES = """
spamnb inspect
spamnb inspect --top 50
spamnb inspect message.eml
spamnb inspect archive.mbox:3 --html why.html
spamnb inspect - < message
spamnb inspect --token viagra subject:free 'click here'
spamnb inspect --sample spam --top 20
spamnb inspect --suspects ham/ spam/
"""
MAX_TOP = 100_000
TOKENS_OF_LABEL, TOKENS_OF_MESSAGE, SAMPLES = 10, 20, 3  # shown by default


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("names", nargs=-1, metavar="[MESSAGE]", type=path_type)
@click.option("--top", type=Number(0, MAX_TOP), help="Number of tokens, suspects or samples to show.")
@click.option("--all", "everything", is_flag=True, help="Show everything about a message.")
@click.option(
    "--html", type=path_type, metavar="FILE", help="Explain a message as an HTML page; - prints it."
)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    metavar="WORD",
    help="Show the counts of a token, or of two neighbouring words: 'WORD WORD'.",
)
@click.option("--suspects", is_flag=True, help="List learned messages of this mail that look misfiled.")
@click.option("--sample", metavar="LABEL", help="Print random messages drawn from the model.")
@view_option
@model_option
@json_option
def inspect(
    names: tuple[str, ...],
    top: int | None,
    everything: bool,
    html: str | None,
    tokens: tuple[str, ...],
    suspects: bool,
    sample: str | None,
    view: View | None,
    model: str,
    as_json: bool,
) -> int:
    """Show what the model learned, or why a MESSAGE (- is standard input) gets its verdict.

    A message in a mailbox is named by its number, from 0 on: archive.mbox:3. After --token, more words may
    follow. With --suspects, name the mail that the model has learned.
    """
    check_options(names, html, as_json)
    check_writable(html)
    opened = open_model(model, view)
    if tokens:
        from spamnb.cli.render.tokens import show_tokens
        from spamnb.inspection.token_lookup import look_up

        return show_tokens(opened, [look_up(opened, token) for token in (*tokens, *names)], as_json)
    if sample is not None:
        return draw_samples(opened, sample, SAMPLES if top is None else top, everything, as_json)
    if suspects:
        return list_suspects(opened, names, top, as_json)
    if names:
        top = TOKENS_OF_MESSAGE if top is None else top
        return explain_message(opened, names[0], top, everything, html, as_json)
    return summarise(opened, TOKENS_OF_LABEL if top is None else top, as_json)


# Options that choose what is inspected; for each, the arguments that have no effect with it.
MODES = {
    "--token": ("top", "everything"),
    "--sample": ("names", "view"),
    "--suspects": ("everything",),
    "--html": (),
}


def check_options(names: Sequence[str], html: str | None, as_json: bool) -> None:
    """Raise UsageError for options that cannot be combined, since only one thing is inspected at a time."""
    mode = check_modes(MODES)
    if mode == "--suspects" and not names:
        raise UsageError("--suspects needs the mail that was learned: spamnb inspect --suspects ham/ spam/")
    if mode == "--html" and not names:
        raise UsageError("--html needs a message to explain; name one")
    if mode in ("", "--html") and len(names) > 1:
        raise UsageError("only one message can be explained at a time; name only one")
    if not mode and not names:
        refuse_without_effect("without a message or --sample", "everything")
    if as_json and html == OUTPUT:
        raise UsageError("--html - and --json both write to standard output; name a file for --html")


def explain_message(
    model: Model, path: str, top: int, everything: bool, html: str | None, as_json: bool
) -> int:
    from spamnb.cli.render.explanation import show_explanation
    from spamnb.inspection.explanation import explain

    why = explain(model, read_one_message(path, model.stored.path), load())
    try:
        if as_json:
            print_json(why.as_map(path))
        elif html != OUTPUT:
            show_explanation(why, top, everything)
    finally:
        code = 0
        if html:
            from spamnb.pages.message_sections import message_page

            code = write_reported(html, message_page(why, path))
    return code


def summarise(model: Model, top: int, as_json: bool) -> int:
    from spamnb.cli.render.model import show_model
    from spamnb.inspection.model_summary import ModelSummary

    known = ModelSummary.of(model, top)
    if as_json:
        print_json(asdict(known))
    else:
        show_model(known)
    return 0


def draw_samples(model: Model, label: str, count: int, everything: bool, as_json: bool) -> int:
    from spamnb.cli.render.model import show_samples
    from spamnb.inspection.samples import draw_messages

    if label not in model.labels:
        raise UsageError(f"--sample: unknown label {label!r}; the labels are: {', '.join(model.labels)}")
    seed = int.from_bytes(os.urandom(4), "little")
    show_samples(draw_messages(model, label, count, seed), count, everything, as_json)
    return 0


def list_suspects(model: Model, mail: Sequence[str], top: int | None, as_json: bool) -> int:
    from spamnb.cli.render.suspects import show_suspects
    from spamnb.inspection.suspects import find_suspects

    check(mail)
    with progress("reading", lambda: total_size(mail)) as step:
        found, elsewhere, unreadable = find_suspects(model, mail, step)
    show_suspects(found, top, elsewhere, as_json)
    return print_unreadable(unreadable)


START = 4096  # bytes that are searched for headers


def read_one_message(path: str, model: str) -> bytes:
    """Read a message, or the first one of a mailbox; raise an error for anything else."""
    raw = read_stdin() if path == "-" else _first_in_file(path, model)
    if not raw.strip():
        raise DataError(f"{path}: is empty")
    if SIGNATURE in raw[:64]:
        look = command_to_run("inspect", "--model", path)
        raise DataError(f"{path}: this is a model, not a message; to inspect it: {look}")
    if header_start(canonical(raw[:START])) < 0 and b"\0" in raw[:START]:
        raise DataError(f"{path}: this is a binary file, not a message")
    return raw


def _first_in_file(path: str, model: str) -> bytes:
    check([path])
    if os.path.isfile(path) and not os.path.getsize(path):
        raise DataError(f"{path}: is empty")
    found = (raw for raw in messages([path]) if not isinstance(raw, SkippedMail))
    for raw in found:
        if isinstance(raw, Unreadable):
            raise raw.error(f"{raw.path}: {raw.why}")
        if not split_number(path)[0] and (more := next(found, None)):
            index = getattr(more, "index", None)  # a file that cannot be read has no index
            look = command_to_run("inspect", "--model", model, message_name(more.path, index))
            complain(f"{path}: showing the first of several messages; for another: {look}")
        return raw.data
    raise NoInput(f"{path}: contains no message")
