"""Print mail that looks misfiled, in a terminal, a pipe or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from spamnb.cli.render.terminal import cut_text, number, print_json, show, table
from spamnb.files import counted, printable
from spamnb.inspection.suspects import Suspect

COLUMNS = ("learned as", "looks like", "score", "message", "sender", "subject")


def show_suspects(found: Sequence[Suspect], top: int | None, elsewhere: int, as_json: bool) -> None:
    """Print messages that look misfiled, the surest first; `elsewhere`: how many more are in other mail."""
    listed = found[:top]
    if as_json:
        print_json({"suspects": [suspect.as_map() for suspect in listed], "elsewhere": elsewhere})
    elif not sys.stdout.isatty():
        for suspect in listed:
            click.echo("\t".join(map(printable, cells(suspect))))
    else:
        rows = [(*one[:4], *map(cut_text, one[4:])) for one in map(cells, listed)]
        if rows:
            show(table(None, COLUMNS, rows, (*COLUMNS[:2], *COLUMNS[3:])))
        more = f"; {elsewhere:,} more are not in this mail" if elsewhere else ""
        show(f"{counted(len(found), 'message')} may be misfiled{more}")


def cells(suspect: Suspect) -> list[str]:
    of_message = (suspect.name, suspect.sender, suspect.subject)
    return [suspect.label, suspect.looks_like, number(suspect.score, 2), *of_message]
