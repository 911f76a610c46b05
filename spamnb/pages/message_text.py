"""A message with its words coloured by what they add to the score."""

from collections.abc import Mapping
from math import isfinite, isnan

from spamnb.files import counted
from spamnb.inspection.explanation import Explanation
from spamnb.inspection.marked_text import SHOWN_HEADERS, MarkedPiece, Section, marked_sections
from spamnb.inspection.reason import Reason
from spamnb.labels import plain_label
from spamnb.pages.colours import GREY, HAM_COLOUR, SPAM_COLOUR, colour_of_weight
from spamnb.pages.elements import Markup, element, joined, untrusted
from spamnb.pages.formats import count, signed
from spamnb.pages.parts import section

MAX_TEXT = 60_000  # characters: some 30 pages
MAX_NOTED = 4  # tokens in the note on a word
MAX_TITLE, MAX_NOTE = 120, 300  # characters of a part's type and name, and of how it was read
UNDERLINES = {SPAM_COLOUR: "underlined", HAM_COLOUR: "dotted", GREY: "dashed"}  # as in message.css
MIN_TINT, MAX_TINT = 0.10, 0.60  # of the weakest and the strongest word


class WordTinter:
    """Colours words by what their tokens add to the score; a note on a word shows counts and weights."""

    def __init__(self, why: Explanation, rows: Mapping[str, str]) -> None:
        self.why = why
        self.rows = rows  # token: the id of its row in the tables of evidence
        self.reasons = {reason.token: reason for reason in why.reasons if not reason.is_number}
        marks = [abs(reason.mark) for reason in self.reasons.values()]
        self.largest = max(filter(isfinite, marks), default=0.0)
        self.noted: set[tuple[str, ...]] = set()

    def tinted(self, piece: MarkedPiece) -> Markup:
        """Colour a word that adds to the sum, with a note; the tab key stops only where it occurs first."""
        reasons = [self.reasons[token] for token in piece.tokens]
        weight = sum(reason.mark for reason in reasons)
        if not weight or isnan(weight):
            return joined(with_line_breaks(piece.text))
        part = min(1.0, abs(weight) / self.largest) if self.largest else 1.0
        first = piece.tokens not in self.noted
        self.noted.add(piece.tokens)
        rows = " ".join(
            self.rows[reason.token] for reason in reasons[:MAX_NOTED] if reason.token in self.rows
        )
        return element(
            "mark",
            piece.text,
            class_=colour_of_weight(self.why, weight),
            style=f"--tint:{MIN_TINT + (MAX_TINT - MIN_TINT) * part:.2f}",
            data_note=self.note(reasons),
            tabindex="0" if first else None,
            aria_describedby=(rows or None) if first else None,
        )

    def note(self, reasons: list[Reason]) -> str:
        """Return the text of a note: the counts and the weight of each token, strongest first."""
        strongest = sorted(reasons, key=lambda reason: -abs(reason.mark))
        notes = [
            f"{reason.token[:MAX_TITLE]}: {self.counts(reason)}, {signed(reason.weight)}"
            for reason in strongest[:MAX_NOTED]
        ]
        more = len(reasons) - len(notes)
        return " · ".join(notes) + (f" · and {more} more" if more > 0 else "")

    def counts(self, reason: Reason) -> str:
        labels = self.why.model.labels
        held = [f"{count(n)} {plain_label(label)}" for n, label in zip(reason.row, labels, strict=False) if n]
        beneath = zip(reason.evidence.base_row, labels, strict=False)
        held = held[:MAX_NOTED] + [
            f"{count(n)} {plain_label(label)} in the base" for n, label in beneath if n
        ]
        return ", ".join(held)


def message_section(why: Explanation, rows: Mapping[str, str]) -> Markup:
    tinter = WordTinter(why, rows)
    blocks = list(marked_sections(why.message, why.model.tokenizer, tinter.reasons, MAX_TEXT))
    headers = [block for block in blocks if block.is_header]
    first = [block for block in headers if block.title.text.lower() in SHOWN_HEADERS]
    others = [block for block in headers if block.title.text.lower() not in SHOWN_HEADERS]
    against, toward = map(plain_label, why.sides)
    colours = [colour_of_weight(why, weight) for weight in (-1, 1)]
    words = (
        "Tinted words added to the verdict: ",
        element("mark", UNDERLINES[colours[1]], class_=colours[1], style="--tint:.35"),
        f" for {toward}, ",
        element("mark", UNDERLINES[colours[0]], class_=colours[0], style="--tint:.35"),
        f" for {against}. Point at one, tap it or tab to it for its counts.",
    )
    summary = element("summary", counted(len(others), "other header"))
    shown = (
        header_list(first, tinter),
        [text(block, tinter) for block in blocks if not block.is_header],
        element("details", summary, header_list(others, tinter)) if others else None,
    )
    return section("The message", words, element("div", shown, class_="message"))


def header_list(blocks: list[Section], tinter: WordTinter) -> Markup:
    named = [(tinter.tinted(block.title), [*map(tinter.tinted, block.pieces)]) for block in blocks]
    items = [element("div", element("dt", name), element("dd", value, dir="auto")) for name, value in named]
    return element("dl", items, class_="headers")


def text(block: Section, tinter: WordTinter) -> Markup:
    note = (": ", untrusted(block.note, MAX_NOTE)) if block.note else None
    title = element("p", untrusted(block.title.text, MAX_TITLE), note, class_="part")
    pieces = [*map(tinter.tinted, block.pieces)]
    return element("div", title, element("div", pieces, class_="text", dir="auto") if pieces else None)


def with_line_breaks(words: str) -> list[Markup | str]:
    """Return the lines of a text, with a <br> element between each two."""
    first, *rest = words.split("\n")
    return [first, *(part for line in rest for part in (element("br"), line))]
