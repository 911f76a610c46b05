"""A message with its words tinted by what they say for or against the verdict."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

from spamnb.inspection.marked_text import FIRST, readable
from spamnb.report.elements import Markup, element, foreign, joined
from spamnb.report.figures import count, counted, signed
from spamnb.report.waterfall import side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spamnb.inspection import Explanation, Reason
    from spamnb.inspection.marked_text import Block, Piece

MOST = 60_000  # characters of text: some 30 pages
TIPPED = 4  # tokens that are told of one word
TITLE = 120  # characters of a part's type and name
FAINTEST, DEEPEST = 0.10, 0.60  # of a tint


class Tint:
    """Knows what each token adds, and which were told already."""

    def __init__(self, why: Explanation, rows: Mapping[str, str]) -> None:
        self.why = why
        self.rows = rows  # token: the id of its row in the tables of evidence
        self.reasons: dict[str, Reason] = {one.token: one for one in why.reasons if not one.is_number}
        self.largest = max(filter(isfinite, (abs(one.said) for one in self.reasons.values())), default=0.0)
        self.told: set[tuple[str, ...]] = set()

    def piece(self, piece: Piece) -> Markup:
        """A word that adds something, with a note; by keyboard, only where it stands first."""
        own = [self.reasons[token] for token in piece.tokens]
        weight = sum(one.said for one in own)
        if not weight or isnan(weight):
            return joined(broken(piece.text))
        part = min(1.0, abs(weight) / self.largest) if self.largest else 1.0
        first = piece.tokens not in self.told
        self.told.add(piece.tokens)
        rows = " ".join(self.rows[one.token] for one in own[:TIPPED] if one.token in self.rows)
        return element(
            "mark",
            piece.text,
            class_=side(self.why, weight),
            style=f"--tint:{FAINTEST + (DEEPEST - FAINTEST) * part:.2f}",
            data_note=self.note(own),
            tabindex="0" if first else None,
            aria_describedby=(rows or None) if first else None,
        )

    def note(self, own: list[Reason]) -> str:
        """Counts and weight of each token, strongest first."""
        strongest = sorted(own, key=lambda one: -abs(one.said))
        notes = [
            f"{one.token[:TITLE]}: {self.counts(one)}, {signed(one.weight)}" for one in strongest[:TIPPED]
        ]
        more = len(own) - len(notes)
        return " · ".join(notes) + (f" · and {more} more" if more > 0 else "")

    def counts(self, one: Reason) -> str:
        labels = self.why.model.labels
        held = [f"{count(many)} {label}" for many, label in zip(one.row, labels, strict=False) if many]
        return ", ".join(held[:TIPPED])


def message(why: Explanation, rows: Mapping[str, str]) -> Markup:
    tint = Tint(why, rows)
    blocks = list(readable(why.message, why.model.tokenizer, tint.reasons, MOST))
    first = [one for one in blocks if one.is_header and one.title.text.lower() in FIRST]
    others = [one for one in blocks if one.is_header and one.title.text.lower() not in FIRST]
    texts = [one for one in blocks if not one.is_header]
    against, toward = why.sides
    words = (
        "Tinted words added to the verdict: ",
        element("mark", "underlined", class_=side(why, 1), style="--tint:.35"),
        f" for {toward}, ",
        element("mark", "dotted", class_=side(why, -1), style="--tint:.35"),
        f" for {against}. Point at one, tap it or tab to it for its counts.",
    )
    return element(
        "section",
        element("h2", "The message"),
        element("p", words, class_="lead"),
        element(
            "div",
            element("dl", [header(one, tint) for one in first], class_="headers"),
            [text(one, tint) for one in texts],
            details(others, tint),
            class_="message",
        ),
    )


def header(block: Block, tint: Tint) -> Markup:
    name, value = tint.piece(block.title), [tint.piece(piece) for piece in block.pieces]
    return element("div", element("dt", name), element("dd", value, dir="auto"))


def text(block: Block, tint: Tint) -> Markup:
    return element(
        "div",
        element("p", foreign(block.title.text, TITLE), class_="part"),
        element("div", [tint.piece(piece) for piece in block.pieces], class_="text", dir="auto"),
    )


def details(headers: list[Block], tint: Tint) -> Markup | None:
    if not headers:
        return None
    return element(
        "details",
        element("summary", counted(len(headers), "other header")),
        element("dl", [header(one, tint) for one in headers], class_="headers"),
    )


def broken(words: str) -> list[Markup | str]:
    """Text whose lines end where they ended."""
    first, *rest = words.split("\n")
    return [first, *(part for line in rest for part in (element("br"), line))]
