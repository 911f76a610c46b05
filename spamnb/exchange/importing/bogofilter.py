"""Exports of bogofilter, by `bogoutil -d wordlist.db`: a token, its spam, its ham, the day last seen."""

from collections.abc import Iterator
from datetime import date

from spamnb.exchange.importing import rules
from spamnb.exchange.importing.exports import Format, Lines, TokenCounts, decoded
from spamnb.exchange.importing.rules import ImportRule, Token
from spamnb.reading.words import Words

MESSAGES = b".MSG_COUNT"
ABOUT_THE_FILE = (b".ENCODING", b".WORDLIST_VERSION", b".ROBX")
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


def entries(lines: Lines) -> Iterator[TokenCounts]:
    for line in lines:
        token, *counts = line.split(b" ")
        if len(counts) not in (2, 3):
            raise lines.error("a token, its spam, its ham and a date are needed")
        spam, ham, *day = map(lines.count, counts)
        if token not in ABOUT_THE_FILE:
            name = "" if token == MESSAGES else decoded(token)
            yield TokenCounts(name, ham, spam, day_of(day[0]) if day else 0)


def day_of(written: int) -> int:
    """Days from 1970 on of a date written like 20261115; 0 if that is no date."""
    try:
        return max(0, (date(written // 10000, written // 100 % 100, written % 100) - EPOCH).days)
    except (ValueError, OverflowError):
        return 0


def known_header_name(text: str, words: Words) -> list[Token]:
    """Token of a header's name, if it is known as one: bogofilter keeps names and words of headers alike."""
    name = text.lower()
    return rules.header_name(name, words) if name.startswith("x-") or name in HEADERS else []


RULES = {
    "subj:": ImportRule("Subject", rules.header("subject")),
    "from:": ImportRule("From", rules.addresses("from")),
    "to:": ImportRule("To, Cc", rules.addresses("to")),
    "rcvd:": ImportRule("Received", rules.header("received"), "no host"),
    "rtrn:": ImportRule("Return-Path", rules.nothing, "no evidence here: it is written at delivery"),
    "head:": ImportRule("other headers", known_header_name, rules.UNKNOWN_HEADER),
    "mime:": ImportRule("headers of parts", rules.nothing, rules.UNKNOWN_HEADER),
    "url:": ImportRule("links", rules.link),
    "": ImportRule("words", rules.body),
}
BOGOFILTER = Format("bogofilter", recognises, entries, RULES)
