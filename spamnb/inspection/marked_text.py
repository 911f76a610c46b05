"""A message as a reader sees it, each piece of its text with the tokens it became.

The tokenizer keeps no positions, so the text is cut once more: at spaces, and between them at what separates
words in ASCII. Each piece is then given to the tokenizer's own rules.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from spamnb.reading.header_rules import header_tokens
from spamnb.reading.links import link_tokens, links_in
from spamnb.reading.tokenizer import pages_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from spamnb.reading.message import Message, Part
    from spamnb.reading.tokenizer import Tokenizer
    from spamnb.reading.words import Words

FIRST = ("from", "to", "cc", "reply-to", "subject", "date")  # headers, as mail readers show them
LONGEST_HEADER = 2000  # characters of one that are shown
INDENT = 8  # spaces in a row

_SPACES = re.compile(r"(\s+)", re.ASCII)  # other spaces are left to the tokenizer
_WORD = re.compile(r"([0-9A-Za-z'$!_\x80-\U0010ffff-]+)")


class Piece(NamedTuple):
    """Some text, and the tokens it stands for or is part of."""

    text: str
    tokens: tuple[str, ...]


class Block(NamedTuple):
    """A header, or the text of a part."""

    title: Piece
    is_header: bool
    pieces: list[Piece]


class Cut(NamedTuple):
    """A piece of text, its words, and other tokens made of it."""

    text: str
    words: list[str]
    others: list[str]


def readable(message: Message, tokenizer: Tokenizer, counted: Container[str], most: int) -> Iterator[Block]:
    """Headers that mail readers show, the texts, then the other headers; `most` characters of text at most.

    `counted` are the tokens of interest.
    """
    words = tokenizer.words
    yield from (
        header(own, value, words, counted) for name in FIRST for own, value in message.headers if own == name
    )
    pages = pages_of(message)
    for part in message.parts:
        page = pages.get(id(part))
        text, hidden = map(calm, (page.text, page.hidden) if page else (part.text or "", ""))
        if part.text is None and part.size:
            yield Block(title(part), False, [Piece(f"{part.size:,} bytes, not a text", ())])
        if text and most > 0:
            yield Block(title(part), False, pieces(cuts(text[:most], words), counted, words.ngrams))
            most -= len(text)
        if hidden and most > 0:
            tagged = [
                Cut(cut.text, [], [f"hidden:{word}" for word in cut.words])
                for cut in cuts(hidden[:most], words)
            ]
            yield Block(Piece("hidden from view", ()), False, pieces(tagged, counted))
            most -= len(hidden)
    yield from (header(name, value, words, counted) for name, value in message.headers if name not in FIRST)


def calm(text: str) -> str:
    """With no more than one empty line at a time, and none at the ends."""
    return _SPACES.sub(lambda run: shorter(run[0]), text).strip("\n")


def shorter(spaces: str) -> str:
    lines = spaces.count("\n")
    if lines > 1:
        return "\n\n"
    return "\n" + spaces.rpartition("\n")[2][:INDENT] if lines else spaces[:INDENT]


def title(part: Part) -> Piece:
    return Piece(" ".join(word for word in (part.content_type or "text", part.filename) if word), ())


def header(name: str, value: str, words: Words, counted: Container[str]) -> Block:
    """By the header's own rules, applied to what stands between spaces."""
    found = []
    for text in _SPACES.split(value[:LONGEST_HEADER]):
        _there, *tokens = header_tokens([(name, text)], words) or [""]
        # One line, whatever is encoded in it: else a subject could make up headers.
        found.append(Cut(text, tokens, []) if text.strip() else Cut(text and " ", [], []))
    there = f"header:{name}"
    capitals = "-".join(map(str.capitalize, name.split("-")))
    own = Piece(capitals, (there,) if there in counted else ())
    return Block(own, True, pieces(found, counted))


def cuts(text: str, words: Words) -> list[Cut]:
    """A text cut into pieces of a word, where it can be told; a link is one piece."""
    known: dict[str, Cut] = {}
    found = []
    for run in _SPACES.split(text):
        is_link = "://" in run or run.lower().startswith("www.")
        for text_ in (run,) if is_link or run.isspace() else _WORD.split(run):
            if text_ not in known:
                links = link_tokens(links_in(text_), words) if is_link else []
                known[text_] = Cut(text_, words.of(text_) if text_.strip() else [], links)
            found.append(known[text_])
    return found


def pieces(found: list[Cut], counted: Container[str], longest: int = 2) -> list[Piece]:
    """With the tokens of interest, runs of neighbouring words among them; text without any runs together."""
    own = [{token for token in (*cut.words, *cut.others) if token in counted} for cut in found]
    order = [(place, word) for place, cut in enumerate(found) for word in cut.words]
    for size in range(2, max(2, longest) + 1):
        for start in range(len(order) - size + 1):
            run = order[start : start + size]
            joined = " ".join([word for _, word in run])
            if joined in counted:
                for place, _ in run:
                    own[place].add(joined)
    tagged = zip(found, own, range(len(found)), strict=True)
    runs = groupby(tagged, key=lambda one: (tuple(sorted(one[1])), one[2] if one[1] else -1))
    joined_runs = (("".join([cut.text for cut, _, _ in run]), tokens) for (tokens, _), run in runs)
    return [Piece(text, tokens) for text, tokens in joined_runs if text]
