"""Exports of other filters, read line by line, and the rules that turn their tokens into spamnb's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from spamnb.errors import DataError
from spamnb.reading.header_rules import header_tokens
from spamnb.reading.links import link_tokens
from spamnb.reading.words import Words

Token = str | tuple[str, str]  # a word, or two neighbours

Carry = Callable[[str, Words], Collection[Token]]

# Letters of a word that is carried over. Other filters count no shorter words; shorter pieces of their tokens
# would count too low: after 100 more spam 0.58 % of the ham was lost with them, 0.14 % without.
SHORTEST = 3

NO_WORD = "no word of three letters or more"
UNKNOWN_HEADER = "its header is unknown"
NOTHING_ALIKE = "no equivalent here"


class ImportRule(NamedTuple):
    """How tokens of one kind are carried over, and why some are not."""

    kind: str
    carry: Carry
    why: str = NO_WORD


def rule_for(rules: Mapping[str, ImportRule], token: str) -> tuple[ImportRule, str]:
    """Find the rule of the first prefix that fits, and the token without it."""
    prefix = next(prefix for prefix in rules if token.startswith(prefix))
    return rules[prefix], token[len(prefix) :]


def nothing(_text: str, _words: Words) -> list[Token]:
    return []


def body(text: str, words: Words) -> list[Token]:
    return [word for word in words.of(text) if len(word) >= SHORTEST]


def header(name: str) -> Carry:
    """Rule for words of a header: the tokens it would give, were this its text."""
    shortest = len(name) + 1 + SHORTEST

    def carry(text: str, words: Words) -> set[Token]:
        tokens = set(header_tokens([(name, text)], words)) - {f"header:{name}"}
        return {token for token in tokens if len(token) >= shortest}

    return carry


def addresses(name: str) -> Carry:
    """Rule for a word of a name, or one side of an address: the side with a dot is taken for its host."""
    plain = header(name)

    def carry(text: str, words: Words) -> Collection[Token]:
        return plain("@" + text if "." in text and "@" not in text else text, words)

    return carry


def header_name(text: str, words: Words) -> list[Token]:
    """Token that says that a header is there."""
    return [token for token in header_tokens([(text.lower(), "")], words) if token.startswith("header:")]


def tagged(tag: str) -> Carry:
    """Rule for tokens that need only another tag."""

    def carry(text: str, _words: Words) -> list[Token]:
        return [f"{tag}:{text}"] if text.isprintable() and " " not in text else []

    return carry


def link(text: str, words: Words) -> list[Token]:
    """Tokens of a host that links lead to; a text without a dot is taken for a word of their path."""
    if "." in text:
        return [*link_tokens([f"http://{text}"], words)]
    return [f"url:/{word}" for word in words.of(text)]


LONGEST_LINE = 64 << 10  # bytes


class TokenCounts(NamedTuple):
    """Counts of a token; with an empty token, those of the messages."""

    token: str
    ham: int
    spam: int
    day: int = 0  # last seen, counted from 1970; 0 where that is not known


class Format(NamedTuple):
    """Export format of a filter."""

    name: str
    recognises: Callable[[bytes], bool]  # by its first line
    entries: Callable[[Lines], Iterator[TokenCounts]]
    rules: Mapping[str, ImportRule]  # by what a token begins with; "" fits all others
    unknown: str = ""  # what else is missing in its exports


class Lines:
    """Lines of an export, counted, so that an error can name one."""

    def __init__(self, path: str, blocks: Iterable[bytes]) -> None:
        self.path = path
        self.number = 0
        self._lines = self._split(blocks)
        first = next(self._lines, None)
        if first is None:
            raise DataError(f"{path}: the export is empty")
        self.first = first

    def __iter__(self) -> Iterator[bytes]:
        yield self.first
        yield from self._lines

    def _split(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        rest = b""
        for block in blocks:
            *whole, rest = (rest + block).split(b"\n")
            for line in whole:
                yield self._next(line)
            if len(rest) > LONGEST_LINE:
                self._next(rest)
        if rest:
            yield self._next(rest)

    def _next(self, line: bytes) -> bytes:
        self.number += 1
        if len(line) > LONGEST_LINE:
            raise self.error(f"longer than {LONGEST_LINE:,} bytes")
        return line.removesuffix(b"\r")

    def count(self, text: bytes | str) -> int:
        if not text.isdigit() or not text.isascii() or len(text) > 20:
            raise self.error(f"a count is needed, not {decoded(text)[:40]!r}")
        return int(text)

    def error(self, why: str) -> DataError:
        return DataError(f"{self.path}, line {self.number}: {why}")


def decoded(text: bytes | str) -> str:
    """Decode a token; old filters keep them in whatever charset the mail had."""
    if isinstance(text, str):
        return text
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("cp1252", "replace")
