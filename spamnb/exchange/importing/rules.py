"""Rules that turn the tokens of other filters into spamnb's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

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
