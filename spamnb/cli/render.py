"""What a person sees: tables in a terminal, plain text in a pipe, JSON on demand."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from spamnb.errors import CannotCreate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.table import Table

PIPE_WIDTH = 120


def shown(text: str) -> str:
    """Text from mail or a file name, with nothing in it that a terminal would obey."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def json_line(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, allow_nan=False))


def write_file(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error


def console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False, markup=False)


def show(*things: RenderableType) -> None:
    console().print(*things, sep="\n")


def table(title: str | None, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """The first column is a name, the others are figures."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold", pad_edge=False)
    for place, name in enumerate(columns):
        grid.add_column(name, justify="right" if place else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else shown(str(cell)) for cell in row))
    return grid


def number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def percent(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f} %"


def bar(weight: float, largest: float, width: int = 20) -> str:
    """A bar to the left for ham, to the right for spam."""
    size = min(width // 2, round(width / 2 * abs(weight) / largest)) if largest else 0
    half = width // 2
    return (
        ("█" * size).rjust(half) + "│" + " " * half
        if weight < 0
        else " " * half + "│" + ("█" * size).ljust(half)
    )
