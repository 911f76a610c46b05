"""What is no table: a name, and what is to be said of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from spamnb.files import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType


def told(facts: Iterable[tuple[str, str]]) -> Iterator[RenderableType]:
    """Side by side on a terminal; in a pipe each on a line of its own, however long."""
    from rich.table import Table
    from rich.text import Text

    known = [(name, printable(said)) for name, said in facts]
    if not sys.stdout.isatty():
        wide = max((len(name) for name, _ in known), default=0)
        yield from (f" {name:<{wide}}  {said}".rstrip() for name, said in known)
        return
    grid = Table.grid(padding=(0, 2))
    for name, said in known:
        grid.add_row(Text(f" {name}", "bold"), Text(said))
    yield grid
