"""`spamnb review`."""

from __future__ import annotations

import os

import click

from spamnb.cli.shared.options import Command, history_folder_option, model_option
from spamnb.errors import UsageError

EXAMPLES = """
spamnb review
spamnb review --no-browser --listen 127.0.0.1:8025
spamnb review --listen unix:/run/user/1000/review
"""
MISSING = "the review page needs an extra: pip install 'spamnb[review]'"


@click.command(cls=Command, examples=EXAMPLES)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--listen",
    default="127.0.0.1:0",
    metavar="ADDRESS",
    help="HOST:PORT of this machine, or unix:PATH; by default any free port.",
)
@model_option
@history_folder_option
def review(no_browser: bool, listen: str, model: str, history_folder: str | None) -> None:
    """See in a browser what the filter did and why, and correct it.

    Shows the history that classify and serve keep with --history, and imap with `history = true` in
    imap.toml. What you mark is learned at once. Ctrl-C ends it.
    """
    try:
        from spamnb.review.server import check_address, run
    except ImportError as error:
        raise UsageError(MISSING) from error
    check_address(listen)
    run(history_folder, os.path.abspath(model), listen, click.echo, not no_browser)
