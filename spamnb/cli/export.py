"""`spamnb export`."""

import sys

import click

from spamnb.cli.shared.options import Command, model_option
from spamnb.cli.shared.outputs import keep_output_private

EXAMPLES = """
spamnb export > backup.txt
spamnb export | gzip > backup.txt.gz
spamnb import --fresh backup.txt.gz
"""


@click.command(cls=Command, examples=EXAMPLES)
@model_option
def export(model: str) -> None:
    """Write the whole model as text, to be kept, compared or restored with `spamnb import`.

    The last line is a checksum of the others, so that `spamnb import` notices if any is missing.
    """
    from spamnb.exchange.backup import exported

    keep_output_private()
    for line in exported(model):
        sys.stdout.buffer.write(line.encode() + b"\n")  # UTF-8 in any locale, or the checksum would not hold
