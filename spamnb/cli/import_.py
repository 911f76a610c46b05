"""`spamnb import`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.render.terminal import print_json, show, table
from spamnb.cli.shared.options import Command, json_option, model_option, path_type
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.errors import DataError, NoInput
from spamnb.files import STDIN, announce_stdin, counted, printable
from spamnb.mailboxes.sources import store_for
from spamnb.mailboxes.streams import blocks_of, decompressed, reason_of

EXAMPLES = """
bogoutil -d ~/.bogofilter/wordlist.db | spamnb import -
spamnb import --fresh backup.txt.gz
"""


@click.command("import", cls=Command, examples=EXAMPLES)
@click.argument("export", type=path_type)
@model_option
@click.option("--fresh", is_flag=True, help="Replace the model that is there.")
@json_option
def import_(export: str, model: str, fresh: bool, as_json: bool) -> None:
    """Take over what bogofilter has learned, or restore a backup, from an EXPORT; - is standard input.

    A backup by `spamnb export` is restored as it was. A word list of bogofilter (bogoutil -d) becomes
    MODEL.base, and MODEL an empty model on top of it: it judges by bogofilter's counts until you have taught
    it 500 messages of each label, and from then on by these.
    """
    from spamnb.exchange.backup import is_export, restore
    from spamnb.exchange.bogofilter import WordList, make_base
    from spamnb.exchange.lines import Lines

    if fresh:
        check_replaceable(model)
    lines = Lines(export, blocks(export))
    if is_export(lines):
        restored = restore(model, lines, fresh)
        counts = dict(zip(restored.labels, restored.messages, strict=True))
        answer = {"model": model, "from": "spamnb", "messages": counts}
        said: list[Any] = []
    else:
        words = WordList.read(lines)
        base = make_base(model, words, fresh)
        counts = dict(zip(("ham", "spam"), words.messages, strict=True))
        answer = {"model": model, "base": base, "from": "bogofilter", "messages": counts}
        answer |= {"carried": words.carried, "dropped": words.dropped}
        kinds = sorted(words.carried, key=lambda kind: -words.carried[kind])
        rows = [(kind, f"{words.carried[kind]:,}", f"{words.dropped[kind]:,}") for kind in kinds]
        said = [table(None, ("tokens of", "carried", "dropped"), rows), f"base: {printable(base)}"]
    if as_json:
        print_json(answer)
    else:
        messages = [f"{label}: {counted(count, 'message')}" for label, count in counts.items()]
        show(*messages, *said, model_location(model))


def blocks(path: str) -> Iterator[bytes]:
    """Read a file, compressed or not, or standard input."""
    if path == "-":
        announce_stdin("an export")
    try:
        found = blocks_of(partial(os.read, STDIN)) if path == "-" else store_for(path).read(path)
        yield from decompressed(found)
    except OSError as error:
        raise (NoInput if error.errno else DataError)(f"{path}: {reason_of(error)}") from error
