"""SpamBayes' `sb_dbexpimp -e`: ham and spam on the first line, then a word with its ham and its spam."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from spamnb.exchange.importing.exports import Entry, Format, Lines, decoded
from spamnb.exchange.importing.rules import (
    NOTHING_ALIKE,
    Rule,
    addresses,
    body,
    header,
    header_name,
    link,
    nothing,
    tagged,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.exchange.importing.rules import Token
    from spamnb.reading.words import Words

ADDRESSED = ("from", "to", "cc", "sender", "reply-to")


def recognises(line: bytes) -> bool:
    counts = line.split(b",")
    return len(counts) == 2 and all(count.isdigit() for count in counts)


def entries(lines: Lines) -> Iterator[Entry]:
    rows = csv.reader((f"{decoded(line)}\n" for line in lines), strict=True)
    try:
        first = next(rows, [])
        if len(first) != 2:
            raise lines.error("the numbers of ham and spam are needed")
        yield Entry("", *map(lines.count, first))
        for row in rows:
            if len(row) != 3:
                raise lines.error("a word, its ham and its spam are needed")
            yield Entry(row[0] or " ", lines.count(row[1]), lines.count(row[2]))
    except csv.Error as error:
        raise lines.error("its quotes do not fit: no CSV of SpamBayes") from error


def counted(text: str, words: Words) -> list[Token]:
    """`Received:3`: that a header is there, and how often."""
    return header_name(text.rpartition(":")[0], words)


def pair(text: str, words: Words) -> list[Token]:
    found = words.of(text)
    return [(found[0], found[1])] if len(found) == 2 else []


LENGTHS = Rule("long words", nothing, "only their length is known")
RULES = {
    "skip:": LENGTHS,
    "subject:skip:": LENGTHS,
    "subject:": Rule("Subject", header("subject")),
    **{f"{name}:addr:": Rule("addresses", addresses(name)) for name in ADDRESSED},
    **{f"{name}:name:": Rule("names", header(name)) for name in ADDRESSED},
    **{f"{name}:": Rule("forms of addresses", nothing, NOTHING_ALIKE) for name in ADDRESSED},
    "message-id:": Rule("Message-Id", header("message-id")),
    "x-mailer:": Rule("X-Mailer", header("x-mailer")),
    "received:": Rule("Received", header("received"), "no host"),
    "header:": Rule("headers there are", counted, "no evidence here"),
    "noheader:": Rule("headers there are not", nothing, NOTHING_ALIKE),
    "content-type:": Rule("types", tagged("type")),
    "charset:": Rule("charsets", tagged("charset")),
    "filename:": Rule("file names", nothing, NOTHING_ALIKE),
    "proto:": Rule("links", nothing),
    "url:": Rule("links", link),
    "email addr:": Rule("words", body),
    "email name:": Rule("words", body),
    "bi:": Rule("pairs", pair, "one of the two is no word"),
    "": Rule("words", body),
}
SPAMBAYES = Format("spambayes", recognises, entries, RULES)
