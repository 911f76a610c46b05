"""A table that fits any terminal: no figure in it is ever broken."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

SPACES = (3, 1)  # between two columns: three, or one where three do not fit
EDGES = 2  # spaces beside the outer columns
READABLE = 16  # columns of the terminal that a longer text gets at least
LONGEST_WORD = 32  # characters of a word that is not broken if there is room; paths are longer


@dataclass(frozen=True)
class Grid:
    """Rows of a name, figures, texts, and perhaps a picture at the end.

    Where there is no room, names and texts are folded first; then columns come closer, then the picture is
    left out; and at last each row becomes a paragraph.
    """

    title: str | None
    columns: Sequence[Text]
    rows: Sequence[Sequence[Text]]
    texts: frozenset[int]  # indexes of columns that may be folded; all others but the picture are figures
    picture: bool = False  # whether the last column is one

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for longest_word in (LONGEST_WORD, READABLE):
            for spaces in SPACES:
                if widths := self._widths(options.max_width, spaces, longest_word):
                    if self.title:
                        yield Text(self.title, "bold")
                    yield self._table(widths, spaces)
                    return
        if self.picture:
            columns, rows = self.columns[:-1], [row[:-1] for row in self.rows]
            yield Grid(self.title, columns, rows, self.texts)
        else:
            yield from self._paragraphs(options.max_width)

    def _widths(self, width: int, spaces: int, longest_word: int) -> list[int]:
        """Find the width of each column; nothing if there is too little room."""
        cells = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        widest = [max((cell.cell_len for cell in column), default=0) for column in cells]
        heads = [max((line.cell_len for line in head.split("\n")), default=0) for head in self.columns]
        natural = [max(both) for both in zip(widest, heads, strict=True)]
        least = []
        for column, (head, whole) in enumerate(zip(self.columns, natural, strict=True)):
            if column in self.texts:
                least.append(min(whole, max(READABLE, longest_in(cells[column], longest_word))))
            elif self._is_picture(column):
                least.append(whole)
            else:
                least.append(max(widest[column], longest_in([head])))
        room = width - EDGES - spaces * (len(least) - 1)
        if sum(least) > room:
            return []
        while least != natural and sum(least) < room:
            short = [column for column, size in enumerate(least) if size < natural[column]]
            least[min(short, key=least.__getitem__)] += 1
        return least

    def _is_picture(self, column: int) -> bool:
        return self.picture and column == len(self.columns) - 1

    def _table(self, widths: Sequence[int], spaces: int) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, spaces // 2))
        for column, (head, width) in enumerate(zip(self.columns, widths, strict=True)):
            left = column in self.texts or self._is_picture(column)
            table.add_column(head, justify="left" if left else "right", overflow="fold", width=width)
        for row in self.rows:
            table.add_row(*row)
        return table

    def _paragraphs(self, width: int) -> Iterator[RenderableType]:
        if self.title:
            yield Text(self.title, "bold")
        yield Text()
        for name, *cells in self.rows:
            yield Text(name.plain, name.style, overflow="fold")
            indent = 2 + len(name.plain) - len(name.plain.lstrip())
            short = []
            for column, cell in enumerate(cells, 1):
                text = f"{' '.join(self.columns[column].plain.split())} {cell.plain}".strip()
                if column in self.texts and cell.cell_len > READABLE:
                    yield Padding(Text(text, overflow="fold"), (0, 0, 0, indent))
                elif cell.plain:
                    short.append(text)
            yield from (Text(" " * indent + line) for line in lines_of(short, width - indent))
        yield Text()


def longest_in(cells: Iterable[Text], most: int = sys.maxsize) -> int:
    """Find the length of the longest word that is not longer than that; a cell that is cut has none."""
    words = (word for cell in cells if not cell.no_wrap for word in cell.plain.split())
    return max((len(word) for word in words if len(word) <= most), default=0)


def lines_of(items: Sequence[str], width: int) -> Iterator[str]:
    """Put items on as few lines as there is room for, none broken."""
    line = ""
    for item in items:
        if line and len(line) + len(item) + 3 > width:  # a comma and a space between, a comma behind
            yield line + ","
            line = item
        else:
            line = f"{line}, {item}" if line else item
    if line:
        yield line
