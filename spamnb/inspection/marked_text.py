"""Mark each piece of a message's text with the tokens that the tokenizer made of it.

The tokenizer does not store where tokens are. So the text is cut into pieces here, at spaces and at ASCII
characters that separate words, and the tokenizer makes tokens of each piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from spamnb.core.native import (
    BODY,
    HEAD,
    Message,
    MessageLeaf,
    Tokenizer,
    header_tokens,
    link_tokens,
    links_in_text,
    pages_of,
)
from spamnb.files import counted
from spamnb.inspection.reason import Reason
from spamnb.reading.settings import Words

SHOWN_HEADERS = ("from", "to", "cc", "reply-to", "subject", "date")  # as mail readers show them
MAX_NAME = 40  # characters of a charset that a message declares
MAX_HEADER = 2000  # characters; longer headers are cut
MAX_INDENT = 8  # spaces in a row

_GAPS = re.compile(r"\s+")  # also lines with only no-break spaces, as in HTML
_SPACES = re.compile(r"(\s+)", re.ASCII)  # other spaces are left to the tokenizer
_WORD = re.compile(r"([0-9A-Za-z'$!_\x80-\U0010ffff-]+)")


class MarkedPiece(NamedTuple):
    """A piece of text, and those of the wanted tokens that were made of it, or of it and its neighbours."""

    text: str
    tokens: tuple[str, ...]


class Section(NamedTuple):
    """A header or the text of a part, cut into marked pieces."""

    title: MarkedPiece
    is_header: bool
    pieces: list[MarkedPiece]
    note: str = ""  # how and why a text was not read as the message declares


class TextPiece(NamedTuple):
    """A piece of text, its words, and its other tokens, such as those of a link."""

    text: str
    words: list[str]
    others: list[str]


class Wanted:
    """What to mark in the head or the body: tokens, and words that are covered by grams used as evidence."""

    def __init__(self, reasons: Mapping[str, Reason], part: int) -> None:
        self.tokens = reasons
        self.covering: dict[str, list[str]] = {}  # word → names of stretches with it
        for reason in reasons.values():
            if reason.covers and reason.evidence.part == part:
                for word in reason.covers:
                    self.covering.setdefault(word, []).append(reason.token)

    def of(self, piece: TextPiece) -> Iterator[str]:
        """Yield the marks of a piece: its wanted tokens, and the stretches of grams that cover its words."""
        yield from (token for token in (*piece.words, *piece.others) if token in self.tokens)
        for word in {piece.text, *piece.words}:
            yield from self.covering.get(word, ())


def marked_sections(
    message: Message, tokenizer: Tokenizer, reasons: Mapping[str, Reason], most: int
) -> Iterator[Section]:
    """Yield sections: headers that mail readers show, `most` characters of text at most, other headers.

    `reasons`: what to mark, by its name: tokens, and stretches of text covered by grams.
    """
    wanted, in_head = Wanted(reasons, BODY), Wanted(reasons, HEAD)
    words = tokenizer.words
    headers = message.headers
    shown = [header for name in SHOWN_HEADERS for header in headers if header[0] == name]
    yield from (marked_header(name, value, words, in_head) for name, value in shown)
    pages = pages_of(message)
    pictures = []
    for part in message.leaves:
        page = pages.get(id(part))
        text, hidden = map(collapse_spaces, (page.text, page.hidden) if page else (part.text or "", ""))
        if part.text is None and (part.content_type or "").startswith("image/"):
            pictures.append(part)
        elif part.text is None and part.size:
            yield Section(part_title(part), False, [MarkedPiece(f"{part.size:,} bytes, not a text", ())])
        if text and most > 0:
            pieces = mark_tokens(cut_text(text[:most], words), wanted, words.ngrams)
            yield Section(part_title(part), False, pieces, how_read(part))
            most -= len(text)
        if hidden and most > 0:
            tagged = [
                TextPiece(cut.text, [], [f"hidden:{word}" for word in cut.words])
                for cut in cut_text(hidden[:most], words)
            ]
            yield Section(MarkedPiece("hidden from view", ()), False, mark_tokens(tagged, wanted))
            most -= len(hidden)
    if pictures:
        title = f"{counted(len(pictures), 'picture')}, {sum(part.size for part in pictures):,} bytes"
        named = ": ".join(
            filter(None, (title, ", ".join(part.filename for part in pictures if part.filename)))
        )
        yield Section(MarkedPiece(named, ()), False, [])
    others = [header for header in headers if header[0] not in SHOWN_HEADERS]
    yield from (marked_header(name, value, words, in_head) for name, value in others)


def collapse_spaces(text: str) -> str:
    """Shorten long runs of spaces; remove repeated empty lines, and empty lines at start and end."""
    return _GAPS.sub(lambda run: collapse_run(run[0]), text).strip("\n")


def collapse_run(spaces: str) -> str:
    lines = spaces.count("\n")
    if lines > 1:
        return "\n\n"
    return "\n" + spaces.rpartition("\n")[2][:MAX_INDENT] if lines else spaces[:MAX_INDENT]


def part_title(part: MessageLeaf) -> MarkedPiece:
    return MarkedPiece(" ".join(word for word in (part.content_type or "text", part.filename) if word), ())


def how_read(part: MessageLeaf) -> str:
    """Say how and why a part was read, if not as the message declares; "" if it was read as declared."""
    how, notes = part.decoding, []
    if how and how.why_encoding:
        notes.append(f"read as {how.encoding}: {how.why_encoding}")
    if how and how.why_charset:
        declared = f"not {part.charset[:MAX_NAME]}, " if part.charset else ""
        notes.append(f"charset {how.charset}, {declared}{how.why_charset}")
    return "; ".join(notes)


def marked_header(name: str, value: str, words: Words, wanted: Wanted) -> Section:
    """Return a header with marked tokens; each piece between spaces is read by the rules for this header."""
    found = []
    for text in _SPACES.split(value[:MAX_HEADER]):
        _presence, *tokens = header_tokens([(name, text)], words) or [""]
        # Kept on one line: an encoded line break in a subject could imitate headers.
        found.append(TextPiece(text, tokens, []) if text.strip() else TextPiece(text and " ", [], []))
    presence = f"header:{name}"
    capitals = "-".join(map(str.capitalize, name.split("-")))
    title = MarkedPiece(capitals, (presence,) if presence in wanted.tokens else ())
    return Section(title, True, mark_tokens(found, wanted))


def cut_text(text: str, words: Words) -> list[TextPiece]:
    """Cut a text into pieces of one word each, if possible; a link is one piece."""
    known: dict[str, TextPiece] = {}
    found = []
    for run in _SPACES.split(text):
        is_link = "://" in run or run.lower().startswith("www.")
        for piece in (run,) if is_link or run.isspace() else _WORD.split(run):
            if piece not in known:
                links = link_tokens(links_in_text(piece), words) if is_link else []
                known[piece] = TextPiece(piece, words.of(piece) if piece.strip() else [], links)
            found.append(known[piece])
    return found


def mark_tokens(pieces: list[TextPiece], wanted: Wanted, longest: int = 2) -> list[MarkedPiece]:
    """Mark each piece with the wanted tokens (up to `longest` words) that have it; join unmarked pieces."""
    marks = [set(wanted.of(piece)) for piece in pieces]
    order = [(index, word) for index, piece in enumerate(pieces) for word in piece.words]
    for size in range(2, max(2, longest) + 1):
        for start in range(len(order) - size + 1):
            run = order[start : start + size]
            joined = " ".join([word for _, word in run])
            if joined in wanted.tokens:
                for index, _ in run:
                    marks[index].add(joined)
    tagged = zip(pieces, marks, range(len(pieces)), strict=True)
    runs = groupby(tagged, key=lambda item: (tuple(sorted(item[1])), item[2] if item[1] else -1))
    joined_runs = (("".join([piece.text for piece, _, _ in run]), tokens) for (tokens, _), run in runs)
    return [MarkedPiece(text, tokens) for text, tokens in joined_runs if text]
