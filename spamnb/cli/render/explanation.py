"""Print why a message got its verdict: the evidence, its sum, and what was ignored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

from spamnb.bayes.verdict import score_text
from spamnb.cli.render.terminal import (
    bar,
    bar_heading,
    console,
    fact_lines,
    listed,
    number,
    show,
    signed,
    table,
    wrapped,
)
from spamnb.files import printable
from spamnb.inspection.explanation import Explanation
from spamnb.inspection.marked_text import SHOWN_HEADERS, MarkedPiece, Section, marked_sections
from spamnb.inspection.reason import Reason
from spamnb.labels import SPAM

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

MAX_TEXT = 3000  # characters of a message that are shown
MAX_LINES = 24
MIN_MARK, STRONG = 0.15, 0.5  # shares of the strongest weight, from which on a word is marked, or bold
SPAM_COLOUR, OTHER_COLOUR, AGAINST_COLOUR = "red", "magenta", "cyan"


def colour_of(why: Explanation, adds: float) -> str:
    """Return the colour of evidence that speaks for spam, another leading label, or against that label."""
    label = why.sides[adds > 0]
    return SPAM_COLOUR if label == SPAM else OTHER_COLOUR if adds > 0 else AGAINST_COLOUR


def message_text(why: Explanation, everything: bool) -> Iterator[Text]:
    """Yield the lines to show: usual headers and the start of the text; with `everything`, the whole mail."""
    from rich.text import Text

    screen = console()
    marker = WordMarker(why, screen.color_system is not None and not screen.no_color)
    most = len(why.message.data) if everything else MAX_TEXT
    blocks = [
        block
        for block in marked_sections(why.message, why.model.tokenizer, marker.reasons, most)
        if everything or not block.is_header or block.title.text.lower() in SHOWN_HEADERS
    ]
    several = sum(not block.is_header for block in blocks) > 1
    lines = [line for block in blocks for line in marker.lines(block, several or not block.pieces)]
    size = sum(len(piece.text) for block in blocks if not block.is_header for piece in block.pieces)
    yield Text()
    yield from lines if everything else lines[:MAX_LINES]
    if not everything and (size >= MAX_TEXT or len(lines) > MAX_LINES):
        yield Text("… and more: --all", "dim")
    yield Text()


class WordMarker:
    """Shows the weight of words by colours; without colours, by numbers in brackets."""

    def __init__(self, why: Explanation, coloured: bool) -> None:
        self.why = why
        self.coloured = coloured
        self.reasons = {reason.token: reason for reason in why.reasons if not reason.is_number}
        marks = [abs(reason.mark) for reason in self.reasons.values()]
        self.largest = max(filter(isfinite, marks), default=0.0)

    def lines(self, block: Section, titled: bool) -> list[Text]:
        """Return the lines of a header or a text; a text follows its title (if `titled`) or an empty line."""
        from rich.text import Text

        whole = Text()
        if block.is_header:
            whole.append_text(self.marked(block.title, "bold")).append(": ")
        else:
            title = ": ".join(filter(None, (block.title.text, block.note)))
            whole.append(f"\n{printable(title)}\n" if titled or block.note else "\n", "dim")
        for piece in block.pieces:
            whole.append_text(self.marked(piece))
        return list(whole.split("\n", allow_blank=True))

    def marked(self, piece: MarkedPiece, style: str = "") -> Text:
        from rich.text import Text

        text = "\n".join(printable(line) for line in piece.text.expandtabs(4).split("\n"))
        weight = sum(self.reasons[token].mark for token in piece.tokens)
        part = abs(weight) / self.largest if self.largest else inf
        if not weight or isnan(weight) or part < MIN_MARK:
            return Text(text, style)
        if not self.coloured:
            return Text(f"{text}[{signed(weight, 1)}]")
        return Text(text, ("bold " if part >= STRONG else "") + colour_of(self.why, weight))


AT_LEAST = 3  # tokens shown of each part of the message, even weak ones
LISTED = 12  # tokens named in a line
WIDE = 100  # columns of a terminal that has space for long bars


def show_explanation(why: Explanation, top: int, everything: bool) -> None:
    top = len(why.reasons) if everything else top
    most = len(why.features.tokens) if everything else LISTED
    show(
        *wrapped(why.sentence, *(f"  {reason}" for reason in why.in_words), ""),
        *wrapped(headline(why), why.rule()),
        *message_text(why, everything),
        evidence_table(why, top, everything)
        if why.reasons
        else "evidence: none is strong enough to be used\n",
        sum_table(why),
        *ignored(why, most),
    )


def headline(why: Explanation) -> str:
    verdict = why.verdict
    score, probability = score_text(verdict.score), number(verdict.probability)
    return f"{verdict.label}: score {score}, probability of {why.ranked_label} {probability}"


def evidence_table(why: Explanation, top: int, everything: bool) -> RenderableType:
    """Make the table of the strongest evidence, grouped by the part of the message it comes from."""
    places = why.by_place()
    shown_anyway = [reason for reasons in places.values() for reason in reasons[: min(AT_LEAST, top)]]
    strongest = {id(reason) for reason in (*why.reasons[:top], *shown_anyway)}
    largest = max((abs(reason.adds) for reason in why.reasons if isfinite(reason.adds)), default=0.0)
    width = 20 if console().width >= WIDE else 10
    rows: list[Sequence[Any]] = []
    for place, reasons in places.items():
        rows.append(total_row(why, f"{place} ({len(reasons):,})", reasons, "bold"))
        strong = [reason for reason in reasons if id(reason) in strongest]
        rows += [
            [
                token_cell(why, reason, everything),
                *count_cells(why, reason),
                bar(reason.adds, largest, colour_of(why, reason.adds), width),
            ]
            for reason in strong
        ]
        if strong and len(reasons) > len(strong):
            rest = reasons[len(strong) :]
            rows.append(total_row(why, f"  … {len(rest):,} more", rest, "dim"))
    base = " + base" if why.model.base else ""
    counts = [f"in {label}{base}" for label in why.column_labels]
    columns: list[str | Text] = ["token", *counts, "weight", "adds", bar_heading(*why.sides, width)]
    return table(f"evidence ({len(strongest):,} of {len(why.reasons):,})", columns, rows, has_picture=True)


def total_row(why: Explanation, name: str, reasons: Sequence[Reason], style: str) -> list[Any]:
    """Make a row with the sums of `reasons`: all evidence of a part of the message, or what is not shown."""
    from rich.text import Text

    weight, adds = sum(reason.total_weight for reason in reasons), sum(reason.adds for reason in reasons)
    cells = [name, *("" for _ in why.column_labels), signed(weight, 3), signed(adds, 4), ""]
    return [Text(cell, style) for cell in cells]


def token_cell(why: Explanation, reason: Reason, whole: bool) -> Text:
    """Make a cell with a token and how often it is counted; a long token is cut unless `whole` is true."""
    from rich.text import Text

    token, most = printable(reason.token), max(16, console().width // 4)  # characters
    if not whole and len(token) > most:
        token = f"{token[: most - 1]}…"
    times = "" if reason.evidence.times == 1 else f" ×{reason.evidence.times:.3g}"
    return Text(f"  {token}{times}", colour_of(why, reason.adds), overflow="fold")


def count_cells(why: Explanation, reason: Reason) -> list[str]:
    label_indexes = [why.model.labels.index(label) for label in why.column_labels]
    return [*(reason.count_text(k) for k in label_indexes), signed(reason.weight, 3), signed(reason.adds, 4)]


def sum_table(why: Explanation) -> RenderableType:
    """Make the table that shows how the score is added up."""
    from rich.text import Text

    if not why.is_finite:
        return "no sum: without smoothing, a count of zero means a probability of zero"
    rows: list[Sequence[Any]] = [
        [row.name, "" if row.weight is None else signed(row.weight, 3), row.divisor, signed(row.adds, 4)]
        for row in why.sum_rows()
    ]
    rows[-1] = [Text(cell, "bold") for cell in rows[-1]]
    return table("the sum", ("", "weights", "divided by", "adds"), rows)


def ignored(why: Explanation, most: int) -> Iterator[RenderableType]:
    """List the tokens that are not used as evidence, and why."""
    from rich.text import Text

    facts = []
    for kind in why.ignored(most):
        examples = f": {listed(kind.examples, most, kind.total)}" if kind.examples else ""
        facts.append((f"{kind.total:,} {kind.name}", kind.why + examples))
    if facts:
        yield from (Text("ignored", "bold"), *fact_lines(facts), "")
