"""Tokenizer: makes features of a message, which are tokens of head and body, texts, and a few numbers."""

from __future__ import annotations

from spamnb.reading.features import BODY, HEAD, MOST_WORDS, NO_LIMIT, NO_TAG, Features, Tag
from spamnb.reading.header_rules import MOST_HEADER_WORDS, add_header, is_read
from spamnb.reading.links import MOST_LINKS, add_links, links_in
from spamnb.reading.message import EMBEDDED, shares
from spamnb.reading.sender import add_sender
from spamnb.reading.words import plain_typography, word_count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.html.page import Page
    from spamnb.reading import unchecked  # C: unchecked.pxd
    from spamnb.reading.message import Leaf, Message
    from spamnb.reading.settings import Settings

# Tokens of one message, n-grams included: a flood neither bloats the model nor slows others. With those of
# five other kinds there are less than 2^16, so that two bytes hold how often any occurs (`reading/batch.py`).
MOST_TOKENS = 30_000
# Tokens of headers, leaves, tags, links, hidden words, each. Texts have the rest, so no kind hides another.
MOST_OF_A_KIND = 4_000
MOST_OF_ONE_TAG = 1000  # occurrences of an HTML tag that are counted, after its first
# Bytes of the head, and of the texts, that grams are taken from. (1-AUC)% by half splits of spamassassin:
# 0.0149 without grams, 0.0110 with those of 1,500 and 1,500 bytes, 0.0113 of the first 3,000, 0.0126 of the
# first 3,000 of a message as it stands, with its HTML and its encodings.
GRAM_TEXT = 1500
# Characters of one header: long ones are random, and would leave no room for others. Learned from phishing
# and mailing lists of today, tested on csdmc2010: 2.9 without the limit, 2.3 with it.
GRAM_HEADER = 150
SUBJECT, FILE, HIDDEN = Tag(b"subject:"), Tag(b"file:"), Tag(b"hidden:")


