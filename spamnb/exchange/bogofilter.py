"""Import bogofilter's word list, as `bogoutil -d wordlist.db` prints it, as the base of a new model.

Mail is learned by that model, never added to the base. bogofilter does not count many of spamnb's features,
so these would have counts of the added mail only: after 20 spam were added, features of all mail looked like
spam, and 66 % of the ham was lost. With enough mail, the model judges without its base (`layers_of`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import BinaryIO

from spamnb.bayes.view import View
from spamnb.clock import today
from spamnb.core.native import CountTable, LearnedMessages, fingerprints_of, header_tokens, link_tokens
from spamnb.errors import CannotCreate, DataError
from spamnb.labels import LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings, Words
from spamnb.store.journal import LAST_DAY
from spamnb.store.merging import Source, merged
from spamnb.store.writing import write_model
from spamnb.training.plan import About, open_if_readable
from spamnb.training.replacing import replace_model
from spamnb.training.writing import put_empty

Carry = Callable[[str, Words], Collection[str]]  # converts a token of bogofilter to spamnb's tokens

# Letters that an imported word must have. bogofilter counts no shorter words, so shorter pieces of its tokens
# would have too low counts: after 100 more spam 0.58 % of the ham was lost with them, 0.14 % without.
MIN_LETTERS = 3
MAX_COUNT = (1 << 31) - 1
MAX_LINE = 64 << 10  # bytes; no token of bogofilter is as long
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
# The list has no scores of messages, so the cutoffs are fixed: they lost about one ham in a thousand of the
# half of spamassassin that bogofilter had not learned. The list has no pairs and no grams, either.
LIMITS = {"cutoffs": [-0.5, 2.5], "calibration": [1.0, 0.0], "misfiled": [0.0, 0.0]}
VIEW = View.from_map({**DEFAULT_VIEW.as_map(), "pairs": False, "grams": False})


def body(text: str, words: Words) -> list[str]:
    return [word for word in words.of(text) if len(word) >= MIN_LETTERS]


def header(name: str) -> Carry:
    """Return a function that converts a word of the header `name` to spamnb's tokens."""

    def carry(text: str, words: Words) -> set[str]:
        tokens = set(header_tokens([(name, text)], words)) - {f"header:{name}"}
        return {token for token in tokens if len(token) >= len(name) + 1 + MIN_LETTERS}

    return carry


def addresses(name: str) -> Carry:
    """Return a function that converts a word of an address to tokens; a word with a dot is a host."""
    plain = header(name)
    return lambda text, words: plain("@" + text if "." in text and "@" not in text else text, words)


def header_name(text: str, words: Words) -> list[str]:
    """Return the token for a header's name that is in HEADERS or begins with X-; [] for any other word."""
    name = text.lower()
    if not name.startswith("x-") and name not in HEADERS:
        return []
    return [token for token in header_tokens([(name, "")], words) if token.startswith("header:")]


def link(text: str, words: Words) -> list[str]:
    """Return the tokens for a piece of a link. A piece with a dot is taken as a host, any other as a path."""
    if "." in text:
        return [*link_tokens([f"http://{text}"], words)]
    return [f"url:/{word}" for word in words.of(text)]


def nothing(_text: str, _words: Words) -> list[str]:
    return []


# For each prefix of bogofilter's tokens: what `import` calls such tokens, and what converts them.
RULES: dict[str, tuple[str, Carry]] = {
    "subj:": ("Subject", header("subject")),
    "from:": ("From", addresses("from")),
    "to:": ("To, Cc", addresses("to")),
    "rcvd:": ("Received", header("received")),
    "rtrn:": ("Return-Path", nothing),  # written at delivery, so not evidence
    "head:": ("other headers", header_name),
    "mime:": ("headers of parts", nothing),
    "url:": ("links", link),
    "": ("words", body),
}


