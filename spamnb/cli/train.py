"""`spamnb train`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spamnb.bulk import training
from spamnb.cli.options import (
    Command,
    jobs_option,
    json_option,
    labelled,
    model_option,
    tokenizer_options,
    tokenizer_settings,
)
from spamnb.cli.progress import progress
from spamnb.cli.render import print_json, shown
from spamnb.delivery import Learn
from spamnb.mail.sources import check, total_size

if TYPE_CHECKING:
    from spamnb.bulk.training import Summary

EXAMPLES = """
spamnb train ham/ spam/
spamnb train --ham ~/Maildir --spam ~/Maildir/.Junk
spamnb train --spam - < message
spamnb train --label work=work.mbox --label family=family.mbox.gz --fresh
spamnb train --forget --spam - < message
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("folders", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="PATH", help="Ham; again for more. - is one message on stdin.")
@click.option("--spam", multiple=True, metavar="PATH", help="Spam, likewise.")
@click.option("--label", multiple=True, metavar="NAME=PATH", help="Mail of any other class.")
@model_option
@click.option("--fresh", is_flag=True, help="Replace the model instead of adding to it.")
@click.option("--forget", is_flag=True, help="Take these messages out again.")
@tokenizer_options
@jobs_option
@json_option
def train(
    folders: tuple[str, ...],
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    label: tuple[str, ...],
    model: str,
    fresh: bool,
    forget: bool,
    jobs: int | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Learn from mailboxes, Maildirs, folders of messages, or one message on standard input.

    Adds to the model there is. A message learned before changes nothing; learned under another label, it
    moves. Any file may be compressed (gzip, xz, bzip2).
    """
    sources = labelled(folders, ham, spam, label)
    paths = [path for many in sources.values() for path in many]
    if paths == ["-"] and not fresh and not tokenizer_settings(**settings):
        return Learn(next(iter(sources)), model, forget, as_json).run()
    check(paths)
    with progress("forgetting" if forget else "training", total_size(paths)) as step:
        summary = training.train(
            model,
            sources,
            tokenizer_settings(**settings),
            fresh=fresh,
            forget=forget,
            jobs=jobs,
            progress=lambda batch: step(batch.size, len(batch)),
        )
    if as_json:
        print_json({"model": model, **as_map(summary)})
    else:
        report(summary, model)
    return 0


def as_map(summary: Summary) -> dict[str, Any]:
    names = ("learned", "known", "moved", "forgotten", "unknown", "again", "torn")
    return {
        **{name: {label: own.get(name, 0) for label, own in summary.outcomes.items()} for name in names},
        "unreadable": [{"path": one.path, "why": one.why} for one in summary.unreadable],
    }


def report(summary: Summary, model: str) -> None:
    for label, own in summary.outcomes.items():
        parts = [f"{own[name]:,} {words}" for name, words in WORDS.items() if name in own]
        click.echo(f"{label}: {', '.join(parts)}")
    for one in summary.unreadable:
        click.echo(f"unreadable: {shown(one.path)}: {shown(one.why)}", err=True)
    click.echo(f"unreadable: {len(summary.unreadable):,}")
    click.echo(f"model: {shown(model)}")


WORDS = {
    "learned": "learned",
    "moved": "moved here from another label",
    "known": "already known",
    "forgotten": "forgotten",
    "unknown": "never learned",
    "again": "repeated",
    "torn": "left out, being under another label too",
}
