"""`spamprobe export`: good, spam, flags and "a term"; the low half of the flags is the day last seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spamnb.exchange.importing.exports import Entry, Format, Lines, decoded
from spamnb.exchange.importing.rules import (
    NOTHING_ALIKE,
    Rule,
    addresses,
    body,
    header,
    link,
    nothing,
    tagged,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.exchange.importing.rules import Carry, Token
    from spamnb.reading.words import Words

LINE = re.compile(rb'(\d+),(\d+),(\d+),"(.*)"')
ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
MESSAGES = b"__COUNT__"
FIRST_DAY = 11_911  # 12 August 2002, counted from 1970


def recognises(line: bytes) -> bool:
    return LINE.fullmatch(line) is not None


def entries(lines: Lines) -> Iterator[Entry]:
    for line in lines:
        found = LINE.fullmatch(line)
        if not found:
            raise lines.error('good, spam, flags and "a term" are needed')
        ham, spam, flags = map(lines.count, found.groups()[:3])
        term = decoded(ESCAPE.sub(unescaped, found[4])) or " "
        yield Entry("" if found[4] == MESSAGES else term, ham, spam, FIRST_DAY + (flags & 0xFFFF))


def unescaped(escape: re.Match[bytes]) -> bytes:
    return bytes((int(escape[1], 8) & 255,)) if len(escape[1]) == 3 else escape[1]


def alone(carry: Carry) -> Carry:
    """Single words only."""

    def carried(text: str, words: Words) -> list[Token]:
        return [] if " " in text else [*carry(text, words)]

    return carried


def whole(carry: Carry) -> Carry:
    """Words and pairs of them. One that is cut here is left out: its pieces are terms of their own."""

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
    "__MD5__": Rule("digests", nothing, "of another kind"),
    "I0x": Rule("hashes", nothing, "a hash: database keeps no terms"),
    "Hsubject_": Rule("Subject", whole(header("subject")), CUT),
    "Hfrom_": Rule("From", alone(addresses("from")), ONE_WORD),
    "Hto_": Rule("To", alone(addresses("to")), ONE_WORD),
    "Hcc_": Rule("Cc", alone(addresses("cc")), ONE_WORD),
    "Hrecv_": Rule("Received", alone(header("received")), "pairs, and what is no host"),
    "Hrecvx_": Rule("Received", alone(header("received")), "pairs, and what is no host"),
    "H": Rule("other headers", nothing, NOTHING_ALIKE),
    "U_": Rule("links", alone(link), ONE_WORD),
    "CS_": Rule("charsets", tagged("charset")),
    "I": Rule("images and numbers", nothing, NOTHING_ALIKE),
    "": Rule("words and pairs", whole(body), CUT),
}
UNKNOWN = "in how many messages a term stands, so its occurrences are taken for that, up to their number"
SPAMPROBE = Format("spamprobe", recognises, entries, RULES, UNKNOWN)
