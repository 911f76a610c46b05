"""`spamnb export`."""

from __future__ import annotations

import sys

import click

from spamnb.bulk.backup import exported
from spamnb.cli.options import Command, model_option

EXAMPLES = """
spamnb export > backup.txt
spamnb export | gzip > backup.txt.gz
spamnb import --fresh backup.txt.gz
"""


@click.command(cls=Command, examples=EXAMPLES)
@model_option
def export(model: str) -> None:
    """Write the whole model as text, to be kept, compared or brought back with `spamnb import`."""
    for line in exported(model):
        sys.stdout.write(line)
        sys.stdout.write("\n")
