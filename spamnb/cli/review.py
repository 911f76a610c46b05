"""`spamnb review`."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack
from tempfile import TemporaryDirectory

import click

from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.shared.help import Number, rare_option
from spamnb.cli.shared.options import Command, history_folder_option, model_option, path_type
from spamnb.cli.shared.progress import progress
from spamnb.errors import UsageError
from spamnb.mailboxes.sources import check, total_size

EXAMPLES = """
spamnb review
spamnb review ~/Maildir/.Junk ~/Maildir
spamnb review --no-browser --port 8025
spamnb review --listen unix:/run/user/1000/review
spamnb review --listen example.org:8025 --tls-cert cert.pem --tls-key key.pem
"""
MISSING = "the review page needs an extra: pip install 'spamnb[review]'"


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=path_type)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--port", type=Number(1, 65535), metavar="PORT", help="Port; any free one by default.")
@model_option
@click.option(
    "--listen", metavar="ADDRESS", help="HOST:PORT or unix:PATH, by default 127.0.0.1; other hosts need TLS."
)
@rare_option("--tls-cert", type=path_type, metavar="FILE", help="TLS certificate, for --listen.")
@rare_option("--tls-key", type=path_type, metavar="FILE", help="Key of the certificate.")
@history_folder_option
def review(
    paths: tuple[str, ...],
    no_browser: bool,
    port: int | None,
    model: str,
    listen: str | None,
    tls_cert: str | None,
    tls_key: str | None,
    history_folder: str | None,
) -> int:
    """See in a browser what the filter did and why, and correct it.

    Shows the history that classify and serve keep with --history, and imap with `history = true` in
    imap.toml; or the mail below PATH, judged now. What you mark is learned at once. Ctrl-C ends it.
    """
    from spamnb.review.address import Address

    if paths and history_folder:
        raise UsageError("--history-folder cannot be combined with PATH")
    address = Address.parse(listen, port, tls_cert, tls_key)
    address.check_certificate()
    check(paths)
    try:
        from spamnb.review.server import run
    except ImportError as error:
        raise UsageError(MISSING) from error
    model = os.path.abspath(model)
    code = 0
    with ExitStack() as stack:
        if paths:
            for number in (signal.SIGTERM, signal.SIGHUP):  # whole messages go there: none may be left
                signal.signal(number, lambda number, _: sys.exit(128 + number))
            history_folder = stack.enter_context(TemporaryDirectory(prefix="spamnb-review-"))
            code = judge_mail(history_folder, model, paths)
        gather(history_folder)
        run(history_folder, model, address, click.echo, not no_browser)
    return code


def gather(folder: str | None) -> None:
    """Take in what was judged until now, so that the first page need not wait for it."""
    from spamnb.history.queries import History

    with History.open(folder) as history:
        waiting = history.waiting()
        with progress("gathering", lambda: waiting) as step:
            history.gather(step)


def judge_mail(folder: str, model: str, paths: tuple[str, ...]) -> int:
    """Judge mail into a history of its own; returns the exit code, and says what could not be read."""
    from spamnb.review.mailbox import judge_into

    with progress("judging", lambda: total_size(paths)) as step:
        return print_unreadable(judge_into(folder, model, paths, step))