class Tokenizer:
    """Cuts messages by the settings of a model."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.words = settings.words()
        self._numbers_of: Callable[..., dict[str, int]] | None = None

    def features(self, message: Message, numbers: bool = True, spare: Features | None = None) -> Features:
        """Return all features of a message, up to the most it may bring; its numbers if they are wanted.

        They are put into `spare`, if there is one that nobody uses any more.
        """
        features = spare or Features()
        features.start_anew()
        if self.settings.headers:
            self._add_head(features, message)
        pages = pages_of(message)
        texts: list[str] = []
        links: list[list[str]] = []
        features.left = MOST_OF_A_KIND
        for leaf in message.leaves:
            self._add_leaf(features, leaf)
            page = pages.get(id(leaf))
            text = leaf.text if page is None else page.text
            if page is not None:
                links += (page.links, page.images)
            if leaf.content is not None:
                links.append(leaf.content.links)
            if text:
                plain = text if text.isascii() else plain_typography(text)
                texts.append(plain)
                links.append(links_in(plain))
        if pages:
            self._add_pages(features, list(pages.values()))
        features.left = MOST_OF_A_KIND
        for which, most in shares([len(run) for run in links], MOST_LINKS):
            add_links(features, links[which][:most], self.words)
        if pages:
            # (1-AUC)% on bodies of phishing: 0.0344, without hidden words as evidence 0.0359.
            hidden = [self.words.spaced(page.hidden) for page in pages.values()]
            self._add_texts(features, HIDDEN, hidden, MOST_OF_A_KIND, 1, False)
        spaced = [self.words.spaced(text) for text in texts]
        ngrams = self.words.ngrams
        self._add_texts(features, NO_TAG, spaced, (MOST_TOKENS - features.added) // ngrams, ngrams, True)
        if self.settings.grams:
            features.add_grams(self._head_of_grams(message), HEAD)
            features.add_grams(gram_text(spaced), BODY)
        features.numbers = {}
        if numbers:
            if self._numbers_of is None:
                from spamnb.reading.numbers import numbers_of  # the default view has no use for them

                self._numbers_of = numbers_of
            features.numbers = self._numbers_of(message, pages, texts)
        return features

    def _head_of_grams(self, message: Message) -> bytes:
        """Return the headers that are evidence, decoded, up to what grams are taken from.

        But for the first Received: the receiving server writes it, and a milter does not see it.
        """
        most, most_of_one = GRAM_TEXT, GRAM_HEADER
        head, size, is_sent = bytearray(most), 0, False
        if self.settings.headers:
            for name, value in message.headers:
                if size >= most:
                    break
                if not is_sent and name == "received":
                    is_sent = True
                elif is_read(name):
                    size = put(head, size, name, most)
                    size = put(head, size, ": ", 2)
                    size = put(head, size, value, most_of_one)
                    size = put(head, size, "\n", 1)
        return bytes(head[:size])

    def _add_head(self, features: Features, message: Message) -> None:
        """Count the tokens of the headers, and the subjects of embedded messages."""
        features.left = MOST_OF_A_KIND + 1
        self._add_headers(features, message, True)
        if not features.left:  # the subject stays, wherever it stands among the headers
            subject = self.words.spaced(message.get("subject") or "")
            features.start_anew()
            features.left = MOST_OF_A_KIND
            features.add_words(SUBJECT, subject, MOST_HEADER_WORDS, HEAD, 1, True)
            self._add_headers(features, message, False)

    def _add_headers(self, features: Features, message: Message, paired: bool) -> None:
        """Count the tokens of the headers; neighbours in the first subject are to be paired, or none."""
        add_sender(features, message.headers)
        for name, value in message.headers:
            a_subject = len(name) == 7 and name == "subject"
            add_header(features, name, value, self.words, paired and a_subject)
            paired = paired and not a_subject
        for leaf in message.leaves:
            if leaf.content_type == EMBEDDED:
                for name, value in leaf.headers:
                    if name == "subject":
                        subject, ngrams = self.words.spaced(value), self.words.ngrams
                        features.add_words(SUBJECT, subject, MOST_HEADER_WORDS, HEAD, ngrams)

    def _add_leaf(self, features: Features, leaf: Leaf) -> None:
        """Count tokens of a leaf's type and charset, and of the name of an attachment and what is in it."""
        if leaf.content_type:
            features.add_token("type:" + printable(leaf.content_type[:60]), BODY)
        if leaf.charset:
            features.add_token("charset:" + printable(leaf.charset[:30]), BODY)
        if leaf.filename:
            self._add_file(features, leaf.filename)
        if leaf.content is not None:
            for name in leaf.content.names:
                self._add_file(features, name)

    def _add_file(self, features: Features, name: str) -> None:
        """Count the words of the name of a file, and its ending."""
        stem, dot, ending = name.rpartition(".")
        features.add_words(FILE, self.words.spaced(stem if dot else ending), MOST_WORDS, BODY)
        if dot:
            features.add_token("file:." + printable(ending[:12].lower()), BODY)

    def _add_pages(self, features: Features, pages: list[Page]) -> None:
        """Count the tags of each page once, and only then the repeated ones: a flood hides no other."""
        features.left = MOST_OF_A_KIND
        for page in pages:
            # (1-AUC)% on bodies of csdmc2010: 0.0053, without tags 0.0095.
            for tag in page.tags:
                features.add_token("html:" + printable(tag), BODY)
            for tag, times in page.tags.items():
                if times > 1:
                    features.add_token("html:" + printable(tag), BODY, min(times - 1, MOST_OF_ONE_TAG))

    def _add_texts(
        self, features: Features, tag: Tag, texts: list[bytes], most: int, ngrams: int, paired: bool
    ) -> None:
        """Count the words of texts, the long ones cut, `most` words in all."""
        features.left = NO_LIMIT
        sizes = [len(text) for text in texts]
        if sum(sizes) > most:  # a text has no more words than bytes
            sizes = [word_count(text) for text in texts]
        for which, share in shares(sizes, most):
            features.add_words(tag, texts[which], min(share, MOST_WORDS), BODY, ngrams, paired)


def put(head: bytearray, at: int, text: str, most: int) -> int:
    """Put the first characters of a text at an offset, as far as there is room; return where they end."""
    to, room = head, len(head) - at
    if text.isascii():
        size = min(len(text), most, room)
        unchecked.copy(to, at, unchecked.letters(text), size)
    else:
        data = text[:most].encode("utf-8", "replace")
        size = min(len(data), room)
        unchecked.copy(to, at, data, size)
    return at + size


def gram_text(spaced: list[bytes]) -> bytes:
    """Return the beginning of the texts; if more than half of it is spaces, of their words alone."""
    text = b" ".join(spaced)
    start = text[:GRAM_TEXT]
    return start if 2 * start.count(b" ") <= GRAM_TEXT else b" ".join(text.split(None, GRAM_TEXT))[:GRAM_TEXT]


def pages_of(message: Message) -> dict[int, Page]:
    """Return HTML as a reader sees it, by the id() of its leaf."""
    html_leaves = [leaf for leaf in message.leaves if leaf.text and is_html(leaf)]
    if not html_leaves:
        return {}
    from spamnb.html.page import MAX_WORK, render  # plain mail has no use for it

    share = MAX_WORK // len(html_leaves)  # so that no page takes that of another
    return {id(leaf): render(leaf.text or "", share) for leaf in html_leaves}


def is_html(leaf: Leaf) -> bool:
    if leaf.content is not None:
        return leaf.content.is_html
    return leaf.content_type in ("text/html", "application/xhtml+xml")


def printable(text: str) -> str:
    """Return a text without spaces, and without what no terminal should be sent."""
    if text.isprintable() and " " not in text:
        return text
    return "".join([char for char in text if char.isprintable() and char != " "])
