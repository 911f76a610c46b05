"""Single steps of reading mail, in memory: thousands of runs a second, in which the sanitizers do the checks.

The first byte chooses what a message would have said about the rest.
"""

from __future__ import annotations

from spamnb.html.page import render
from spamnb.mailboxes.formats.mbox import messages
from spamnb.reading.encodings.charsets import KNOWN, by_codec
from spamnb.reading.encodings.transfer import undo
from spamnb.reading.features import BODY, MOST_WORDS, NO_TAG, Features
from spamnb.reading.header_rules import RULES, add_header
from spamnb.reading.links import add_links, links_in
from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import GRAM_TEXT

ENCODINGS = ("", "base64", "quoted")
CHARSETS = sorted(KNOWN)
HEADERS = ["x-other", *RULES]
WORDS = [Settings().words(), Settings(ngrams=3, keep_case=True).words()]
SPARE = Features()  # one costs as much as a run


def message(data: bytes) -> None:
    """Headers and parts."""
    read(data)


def decoding(data: bytes) -> None:
    """Transfer encoding and declared charset of a text; `charset` finds others, ten times as slow."""
    first, rest = data[0] if data else 0, data[1:]
    undone = undo(rest, ENCODINGS[first % len(ENCODINGS)])
    by_codec(undone.data, CHARSETS[first // len(ENCODINGS) % len(CHARSETS)])


def words(data: bytes) -> None:
    """Words, neighbours, links and grams of a text, or what a header's value is cut into."""
    first, text = data[0] if data else 0, data[1:].decode("utf-8", "replace")
    cut = WORDS[first > 240]  # n-grams take most of the time of a run
    features = Features() if first > 250 else SPARE
    features.start_anew()
    if first % 2:
        add_header(features, HEADERS[first // 2 % len(HEADERS)], text, cut, True)
    else:
        spaced = cut.spaced(text)
        features.add_words(NO_TAG, spaced, MOST_WORDS, BODY, cut.ngrams, True)
        add_links(features, links_in(text), cut)
        features.add_grams(spaced[:GRAM_TEXT], BODY)


def markup(data: bytes) -> None:
    """A page."""
    render(data.decode("utf-8", "replace"))


def mbox(data: bytes) -> None:
    """Messages of a mailbox."""
    for _ in messages([data]):
        pass
