"""Tokenizer: makes features of a message, which are tokens of head and body, texts, and a few numbers."""

from __future__ import annotations

from spamnb.reading.features import Features
from spamnb.reading.fingerprint import Fingerprints
from spamnb.reading.header_rules import header_tokens, subject_tokens, subject_words
from spamnb.reading.links import MOST_LINKS, link_tokens, links_in
from spamnb.reading.message import EMBEDDED
from spamnb.reading.numbers import numbers_of
from spamnb.reading.words import words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.key import Key
    from spamnb.reading.markup import Page
    from spamnb.reading.message import Message, Part
    from spamnb.reading.settings import Settings

MOST_OCCURRENCES = 65_535  # of one token in one message; two bytes hold this number
# Tokens of one message, n-grams included: a flood neither bloats the model nor slows others.
MOST_TOKENS = 30_000
# Tokens of headers, parts, tags, links, hidden words, each. Texts have the rest, so no kind hides another.
MOST_OF_A_KIND = 4_000
MOST_OF_ONE_TAG = 1000  # occurrences of an HTML tag that are counted, after its first
# Tags of tokens that count as body, also where a header makes them: one called Url makes `url:` tokens.
BODY_TAGS = frozenset(("url", "html", "type", "charset", "file", "hidden", "trick"))


class Tokenizer:
    """Cuts messages by the settings of a model, and fingerprints them by its key."""

    def __init__(self, settings: Settings, key: Key | None = None) -> None:
        self.settings = settings
        self.words = settings.words()
        self.key = key
        self.fingerprints = Fingerprints(key)

    def features(self, message: Message) -> Features:
        """Return all features of a message, up to the most it may bring."""
        head, like_body, subject = self._head(message)
        part_tokens: list[str] = []
        tags: list[str] = []
        links: list[list[str]] = []
        hidden: list[list[str]] = []
        texts: list[bytes] = []
        pages = pages_of(message)
        for part in message.parts:
            part_tokens += self._part_tokens(part)
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
                    part_tokens.append("trick:masked")
        body = like_body + part_tokens[:MOST_OF_A_KIND] + tags[:MOST_OF_A_KIND]
        body += link_tokens(first_items(links, MOST_LINKS), self.words)[:MOST_OF_A_KIND]
        body += first_items(hidden, MOST_OF_A_KIND)
        texts = limited_texts(texts, (MOST_TOKENS - len(head) - len(body)) // self.words.ngrams)
        if self.words.ngrams > 1:
            for words in map(words_in, texts):
                body += self.words.grams(words)[len(words) :]
        return Features(head, body, subject, texts, numbers_of(message, pages), self.fingerprints)

    def _head(self, message: Message) -> tuple[list[str], list[str], list[str]]:
        """Return tokens of the headers, tokens of headers that count as body, and the words of the subject.

        Tokens of the headers include the subjects of embedded messages.
        """
        if not self.settings.headers:
            return [], [], []
        tokens = header_tokens(message.headers, self.words)
        subject = subject_words(message.get("subject") or "", self.words)
        for part in message.parts:
            if part.content_type == EMBEDDED:
                for name, value in part.headers:
                    if name == "subject":
                        tokens += subject_tokens(value, self.words)
        if len(tokens) > MOST_OF_A_KIND:  # the subject stays, wherever it stands among the headers
            tokens = subject + tokens[: MOST_OF_A_KIND - len(subject)]
        if BODY_TAGS.isdisjoint([name for name, _ in message.headers]):
            return tokens, [], subject
        like_body = [token for token in tokens if token.partition(":")[0] in BODY_TAGS]
        return [token for token in tokens if token.partition(":")[0] not in BODY_TAGS], like_body, subject

    def _part_tokens(self, part: Part) -> list[str]:
        """Return tokens of a part's type and charset, and of the name of an attachment."""
        tokens = []
        if part.content_type:
            tokens.append(f"type:{printable(part.content_type[:60])}")
        if part.charset:
            tokens.append(f"charset:{printable(part.charset[:30])}")
        if part.filename:
            stem, dot, ending = part.filename.rpartition(".")
            tokens += [f"file:{word}" for word in self.words.of(stem if dot else ending)]
            if dot:
                tokens.append(f"file:.{printable(ending[:12].lower())}")
        return tokens


def pages_of(message: Message) -> dict[int, Page]:
    """Return HTML as a reader sees it, by the id() of its part."""
    html_parts = [part for part in message.parts if part.text and is_html(part)]
    if not html_parts:
        return {}
    from spamnb.reading.markup import render  # three modules that plain mail has no use for

    return {id(part): render(part.text or "") for part in html_parts}


def is_masked(text: str) -> bool:
    """Tell whether a text hides words from a filter; for ASCII without loading what decides."""
    if text.isascii():
        return False
    from spamnb.reading.letters import has_masked_words

    return has_masked_words(text)


def is_html(part: Part) -> bool:
    return part.content_type in ("text/html", "application/xhtml+xml")


def tag_tokens(tags: dict[str, int]) -> list[str]:
    """Return a token for each tag, and only then the repeated ones: a flood of one tag hides no other."""
    names = [f"html:{printable(tag)}" for tag in tags]
    tokens = list(names)
    for name, times in zip(names, tags.values(), strict=True):
        tokens += [name] * min(times - 1, MOST_OF_ONE_TAG)
    return tokens


def printable(text: str) -> str:
    """Return a text without spaces, and without what no terminal should be sent."""
    if text.isprintable() and " " not in text:
        return text
    return "".join([char for char in text if char.isprintable() and char != " "])


def first_items(runs: list[list[str]], most: int) -> list[str]:
    """Return the first items of each run, `most` in all."""
    return [item for run in limited_runs(runs, most) for item in run]


def limited_texts(texts: list[bytes], most: int) -> list[bytes]:
    """Return the texts, the long ones cut, with `most` words in all."""
    if sum(map(len, texts)) <= most:  # a text has no more words than bytes
        return texts
    return [" ".join(run).encode() for run in limited_runs([words_in(text) for text in texts], most)]


def limited_runs(runs: list[list[str]], most: int) -> list[list[str]]:
    """Return the runs, the long ones cut, with `most` items in all: a flood in one part hides no other.

    If any is cut, they come in order of their length.
    """
    if sum(map(len, runs)) <= most:
        return runs
    limited = []
    for following, run in zip(reversed(range(len(runs))), sorted(runs, key=len), strict=True):
        limited.append(run[: most // (following + 1)])
        most -= len(limited[-1])
    return limited
