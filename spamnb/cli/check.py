"""`spamnb check`."""

from __future__ import annotations

import os

import click

from spamnb.cli.shared.options import Command, json_option, path_type
from spamnb.cli.shared.progress import progress
from spamnb.configuration import model_path

EXAMPLES = """
spamnb check
spamnb check /backup/model.msgpack
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("model", metavar="[MODEL]", type=path_type, default=model_path)
@json_option
def check(model: str, as_json: bool) -> int:
    """Check every byte of a model and its journal; print a line for each damaged part (exit code 65)."""
    from spamnb.cli.render.model import show_check
    from spamnb.inspection.check import check as check_file

    size = os.path.getsize(model) if os.path.isfile(model) else 0
    with progress("checking", lambda: size, unit="entries") as step:
        found = check_file(model, step)
    return show_check(found, as_json)
