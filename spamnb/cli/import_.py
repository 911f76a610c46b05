"""`spamnb import`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.render.terminal import print_json, show, table
from spamnb.cli.shared.options import Command, json_option, model_option, path_type
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.errors import DataError, NoInput, UsageError, command_to_run
from spamnb.exchange.importing import FORMATS
from spamnb.exchange.importing.exports import Lines
from spamnb.files import STDIN, announce_stdin, counted
from spamnb.mailboxes.sources import store_for
from spamnb.mailboxes.streams import blocks_of, decompressed, reason_of

if TYPE_CHECKING:
    from spamnb.exchange.importing.imported import Imported

EXAMPLES = """
bogoutil -d ~/.bogofilter/wordlist.db | spamnb import -
spamprobe export | spamnb import -
spamnb import --fresh spambayes.csv
spamnb import --fresh backup.txt.gz
"""
UNKNOWN = (
    "which messages were learned, so a message learned again counts twice",
    "how they scored, so the cutoffs are fixed: ham up to -0.5, spam from 2.5",
    "how often a token occurs in a message, and numeric features",
)


@click.command("import", cls=Command, examples=EXAMPLES)
@click.argument("export", type=path_type)
@click.option("--from", "written_by", type=click.Choice([*FORMATS]), help="The filter that wrote it.")
@model_option
@click.option("--fresh", is_flag=True, help="Replace the model instead of adding to it.")
@json_option
def import_(export: str, written_by: str | None, model: str, fresh: bool, as_json: bool) -> None:
    """Take over what another filter has learned, from its EXPORT; - is standard input.

    A backup by `spamnb export` is restored as it was. Word lists of bogofilter (bogoutil -d), SpamBayes
    (sb_dbexpimp -e) and spamprobe (spamprobe export) are recognized by their first line. What cannot be
    carried over is shown.
    """
    from spamnb.exchange.backup import is_export, restore
    from spamnb.exchange.importing.imported import add_to_model, read_export

    if fresh:
        check_replaceable(model)
    lines = Lines(export, blocks(export))
    if is_export(lines):
        if written_by is not None:
            raise UsageError("--from has no effect on what `spamnb export` wrote")
        restored = restore(model, lines, fresh)
        counts = dict(zip(restored.labels, restored.messages, strict=True))
        if as_json:
            print_json({"model": model, "from": "spamnb", "messages": counts})
        else:
            show(
                *(f"{label}: {counted(messages, 'message')}" for label, messages in counts.items()),
                model_location(model),
            )
        return
    imported = read_export(lines, written_by)
    add_to_model(model, imported, fresh)
    if as_json:
        print_json({"model": model, **as_map(imported)})
    else:
        show_imported(imported, model)


def blocks(path: str) -> Iterator[bytes]:
    """Read a file, compressed or not, or standard input."""
    if path == "-":
        announce_stdin("an export")
    try:
        found = blocks_of(partial(os.read, STDIN)) if path == "-" else store_for(path).read(path)
        yield from decompressed(found)
    except OSError as error:
        raise (NoInput if error.errno else DataError)(f"{path}: {reason_of(error)}") from error


def as_map(imported: Imported) -> dict[str, Any]:
    ham, spam = imported.messages
    return {
        "from": imported.format.name,
        "messages": {"ham": ham, "spam": spam},
        "kinds": [{"kind": kind, **vars(tally)} for kind, tally in imported.kinds.items()],
    }


def show_imported(imported: Imported, model: str) -> None:
    ham, spam = imported.messages
    kinds = sorted(imported.kinds.items(), key=lambda kind: -kind[1].carried)
    rows = [(kind, f"{tally.carried:,}", f"{tally.dropped:,}", tally.why) for kind, tally in kinds]
    grid = table(None, ("tokens of", "carried", "dropped", "why"), rows, texts=("why",))
    show(f"{imported.format.name}: {ham:,} ham, {spam:,} spam", grid, model_location(model))
    show("\nIt can learn more about these tokens, but no new ones. The export does not say:")
    show(*(f"- {what}" for what in (*UNKNOWN, imported.format.unknown) if what))
    train = command_to_run("train", "--fresh", "--model", model, "HAM", "SPAM")
    show(f"If you still have the mail, training on it makes a better model: {train}")
