"""`spamnb labels`."""

from __future__ import annotations

import click

from spamnb.cli.shared.options import Command, is_meant, model_option, yes_option
from spamnb.errors import UsageError
from spamnb.files import printable
from spamnb.labels import is_label
from spamnb.store.stored_model import StoredModel

EXAMPLES = """
spamnb labels
spamnb labels rename wrok work
spamnb labels remove work
"""
USAGE = "use `spamnb labels`, `spamnb labels rename OLD NEW` or `spamnb labels remove NAME`"


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("words", nargs=-1, metavar="[rename OLD NEW | remove NAME]")
@model_option
@yes_option
def labels(words: tuple[str, ...], model: str, yes: bool) -> None:
    """List the labels of the model with their numbers of messages; rename a label, or remove it and its mail.

    If the new name is an existing label, the mail is added to it.
    """
    match words:
        case ():
            stored = StoredModel.open(model)
            for name, count in zip(stored.labels, stored.messages, strict=True):
                click.echo(f"{printable(name)}\t{count}")
        case ("rename", old, new) if is_label(new) and new != old:
            change(model, old, new, yes)
        case ("remove", name):
            change(model, name, None, yes)
        case _:
            raise UsageError(USAGE)


def change(model: str, old: str, new: str | None, yes: bool) -> None:
    """Rename the label `old`, or remove it if `new` is None; ask first if this cannot be undone."""
    from spamnb.training.relabel import check_relabel, relabel

    stored = check_relabel(model, old, new)
    if new is None or new in stored.labels:
        count = stored.messages[stored.labels.index(old)]
        what = f"all {count:,} messages of {old} {f'become {new}' if new else 'are forgotten'}, for good"
        if not is_meant(what, yes):
            return
    count = relabel(model, old, new)
    click.echo(f"{old}: {count:,} " + (f"now {new}" if new else "forgotten"))
