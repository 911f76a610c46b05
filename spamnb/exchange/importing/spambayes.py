"""Exports of SpamBayes, by `sb_dbexpimp -e`: ham and spam in the first line, then words with theirs."""

import csv
from collections.abc import Iterator

from spamnb.exchange.importing import rules
from spamnb.exchange.importing.exports import Format, Lines, TokenCounts, decoded
from spamnb.exchange.importing.rules import ImportRule, Token
from spamnb.reading.words import Words

ADDRESSED = ("from", "to", "cc", "sender", "reply-to")


def recognises(line: bytes) -> bool:
    counts = line.split(b",")
    return len(counts) == 2 and all(count.isdigit() for count in counts)


def entries(lines: Lines) -> Iterator[TokenCounts]:
    rows = csv.reader((f"{decoded(line)}\n" for line in lines), strict=True)
    try:
        first = next(rows, [])
        if len(first) != 2:
            raise lines.error("the numbers of ham and spam are needed")
        yield TokenCounts("", *map(lines.count, first))
        for row in rows:
            if len(row) != 3:
                raise lines.error("a word, its ham and its spam are needed")
            yield TokenCounts(row[0] or " ", lines.count(row[1]), lines.count(row[2]))
    except csv.Error as error:
        raise lines.error("unbalanced quotes: not a CSV of SpamBayes") from error


def counted_header(text: str, words: Words) -> list[Token]:
    """Token of a header's name from `Received:3`, which also says how often it is there."""
    return rules.header_name(text.rpartition(":")[0], words)


def pair(text: str, words: Words) -> list[Token]:
    found = words.of(text)
    return [(found[0], found[1])] if len(found) == 2 else []


LENGTHS = ImportRule("long words", rules.nothing, "only their length is known")
RULES = {
    "skip:": LENGTHS,
    "subject:skip:": LENGTHS,
    "subject:": ImportRule("Subject", rules.header("subject")),
    **{f"{name}:addr:": ImportRule("addresses", rules.addresses(name)) for name in ADDRESSED},
    **{f"{name}:name:": ImportRule("names", rules.header(name)) for name in ADDRESSED},
    **{
        f"{name}:": ImportRule("forms of addresses", rules.nothing, rules.NOTHING_ALIKE) for name in ADDRESSED
    },
    "message-id:": ImportRule("Message-Id", rules.header("message-id")),
    "x-mailer:": ImportRule("X-Mailer", rules.header("x-mailer")),
    "received:": ImportRule("Received", rules.header("received"), "no host"),
    "header:": ImportRule("headers there are", counted_header, "no evidence here"),
    "noheader:": ImportRule("headers there are not", rules.nothing, rules.NOTHING_ALIKE),
    "content-type:": ImportRule("types", rules.tagged("type")),
    "charset:": ImportRule("charsets", rules.tagged("charset")),
    "filename:": ImportRule("file names", rules.nothing, rules.NOTHING_ALIKE),
    "proto:": ImportRule("links", rules.nothing),
    "url:": ImportRule("links", rules.link),
    "email addr:": ImportRule("words", rules.body),
    "email name:": ImportRule("words", rules.body),
    "bi:": ImportRule("pairs", pair, "one of the two is no word"),
    "": ImportRule("words", rules.body),
}
SPAMBAYES = Format("spambayes", recognises, entries, RULES)
