"""Tables as Markdown, as figures.py puts them into the documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, with names aligned left and figures right."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = "|" + "|".join("-" * (width + 1) + ("-:"[place > 0]) for place, width in enumerate(widths)) + "|"
    return "\n".join((line(columns), rule, *map(line, rows)))


def figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
