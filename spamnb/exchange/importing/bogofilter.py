"""`bogoutil -d wordlist.db`: a token, its spam, its ham, and the day it was last seen."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from spamnb.exchange.importing.exports import Entry, Format, Lines, decoded
from spamnb.exchange.importing.rules import (
    UNKNOWN_HEADER,
    Rule,
    addresses,
    body,
    header,
    header_name,
    link,
    nothing,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.exchange.importing.rules import Token
    from spamnb.reading.words import Words

MESSAGES = b".MSG_COUNT"
ABOUT_ITSELF = (b".ENCODING", b".WORDLIST_VERSION", b".ROBX")
EPOCH = date(1970, 1, 1)
HEADERS = frozenset(
    (
        "comments content-transfer-encoding date errors-to importance in-reply-to keywords list-archive "
        "list-help list-id list-owner list-post list-subscribe list-unsubscribe message-id mime-version "
        "organization precedence priority references reply-to sender user-agent"
    ).split()
)


def recognises(line: bytes) -> bool:
    _, *counts = line.split(b" ")
    return len(counts) in (2, 3) and all(count.isdigit() for count in counts)


def entries(lines: Lines) -> Iterator[Entry]:
    for line in lines:
        token, *counts = line.split(b" ")
        if len(counts) not in (2, 3):
            raise lines.error("a token, its spam, its ham and a date are needed")
        spam, ham, *day = map(lines.count, counts)
        if token not in ABOUT_ITSELF:
            name = "" if token == MESSAGES else decoded(token)
            yield Entry(name, ham, spam, day_of(day[0]) if day else 0)


def day_of(written: int) -> int:
    """20261115 as days from 1970 on; 0 if it is no date."""
    try:
        return max(0, (date(written // 10000, written // 100 % 100, written % 100) - EPOCH).days)
    except (ValueError, OverflowError):
        return 0


def named(text: str, words: Words) -> list[Token]:
    """The names and the words of most headers are kept alike; only what must be a name is taken for one."""
    name = text.lower()
    return header_name(name, words) if name.startswith("x-") or name in HEADERS else []


RULES = {
    "subj:": Rule("Subject", header("subject")),
    "from:": Rule("From", addresses("from")),
    "to:": Rule("To, Cc", addresses("to")),
    "rcvd:": Rule("Received", header("received"), "no host"),
    "rtrn:": Rule("Return-Path", nothing, "no evidence here: it is written at delivery"),
    "head:": Rule("other headers", named, UNKNOWN_HEADER),
    "mime:": Rule("headers of parts", nothing, UNKNOWN_HEADER),
    "url:": Rule("links", link),
    "": Rule("words", body),
}
BOGOFILTER = Format("bogofilter", recognises, entries, RULES)
