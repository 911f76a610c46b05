"""`spamnb classify`."""

from __future__ import annotations

from typing import Any

import click

from spamnb.bulk.batches import all_cores
from spamnb.bulk.classifying import classify_all
from spamnb.cli.options import (
    Command,
    chosen_cutoffs,
    chosen_view,
    jobs_option,
    json_option,
    model_option,
    view_options,
)
from spamnb.cli.progress import progress
from spamnb.cli.render import json_line, shown
from spamnb.delivery import EXIT_CODES, Classify, standard_output
from spamnb.errors import DataError, UsageError
from spamnb.mail.sources import Unreadable, check, messages, total_size
from spamnb.model import Model

EXAMPLES = """
spamnb classify < message
spamnb classify -p < message > message-with-header
spamnb classify ~/Maildir/new archive.mbox.xz
spamnb classify --json inbox.mbox
printf 'review us now' | spamnb classify --event bernoulli --smoothing 0 --json
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("-p", "--passthrough", is_flag=True, help="The message itself, with an X-Spamnb header.")
@click.option("-e", "--exit-code", is_flag=True, help="Exit with 0 for spam, 1 for ham, 2 for unsure.")
@json_option
@model_option
@view_options
@click.option("--cutoff", metavar="[HAM,]SPAM", help="Scores: up to the first ham, from the second on spam.")
@jobs_option
def classify(
    paths: tuple[str, ...],
    passthrough: bool,
    exit_code: bool,
    as_json: bool,
    model: str,
    cutoff: str | None,
    jobs: int | None,
    **view: Any,
) -> int:
    """Judge messages: verdict, score and path on a line each. Without a path, one message on standard input.

    The score rises with spamminess without end. --event judges by a textbook's model instead of the
    default, by argmax and its own posterior.
    """
    answer = Classify(model, passthrough, exit_code, as_json)
    opened = Model.open(model, chosen_view(**view), chosen_cutoffs(cutoff))
    if not paths or paths == ("-",):
        return answer.run(opened)
    check(paths)
    if passthrough or exit_code:
        return one(paths, answer, opened)
    unreadable: list[Unreadable] = []
    with progress("classifying", total_size(paths)) as step:
        for verdicts, failed, size in classify_all(opened, paths, jobs or all_cores()):
            if as_json:
                lines = [
                    json_line({"path": path, "index": index, **v.as_map()}) for path, index, v in verdicts
                ]
            else:
                lines = [f"{v.label}\t{v.score:.4f}\t{named(path, index)}" for path, index, v in verdicts]
            standard_output("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
            unreadable += failed
            step(size, len(verdicts))
    for failure in unreadable:
        click.echo(f"unreadable: {shown(failure.path)}: {shown(failure.why)}", err=True)
    return DataError.exit_code if unreadable else 0


def one(paths: tuple[str, ...], answer: Classify, model: Model) -> int:
    """The answer for a single message, which -p and -e are about."""
    found = list(zip(messages(paths), range(2), strict=False))
    if len(found) != 1:
        raise UsageError("-p and -e are for one message at a time")
    raw = found[0][0]
    if isinstance(raw, Unreadable):
        raise DataError(f"{raw.path}: {raw.why}")
    verdict = model.classify(raw.data)
    standard_output(answer.answer(raw.data, verdict, raw.path, raw.index))
    return EXIT_CODES.get(verdict.label, 0) if answer.exit_code else 0


def named(path: str, index: int | None) -> str:
    return shown(path) if index is None else f"{shown(path)}:{index}"
