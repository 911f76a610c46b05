"""Print a message: on a terminal words are coloured by weight, in a pipe the weight stands behind them."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING

from spamnb.cli.render.terminal import console, signed
from spamnb.files import printable
from spamnb.inspection.explanation import Explanation
from spamnb.inspection.marked_text import SHOWN_HEADERS, MarkedPiece, Section, marked_sections
from spamnb.labels import SPAM

if TYPE_CHECKING:
    from rich.text import Text

MOST_TEXT = 3000  # characters of a message that are shown
MOST_LINES = 24
FAINTEST = 0.15  # share of the strongest weight: weaker words are not marked
STRENGTHS = ((0.75, "bold reverse "), (0.4, "bold "), (0.0, ""))  # share of the strongest weight, style
SPAM_COLOUR, OTHER_COLOUR, AGAINST_COLOUR = "red", "magenta", "cyan"


def colour_of(why: Explanation, adds: float) -> str:
    """Choose the colour of what speaks for a label: spam, another one in the lead, or the one behind."""
    label = why.sides[adds > 0]
    return SPAM_COLOUR if label == SPAM else OTHER_COLOUR if adds > 0 else AGAINST_COLOUR


def message_text(why: Explanation, everything: bool) -> Iterator[Text]:
    """Show the headers that mail readers show, and the text; everything, if asked for."""
    from rich.text import Text

    screen = console()
    marker = WordMarker(why, screen.color_system is not None and not screen.no_color)
    most = len(why.message.data) if everything else MOST_TEXT
    blocks = [
        block
        for block in marked_sections(why.message, why.model.tokenizer, marker.weights, most)
        if everything or not block.is_header or block.title.text.lower() in SHOWN_HEADERS
    ]
    several = sum(not block.is_header for block in blocks) > 1
    lines = [line for block in blocks for line in marker.lines(block, several)]
    size = sum(len(piece.text) for block in blocks if not block.is_header for piece in block.pieces)
    yield Text()
    yield from lines if everything else lines[:MOST_LINES]
    if not everything and (size >= MOST_TEXT or len(lines) > MOST_LINES):
        yield Text("… and more: --all", "dim")
    yield Text()


class WordMarker:
    """Shows the weight of words: by colours, or where there are none, by figures in brackets."""

    def __init__(self, why: Explanation, coloured: bool) -> None:
        self.why = why
        self.coloured = coloured
        self.weights: dict[str, float] = {}  # of tokens, in nats
        for reason in why.reasons:
            if not reason.is_number:
                self.weights[reason.token] = reason.total_weight
        self.largest = max(filter(isfinite, map(abs, self.weights.values())), default=0.0)

    def lines(self, block: Section, titled: bool) -> list[Text]:
        """Lay out a header on a line of its own; a text below an empty line and perhaps its title."""
        from rich.text import Text

        whole = Text()
        if block.is_header:
            whole.append_text(self.marked(block.title, "bold")).append(": ")
        else:
            whole.append(f"\n{printable(block.title.text)}\n" if titled else "\n", "dim")
        for piece in block.pieces:
            whole.append_text(self.marked(piece))
        return list(whole.split("\n", allow_blank=True))

    def marked(self, piece: MarkedPiece, style: str = "") -> Text:
        from rich.text import Text

        text = "\n".join(printable(line) for line in piece.text.expandtabs(4).split("\n"))
        weight = sum(self.weights[token] for token in piece.tokens)
        part = abs(weight) / self.largest if self.largest else inf
        if not weight or isnan(weight) or part < FAINTEST:
            return Text(text, style)
        if not self.coloured:
            return Text(f"{text}[{signed(weight, 1)}]")
        strength = next(strength for least, strength in STRENGTHS if part >= least)
        return Text(text, strength + colour_of(self.why, weight))
