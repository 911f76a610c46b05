"""A message to its features: tokens with how often each occurs, and a few numbers."""

from __future__ import annotations

# What collections.Counter counts with, in C: 25 ns a token for 60. Importing collections itself costs 2.6 ms.
from _collections import _count_elements  # type: ignore[import-not-found]

from spamnb.reading.header_rules import header_tokens, subject_tokens, subject_words
from spamnb.reading.links import MOST_LINKS, link_tokens, links_in
from spamnb.reading.message import EMBEDDED
from spamnb.reading.numbers import measured
from spamnb.reading.parts import pairs_in
from spamnb.reading.words import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.html.markup import Page
    from spamnb.reading.message import Message, Part
    from spamnb.reading.settings import Settings

MOST_OCCURRENCES = 65_535  # of one token in one message: two bytes hold it
# Of one message, n-grams and all: a flood neither bloats the model nor slows others.
MOST_TOKENS = min(30_000, MOST_OCCURRENCES)
# Of headers, parts, tags, links and hidden words each. Words have what these leave, so no kind hides another.
MOST_OF_A_KIND = 4_000
MOST_TIMES = 1000  # of one HTML tag


class Features:
    """What is counted of a message."""

    __slots__ = ("_tokens", "numbers", "subject", "tagged", "texts")

    def __init__(
        self, tagged: list[str], texts: list[bytes], subject: list[str], numbers: dict[str, int]
    ) -> None:
        self.tagged = tagged  # all tokens but the words of the texts, each as often as it occurs
        self.texts = texts  # words with spaces between them
        self.subject = subject  # those of `tagged` that are the words of the subject, in order
        self.numbers = numbers
        self._tokens: dict[str, int] = {}

    @property
    def tokens(self) -> dict[str, int]:
        """Every token, and how often it occurs."""
        if not self._tokens:
            _count_elements(self._tokens, self.tagged)
            for text in self.texts:
                _count_elements(self._tokens, cut(text))
        return self._tokens

    @property
    def runs(self) -> list[list[str]]:
        """Words in the order of the texts they stand in."""
        return [*map(cut, self.texts), self.subject]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Neighbours, each pair once."""
        return pairs_in(self.runs)


class Tokenizer:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.words = settings.words()

    def features(self, message: Message) -> Features:
        """All tokens, up to the most a message may bring, and what is measured."""
        headers: list[str] = []
        subject: list[str] = []
        if self.settings.headers:
            headers = header_tokens(message.headers, self.words)
            subject = subject_words(message.get("subject") or "", self.words)
            if len(headers) > MOST_OF_A_KIND:  # wherever it stands among them
                headers = subject + headers[: MOST_OF_A_KIND - len(subject)]
        parts: list[str] = []
        tags: list[str] = []
        links: list[list[str]] = []
        hidden: list[list[str]] = []
        texts: list[bytes] = []
        pages = pages_of(message)
        for part in message.parts:
            parts += self._structure(part)
            page = pages.get(id(part))
            text = part.text if page is None else page.text
            if page is not None:
                tags += tag_tokens(page.tags)
                links += (page.links, page.images)
                hidden.append([f"hidden:{word}" for word in self.words.of(page.hidden)])
            if text:
                links.append(links_in(text))
                texts.append(self.words.spaced(text))
                if is_masked(text):
                    parts.append("trick:masked")
        tokens = headers + parts[:MOST_OF_A_KIND] + tags[:MOST_OF_A_KIND]
        tokens += link_tokens(joined(links, MOST_LINKS), self.words)[:MOST_OF_A_KIND]
        tokens += joined(hidden, MOST_OF_A_KIND)
        texts = shares(texts, (MOST_TOKENS - len(tokens)) // self.words.ngrams)
        if self.words.ngrams > 1:
            for words in map(cut, texts):
                tokens += self.words.grams(words)[len(words) :]
        return Features(tokens, texts, subject, measured(message, pages))

    def _structure(self, part: Part) -> list[str]:
        """The kind of a part, the name of an attachment, the subject of an embedded message."""
        tokens = []
        if part.content_type:
            tokens.append(f"type:{printed(part.content_type[:60])}")
        if part.charset:
            tokens.append(f"charset:{printed(part.charset[:30])}")
        if part.filename:
            stem, dot, ending = part.filename.rpartition(".")
            tokens += [f"file:{word}" for word in self.words.of(stem if dot else ending)]
            if dot:
                tokens.append(f"file:.{printed(ending[:12].lower())}")
        if part.content_type == EMBEDDED and self.settings.headers:
            for name, value in part.headers:
                if name == "subject":
                    tokens += subject_tokens(value, self.words)
        return tokens


def pages_of(message: Message) -> dict[int, Page]:
    """HTML as a reader sees it, by the part it stands in."""
    written = [part for part in message.parts if part.text and is_html(part)]
    if not written:
        return {}
    from spamnb.reading.html.markup import render  # six modules that plain mail has no use for

    return {id(part): render(part.text or "") for part in written}


def is_masked(text: str) -> bool:
    if text.isascii():
        return False
    from spamnb.reading.letters import masked

    return masked(text)


def is_html(part: Part) -> bool:
    return part.content_type in ("text/html", "application/xhtml+xml")


def tag_tokens(tags: dict[str, int]) -> list[str]:
    """Each tag once before any comes again: a flood of one hides no other."""
    names = [f"html:{printed(tag)}" for tag in tags]
    tokens = list(names)
    for name, times in zip(names, tags.values(), strict=True):
        tokens += [name] * min(times - 1, MOST_TIMES)
    return tokens


def printed(text: str) -> str:
    """Without spaces, and without what no terminal should be sent."""
    if text.isprintable() and " " not in text:
        return text
    return "".join([char for char in text if char.isprintable() and char != " "])


def joined(runs: list[list[str]], most: int) -> list[str]:
    return [one for run in fairly(runs, most) for one in run]


def shares(texts: list[bytes], most: int) -> list[bytes]:
    """The texts, cut to so many words in all."""
    if sum(map(len, texts)) <= most:
        return texts
    return [" ".join(run).encode() for run in fairly([cut(text) for text in texts], most)]


def fairly(runs: list[list[str]], most: int) -> list[list[str]]:
    """All of them, or if that is too much, the long ones cut: a flood in one part hides no other part."""
    if sum(map(len, runs)) <= most:
        return runs
    kept = []
    for following, run in zip(reversed(range(len(runs))), sorted(runs, key=len), strict=True):
        kept.append(run[: most // (following + 1)])
        most -= len(kept[-1])
    return kept
