"""Print text, tables and JSON: laid out for a terminal, plain in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from spamnb.files import printable
from spamnb.mailboxes.skipped import Unreadable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


def fact_lines(facts: Iterable[tuple[str, str]]) -> Iterator[RenderableType]:
    """Lay out facts in two columns: their names and texts."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for name, text in facts:
        grid.add_row(Text(f" {name}", "bold"), Text(printable(text)))
    yield grid


def print_json(value: dict[str, Any]) -> None:
    """Print the answer of a command as one JSON object."""
    import json

    print(json.dumps(infinity_as_null(value), indent=2, allow_nan=False))


def print_json_lines(values: Iterable[Any]) -> None:
    """Print a list of answers, as one JSON object per line."""
    import json

    for value in values:
        print(json.dumps(infinity_as_null(value), allow_nan=False), flush=True)


def infinity_as_null(value: Any) -> Any:
    """Replace infinity (such as a cutoff that no score reaches) and NaN by None: JSON has neither."""
    if isinstance(value, dict):
        return {name: infinity_as_null(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [infinity_as_null(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def paths_and_reasons(found: Iterable[Unreadable]) -> list[dict[str, str]]:
    """Return, for each message or file that was not read, its path and the reason."""
    return [{"path": item.path, "why": item.why} for item in found]


PIPE_WIDTH = 1_000_000  # columns: nothing is wrapped


def console() -> Console:
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)  # text is shown unchanged


def show(*things: RenderableType) -> None:
    screen = console()
    for thing in things:
        if isinstance(thing, str):
            print(thing)  # a path stays whole
            continue
        with screen.capture() as drawn:
            screen.print(thing)
        for line in drawn.get().removesuffix("\n").split("\n"):
            print(line.rstrip())


def wrapped(*lines: str) -> Sequence[RenderableType]:
    """Make texts of `lines` that are wrapped between words, to the width of the terminal."""
    from rich.text import Text

    return [Text(line) for line in lines]


def table(
    title: str | None,
    columns: Sequence[str | Text],
    rows: Iterable[Sequence[Any]],
    texts: Sequence[str] = (),
    has_picture: bool = False,
) -> RenderableType:
    """Make a table: names in the first column, texts in the columns listed in `texts`, figures in the others.

    Long names and texts are wrapped, figures are not. With `has_picture`, the last column is a picture.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, name in enumerate(columns):
        if not index or str(name) in texts:
            made.add_column(as_cell(name), overflow="fold", min_width=8)
        else:
            is_picture = has_picture and index == len(columns) - 1
            made.add_column(as_cell(name), justify="left" if is_picture else "right", no_wrap=True)
    for row in rows:
        made.add_row(*map(as_cell, row))
    return Group(Text(title, "bold"), made) if title else made


def as_cell(content: Any) -> Text:
    from rich.text import Text

    if isinstance(content, Text):
        return content
    return Text("\n".join(map(printable, str(content).split("\n"))))


def number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}" if isfinite(value) else "+∞" if value > 0 else "−∞"


def listed(things: Sequence[str], most: int, of: int | None = None) -> str:
    """Join the first `most` names into one text, and say how many more there are; `of`: how many in all."""
    more = (len(things) if of is None else of) - min(most, len(things))
    return printable(", ".join(things[:most])) + (f" and {more:,} more" if more > 0 else "")


def percent(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f} %"


def bar(weight: float, largest: float, style: str = "", width: int = 20) -> Text:
    """Draw a bar whose length shows the weight: to the left if it is negative, else to the right."""
    half = width // 2
    size = round(half * min(1.0, abs(weight) / largest)) if largest else 0
    left, right = ("█" * size, "") if weight < 0 else ("", "█" * size)
    return left_aligned(f"{left:>{half}}│{right:<{half}}", style)


def bar_heading(left: str, right: str, width: int = 20) -> Text:
    """Make the heading of a column of bars; `left` and `right` are the labels for which bars there speak."""
    half = width // 2 - 1
    return left_aligned(printable(f"{left[:half]:>{half}} │ {right[:half]}"))


def cut_text(text: str) -> Text:
    """Make a table cell with a text from mail; if the text is too long, it is cut, not wrapped."""
    from rich.text import Text

    return Text(printable(text), no_wrap=True, overflow="ellipsis")


def left_aligned(text: str, style: str = "") -> Text:
    """Make a cell that is aligned to the left, unlike figures."""
    from rich.text import Text

    return Text(text, style, justify="left", no_wrap=True)
