"""`spamnb review`."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

import click

from spamnb.cli.shared.options import Command, history_folder_option, model_option
from spamnb.cli.shared.progress import announce, progress
from spamnb.errors import UsageError, needs_extra

EXAMPLES = """
spamnb review
spamnb review old.mbox
spamnb review --no-browser --listen 127.0.0.1:8025
spamnb review --listen unix:/run/user/1000/review
"""


MAX_SHOWN = "100GB"  # of mail at PATHs, all of which is to be shown: a history's default limit is lower


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--listen",
    default="127.0.0.1:0",
    metavar="ADDRESS",
    help="HOST:PORT of this machine, or unix:PATH; by default any free port.",
)
@model_option
@history_folder_option
def review(
    paths: tuple[str, ...], no_browser: bool, listen: str, model: str, history_folder: str | None
) -> None:
    """See in a browser what the filter did and why, and correct it.

    Without PATH, this shows the history that classify and serve keep with --history, and imap with `history =
    true` in imap.toml. With PATHs, it shows the mail at these paths, as the model judges it now. Corrections
    are learned at once. Ctrl-C ends the command.
    """
    try:
        from spamnb.history.queries import History
        from spamnb.review.server import check_address, run
    except ImportError as error:
        raise needs_extra("the review page", "review") from error
    check_address(listen)
    if paths and history_folder:
        raise UsageError("--history-folder cannot be combined with paths")
    with TemporaryDirectory(prefix="spamnb-review-") as temporary:
        if paths:
            judge_again(paths, model, temporary)
        folder = temporary if paths else history_folder
        with History.open(folder):
            pass  # so that errors are reported now
        run(folder, os.path.abspath(model), listen, show_address, not no_browser)


def show_address(address: str) -> None:
    click.echo(address)
    announce("Open this address in a browser, if none opens by itself. Ctrl-C ends the page.")


def judge_again(paths: tuple[str, ...], model: str, folder: str) -> None:
    """Judge all mail at `paths`, and store it with its verdicts as a history in `folder`."""
    from spamnb.history.log import HistoryLog
    from spamnb.in_memory import load_into_memory
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.mailboxes.sources import check, messages, total_size
    from spamnb.model import Model

    check(paths)
    judge, log = load_into_memory(Model.open(model)), HistoryLog(size=MAX_SHOWN, folder=folder)
    with progress("judging", lambda: total_size(paths)) as step:
        for raw in messages(paths):
            if not isinstance(raw, Unreadable):
                log.append(raw.data, judge.classify(raw.data), os.path.abspath(model), raw.path)
                step(len(raw.data), 1)
