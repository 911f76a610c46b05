"""The message itself in a terminal, its words coloured by their weight; in a pipe, the weight behind them."""

from __future__ import annotations

from math import inf, isfinite, isnan
from typing import TYPE_CHECKING

from spamnb.bayes.verdict import SPAM
from spamnb.cli.render import console, signed
from spamnb.files import printable
from spamnb.inspection.marked_text import FIRST, readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from spamnb.inspection import Explanation
    from spamnb.inspection.marked_text import Block, Piece

MOST = 3000  # characters of a message that are shown
LINES = 24  # and lines
FAINTEST = 0.15  # of the strongest: what adds less is left as it is
LEVELS = ((0.75, "bold reverse "), (0.4, "bold "), (0.0, ""))


def tone(why: Explanation, adds: float) -> str:
    """A colour for what speaks for spam, another for what does not."""
    label = why.sides[adds > 0]
    return "red" if label == SPAM else "magenta" if adds > 0 else "cyan"


def message_text(why: Explanation, everything: bool) -> Iterator[Text]:
    """The headers that mail readers show, and the text; everything, if asked for."""
    from rich.text import Text

    screen = console()
    marks = Marks(why, screen.color_system is not None and not screen.no_color)
    most = len(why.message.data) if everything else MOST
    blocks = [
        block
        for block in readable(why.message, why.model.tokenizer, marks.said, most)
        if everything or not block.is_header or block.title.text.lower() in FIRST
    ]
    several = sum(not block.is_header for block in blocks) > 1
    lines = [line for block in blocks for line in marks.lines(block, several)]
    size = sum(len(piece.text) for block in blocks if not block.is_header for piece in block.pieces)
    yield Text()
    yield from lines if everything else lines[:LINES]
    if not everything and (size >= MOST or len(lines) > LINES):
        yield Text("… and more: --all", "dim")
    yield Text()


class Marks:
    """How words show their weight: by colours, or where there are none, by figures in brackets."""

    def __init__(self, why: Explanation, coloured: bool) -> None:
        self.why = why
        self.coloured = coloured
        self.said: dict[str, float] = {}  # nats
        for reason in why.reasons:
            if not reason.is_number:
                self.said[reason.token] = reason.said
        self.largest = max(filter(isfinite, map(abs, self.said.values())), default=0.0)

    def lines(self, block: Block, titled: bool) -> list[Text]:
        """A header on a line of its own; a text below an empty line and perhaps its title."""
        from rich.text import Text

        whole = Text()
        if block.is_header:
            whole.append_text(self.marked(block.title, "bold")).append(": ")
        else:
            whole.append(f"\n{printable(block.title.text)}\n" if titled else "\n", "dim")
        for piece in block.pieces:
            whole.append_text(self.marked(piece))
        return list(whole.split("\n", allow_blank=True))

    def marked(self, piece: Piece, style: str = "") -> Text:
        from rich.text import Text

        text = "\n".join(printable(line) for line in piece.text.expandtabs(4).split("\n"))
        weight = sum(self.said[token] for token in piece.tokens)
        part = abs(weight) / self.largest if self.largest else inf
        if not weight or isnan(weight) or part < FAINTEST:
            return Text(text, style)
        if not self.coloured:
            return Text(f"{text}[{signed(weight, 1)}]")
        return Text(text, next(look for least, look in LEVELS if part >= least) + tone(self.why, weight))
