"""Facts that fill no table: a name and a text each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from spamnb.files import printable

if TYPE_CHECKING:
    from rich.console import RenderableType


def fact_lines(facts: Iterable[tuple[str, str]]) -> Iterator[RenderableType]:
    """Lay facts out in two columns on a terminal; in a pipe each is on a line of its own, however long."""
    from rich.table import Table
    from rich.text import Text

    shown_facts = [(name, printable(text)) for name, text in facts]
    if not sys.stdout.isatty():
        wide = max((len(name) for name, _ in shown_facts), default=0)
        yield from (f" {name:<{wide}}  {text}".rstrip() for name, text in shown_facts)
        return
    grid = Table.grid(padding=(0, 2))
    for name, text in shown_facts:
        grid.add_row(Text(f" {name}", "bold"), Text(text))
    yield grid