@dataclass
class WordList:
    """The counts of bogofilter's word list, converted to spamnb's tokens, ready to be imported."""

    messages: tuple[int, int] = (0, 0)  # ham and spam
    counts: dict[str, list[int]] = field(default_factory=dict)  # ham, spam, and the day last seen
    carried: dict[str, int] = field(default_factory=dict)  # by name in RULES: how many tokens
    dropped: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str, file: BinaryIO) -> WordList:
        found, words = cls(), Settings().words()
        for number, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), 1):
            token, *numbers = line.rstrip(b"\r\n").split(b" ")
            if len(numbers) not in (2, 3) or not all(len(n) <= 20 and n.isdigit() for n in numbers):
                wanted = "`bogoutil -d`, which writes a token, two counts and a date"
                raise DataError(f"{path}, line {number}: this line is not from {wanted}")
            spam, ham, *day = map(int, numbers)
            if token == MESSAGES:
                found.messages = (ham, spam)
                if max(found.messages) > MAX_COUNT:
                    raise DataError(f"{path}: the list has over {MAX_COUNT:,} messages, too many to import")
            elif token not in ABOUT_THE_FILE:
                found.add(decoded(token), ham, spam, day_of(day[0]) if day else 0, words)
        if not any(found.messages):
            raise DataError(
                f"{path}: has no line .MSG_COUNT with the number of messages; export the list again"
            )
        if not found.counts:
            raise DataError(f"{path}: none of the tokens can be imported; train on your mail instead")
        return found

    def add(self, token: str, ham: int, spam: int, day: int, words: Words) -> None:
        """Convert a token of bogofilter, and add its counts; sum the counts of tokens that become the same.

        On half of spamassassin's corpus, 1 - AUC was 0.043 % with the sum, 0.047 % with the largest count.
        """
        prefix = next(prefix for prefix in RULES if token.startswith(prefix))
        kind, carry = RULES[prefix]
        tokens = carry(token[len(prefix) :], words) if ham or spam else ()
        self.carried[kind] = self.carried.get(kind, 0) + bool(tokens)
        self.dropped[kind] = self.dropped.get(kind, 0) + (not tokens)
        for each in tokens:
            before = self.counts.get(each, [0, 0, 0])
            self.counts[each] = [
                min(before[0] + ham, MAX_COUNT),
                min(before[1] + spam, MAX_COUNT),
                max(before[2], day),
            ]

    def table(self) -> CountTable:
        """Return the counts as a CountTable. How often a message has a token is unknown; once is assumed."""
        table, now = CountTable(LABELS), today()
        table.add_messages([*self.messages])
        for fingerprint, (token, found) in zip(
            fingerprints_of([*self.counts]), self.counts.items(), strict=True
        ):
            *counts, day = found
            messages = [min(count, all_) for count, all_ in zip(counts, self.messages, strict=True)]
            table.add_word(fingerprint, token.encode(), messages, min(day, LAST_DAY) or now)
        return table


def decoded(token: bytes) -> str:
    """Decode a token as UTF-8 or, if that fails, as cp1252: bogofilter may store the bytes of the mail."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return token.decode("cp1252", "replace")


def day_of(written: int) -> int:
    """Convert a date such as 20261115 to days since 1970; return 0 if the number is not a date."""
    try:
        return max(0, (date(written // 10000, written // 100 % 100, written % 100) - EPOCH).days)
    except (ValueError, OverflowError):
        return 0


def make_base(model: str, words: WordList, fresh: bool = False) -> str:
    """Write a word list as a base, and an empty model that uses it; return the path of the base."""
    base = f"{os.path.realpath(model)}.base"
    with Lock(model, kind=TRAINING):
        for path in (model, base):
            if not fresh and os.path.lexists(path):
                raise CannotCreate(f"{path}: already exists; use --fresh to replace it, or another --model")
        total = merged(LABELS, [Source(words.table())], folder=os.path.dirname(base))
        about = About(Settings(), VIEW)
        new = write_model(base, total, LearnedMessages(), {**about.as_map(), **LIMITS})
        replace_model(base, new, open_if_readable(base))
        put_empty(model, LABELS, About(Settings(), base={"path": base}), open_if_readable(model))
    return base
