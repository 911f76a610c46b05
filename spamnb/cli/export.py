"""`spamnb export`."""

import sys

import click

from spamnb.cli.shared.options import Command, model_option
from spamnb.cli.shared.outputs import keep_output_private

EXAMPLES = """
spamnb export > model.txt
spamnb export | grep viagra
"""


@click.command(cls=Command, examples=EXAMPLES)
@model_option
def export(model: str) -> None:
    """Print the whole model as text, for you and other programs to read. docs/model-file.md has the format.

    This is not a backup; for that, use `spamnb backup`.
    """
    from spamnb.exchange.export import exported

    keep_output_private()
    for line in exported(model):
        sys.stdout.buffer.write(line.encode() + b"\n")  # UTF-8 in any locale
