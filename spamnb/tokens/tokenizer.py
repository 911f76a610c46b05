"""A message to its features: tokens with how often each occurs, and a few numbers."""

from __future__ import annotations

# What collections.Counter counts with, in C: 25 ns a token for 60. Importing collections itself costs 2.6 ms.
from _collections import _count_elements  # type: ignore[import-not-found]

from spamnb.mail.markup import render
from spamnb.tokens.header_rules import header_tokens
from spamnb.tokens.numbers import measured
from spamnb.tokens.urls import link_tokens, links_in
from spamnb.tokens.words import masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.mail.markup import Page
    from spamnb.mail.message import Message, Part
    from spamnb.tokens.settings import Settings

MOST_TOKENS = 30_000  # of one message, n-grams and all: a flood neither bloats the model nor slows others
MOST_OCCURRENCES = 65_535


class Features:
    """What is counted of a message."""

    __slots__ = ("numbers", "tokens")

    def __init__(self, tokens: dict[str, int], numbers: dict[str, int]) -> None:
        self.tokens = tokens
        self.numbers = numbers


class Tokenizer:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.words = settings.words()

    def features(self, message: Message) -> Features:
        pages = {id(part): render(part.text) for part in message.parts if part.text and is_html(part)}
        tokens = self.tokens(message, pages)
        return Features(counted(tokens), measured(message, pages))

    def tokens(self, message: Message, pages: dict[int, Page]) -> list[str]:
        tokens: list[str] = []
        if self.settings.headers:
            tokens += header_tokens(message.headers, self.words)
        for part in message.parts:
            tokens += self._structure(part)
            page = pages.get(id(part))
            if page is not None:
                tokens += self._page(page)
            elif part.text:
                tokens += self._text(part.text)
        return tokens

    def _structure(self, part: Part) -> list[str]:
        """The kind of a part, and the name of an attachment."""
        tokens = []
        if part.content_type:
            tokens.append(f"type:{part.content_type[:60]}")
        if part.charset:
            tokens.append(f"charset:{part.charset[:30]}")
        if part.filename:
            stem, dot, ending = part.filename.lower().rpartition(".")
            tokens += (f"file:{word}" for word in self.words.of(stem if dot else part.filename))
            if dot:
                tokens.append(f"file:.{ending[:12]}")
        return tokens

    def _text(self, text: str) -> list[str]:
        tokens = self.words.grams(self.words.of(text))
        if "://" in text or "www." in text:
            tokens = tokens + link_tokens(links_in(text), self.words)
        if not text.isascii() and masked(text):
            tokens = [*tokens, "trick:masked"]
        return tokens

    def _page(self, page: Page) -> list[str]:
        tokens = self._text(page.text)
        tokens = tokens + link_tokens(page.links + page.images, self.words)
        tokens += (f"hidden:{word}" for word in self.words.of(page.hidden))
        for tag, times in page.tags.items():
            tokens += [f"html:{tag}"] * min(times, 1000)
        return tokens


def is_html(part: Part) -> bool:
    return part.content_type in ("text/html", "application/xhtml+xml")


def counted(tokens: list[str]) -> dict[str, int]:
    """How often each token occurs, up to the most one message may bring."""
    counts: dict[str, int] = {}
    _count_elements(counts, tokens[:MOST_TOKENS])
    return counts
