"""`spamnb backup`."""

import os

import click

from spamnb.cli.shared.options import Command, model_option, path_type
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.errors import DataError, UsageError
from spamnb.files import counted, printable

EXAMPLES = """
spamnb backup /backup/model.msgpack
spamnb check /backup/model.msgpack
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("file", type=path_type)
@model_option
def backup(file: str, model: str) -> None:
    """Copy the model to FILE and its journal to FILE.journal, even while other programs learn.

    The copy has all messages learned before it was made. A damaged model does not replace an older copy. The
    list of known senders, if there is one, is copied to FILE.known.txt. To restore, copy FILE to the path of
    the model, FILE.journal to this path with .journal added, and FILE.known.txt to known.txt in its folder.
    """
    from spamnb.inspection.check import check
    from spamnb.store.copying import copy_model

    if os.path.exists(file) and os.path.exists(model) and os.path.samefile(file, model):
        raise UsageError(f"{file}: this is the model itself; name another file for the copy")
    check_replaceable(file)
    messages = lessons = 0

    def accept(copy: str) -> None:
        nonlocal messages, lessons
        report = check(copy)
        if report.damage:
            raise DataError(f"{model}: {report.damage[0]}; no copy was made")
        messages, lessons = report.messages, report.journal

    copy_model(model, file, accept)
    click.echo(f"{printable(file)}: {counted(messages, 'message')}; entries in its journal: {lessons:,}")
