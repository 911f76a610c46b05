"""`spamnb import`."""

from __future__ import annotations

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.render.terminal import show, table
from spamnb.cli.shared.options import Command, model_option, path_type
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.errors import NoInput
from spamnb.files import STDIN, announce_stdin, printable

EXAMPLES = """
bogoutil -d ~/.bogofilter/wordlist.db | spamnb import -
spamnb import --fresh wordlist.txt
"""


@click.command("import", cls=Command, examples=EXAMPLES)
@click.argument("export", type=path_type)
@model_option
@click.option("--fresh", is_flag=True, help="Replace an existing model.")
def import_(export: str, model: str, fresh: bool) -> None:
    """Import what bogofilter has learned, from an EXPORT by `bogoutil -d`; - is standard input.

    The counts are stored in MODEL.base, beside an empty MODEL: mail is judged with bogofilter's counts until
    spamnb has learned 500 messages of each label, and then with its own counts.
    """
    from spamnb.exchange.bogofilter import WordList, make_base

    if fresh:
        check_replaceable(model)
    if is_stdin := export == "-":
        announce_stdin("an export")
    try:
        with open(STDIN if is_stdin else export, "rb", closefd=not is_stdin) as file:
            words = WordList.read(export, file)
    except OSError as error:
        raise NoInput(f"{export}: {error.strerror}") from error
    base = make_base(model, words, fresh)
    ham, spam = words.messages
    kinds = sorted(words.carried, key=lambda kind: -words.carried[kind])
    rows = [(kind, f"{words.carried[kind]:,}", f"{words.dropped[kind]:,}") for kind in kinds]
    grid = table(None, ("tokens of", "imported", "dropped"), rows)
    show(f"bogofilter: {ham:,} ham, {spam:,} spam", grid, f"base: {printable(base)}", model_location(model))
