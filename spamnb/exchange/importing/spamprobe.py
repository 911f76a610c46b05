"""Exports of SpamProbe, by `spamprobe export`: good, spam, flags and "a term".

The low half of the flags is the day last seen.
"""

import re
from collections.abc import Iterator

from spamnb.exchange.importing import rules
from spamnb.exchange.importing.exports import Format, Lines, TokenCounts, decoded
from spamnb.exchange.importing.rules import ImportRule, Token
from spamnb.reading.words import Words

LINE = re.compile(rb'(\d+),(\d+),(\d+),"(.*)"')
ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
MESSAGES = b"__COUNT__"
FIRST_DAY = 11_911  # SpamProbe's day 0, 12 August 2002, counted from 1970


def recognises(line: bytes) -> bool:
    return LINE.fullmatch(line) is not None


def entries(lines: Lines) -> Iterator[TokenCounts]:
    for line in lines:
        found = LINE.fullmatch(line)
        if not found:
            raise lines.error('good, spam, flags and "a term" are needed')
        ham, spam, flags = map(lines.count, found.groups()[:3])
        term = decoded(ESCAPE.sub(unescaped, found[4])) or " "
        yield TokenCounts("" if found[4] == MESSAGES else term, ham, spam, FIRST_DAY + (flags & 0xFFFF))


def unescaped(escape: re.Match[bytes]) -> bytes:
    return bytes((int(escape[1], 8) & 255,)) if len(escape[1]) == 3 else escape[1]


def single_words(carry: rules.Carry) -> rules.Carry:
    """Rule that leaves out pairs of words."""

    def carried(text: str, words: Words) -> list[Token]:
        return [] if " " in text else [*carry(text, words)]

    return carried


def words_and_pairs(carry: rules.Carry) -> rules.Carry:
    """Rule for words and pairs of them. A word that spamnb cuts is left out: its pieces are terms, too."""

    def carried(text: str, words: Words) -> list[Token]:
        pieces = [[*carry(word, words)] for word in text.split(" ", 2)]
        found = [token for piece in pieces for token in piece if isinstance(token, str)]
        if not all(len(piece) == 1 for piece in pieces) or len(found) > 2:
            return []
        return [(found[0], found[1])] if len(found) == 2 else [*found]

    return carried


ONE_WORD = "pairs, and what is too short or cut here"
CUT = "too short, or cut into several here"
RULES = {
    "__MD5__": ImportRule("digests", rules.nothing, "of another kind"),
    "I0x": ImportRule("hashes", rules.nothing, "a hash: database keeps no terms"),
    "Hsubject_": ImportRule("Subject", words_and_pairs(rules.header("subject")), CUT),
    "Hfrom_": ImportRule("From", single_words(rules.addresses("from")), ONE_WORD),
    "Hto_": ImportRule("To", single_words(rules.addresses("to")), ONE_WORD),
    "Hcc_": ImportRule("Cc", single_words(rules.addresses("cc")), ONE_WORD),
    "Hrecv_": ImportRule("Received", single_words(rules.header("received")), "pairs, and what is no host"),
    "Hrecvx_": ImportRule("Received", single_words(rules.header("received")), "pairs, and what is no host"),
    "H": ImportRule("other headers", rules.nothing, rules.NOTHING_ALIKE),
    "U_": ImportRule("links", single_words(rules.link), ONE_WORD),
    "CS_": ImportRule("charsets", rules.tagged("charset")),
    "I": ImportRule("images and numbers", rules.nothing, rules.NOTHING_ALIKE),
    "": ImportRule("words and pairs", words_and_pairs(rules.body), CUT),
}
UNKNOWN = "in how many messages a term stands, so its occurrences are taken for that, up to their number"
SPAMPROBE = Format("spamprobe", recognises, entries, RULES, UNKNOWN)
