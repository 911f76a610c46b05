"""Mail for measurements: random halves, larger mailboxes made of changed copies, hostile messages."""

from __future__ import annotations

import os
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

CORPORA = os.path.join(os.path.dirname(__file__), "..", "corpora")
SPAMASSASSIN, SHORT = os.path.join(CORPORA, "spamassassin"), os.path.join(CORPORA, "short")
LABELS = ("ham", "spam")
ENVELOPE = b"From nobody@example.org Thu Jan  1 00:00:00 1970\n"
MEGABYTE = 1 << 20
# A word of running text, not of a header, a tag or an address; so many are changed in each copy.
TEXT_WORD = re.compile(rb"(?<=[ \n])[a-z]{4,12}(?=[ ,.\n])")
CHANGED_WORDS = 24
LETTERS = b"abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Corpus:
    name: str
    ham: Sequence[bytes]
    spam: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.ham) + len(self.spam)

    @property
    def size(self) -> int:
        return sum(map(len, self.ham)) + sum(map(len, self.spam))

    def of(self, label: str) -> Sequence[bytes]:
        return self.ham if label == "ham" else self.spam

    @classmethod
    def read(cls, name: str, ham: Iterable[str], spam: Iterable[str]) -> Corpus:
        return cls(name, raw_messages(ham), raw_messages(spam))

    @classmethod
    def spamassassin(cls) -> Corpus:
        ham, hard, spam = (
            os.path.join(SPAMASSASSIN, f"{name}.mbox.xz") for name in ("ham", "hard-ham", "spam")
        )
        return cls.read("spamassassin", [ham, hard], [spam])

    @classmethod
    def short(cls) -> Corpus:
        """Return short mail from unknown senders, for testing only."""
        return cls.read("short", *([os.path.join(SHORT, f"{label}.mbox.xz")] for label in LABELS))

    def grown(self, count: int, seed: int = 1) -> Corpus:
        """Return `count` messages, made from these by changing words; the share of spam stays the same."""
        ham = round(count * len(self.ham) / len(self))
        sizes = {"ham": ham, "spam": count - ham}
        made = {label: list(retold(self.of(label), sizes[label], seed)) for label in LABELS}
        return Corpus(f"{self.name}, grown", **made)

    def halves(self, seed: int) -> tuple[Corpus, Corpus]:
        """Return half of each label to train, and half to test, which has one more if their number is odd."""
        order = random.Random(seed)
        first, second = {}, {}
        for label in LABELS:
            shuffled = list(self.of(label))
            order.shuffle(shuffled)
            middle = len(shuffled) // 2
            first[label], second[label] = shuffled[:middle], shuffled[middle:]
        return Corpus(self.name, **first), Corpus(self.name, **second)


def raw_messages(paths: Iterable[str]) -> list[bytes]:
    found = [each.data for each in messages(paths) if isinstance(each, RawMessage)]
    if not found:
        raise SystemExit(f"no messages in {', '.join(paths)}")
    return found


@dataclass(frozen=True)
class Laid:
    """A corpus on disk in both forms that filters need: an mbox per label, and a file per message."""

    folder: str
    count: int

    def mbox(self, label: str) -> str:
        return os.path.join(self.folder, f"{label}.mbox")

    def files(self, label: str) -> str:
        return os.path.join(self.folder, label)

    @property
    def paths(self) -> list[str]:
        """The paths of all message files, ham first."""
        return [os.path.join(folder, name) for folder in map(self.files, LABELS) for name in listed(folder)]

    @property
    def is_spam(self) -> list[bool]:
        return [label == "spam" for label in LABELS for _ in listed(self.files(label))]


def listed(folder: str) -> list[str]:
    return sorted(os.listdir(folder))


def lay_out(corpus: Corpus, folder: str) -> Laid:
    os.makedirs(folder)
    laid = Laid(folder, len(corpus))
    for label in LABELS:
        write_mbox(laid.mbox(label), corpus.of(label))
        os.makedirs(laid.files(label))
        for number, message in enumerate(corpus.of(label)):
            write(os.path.join(laid.files(label), f"{number:06}"), message)
    return laid


def write(path: str, data: bytes) -> str:
    with open(path, "wb") as file:
        file.write(data)
    return path


def write_mbox(path: str, contents: Iterable[bytes]) -> str:
    with open(path, "wb") as file:
        file.writelines(map(mbox_entry, contents))
    return path


def mbox_entry(message: bytes) -> bytes:
    lines = (b">" + line if line.lstrip(b">").startswith(b"From ") else line for line in message.split(b"\n"))
    return ENVELOPE + b"\n".join(lines) + (b"\n" if message.endswith(b"\n") else b"\n\n")


def resampled(contents: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Yield `count` messages chosen at random, with repetitions, each changed so that it is unique.

    A filter that recognises copies would skip them, and without new words every filter would look too good.
    So each message gets a number and 20 new words, as many as the last messages of the corpus have.
    """
    draw = random.Random(seed)
    for number in range(count):
        words = " ".join(f"w{draw.getrandbits(40):x}" for _ in range(20))
        yield b"X-Resampled: %d %s\n%s" % (number, words.encode(), draw.choice(contents))


def retold(contents: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Yield `count` messages: the real ones, then random copies of them in which words are changed.

    In a copy, random words of the text are replaced by made-up words of the same length: 22 new words and 44
    new pairs per message. In the last messages of the SpamAssassin corpus, these are 18 to 28 and 60 to 90.
    """
    draw = random.Random(seed)
    yield from contents[:count]
    for number in range(len(contents), count):
        head, blank, body = draw.choice(contents).partition(b"\n\n")
        words = sorted(set(TEXT_WORD.findall(body)))
        drawn = draw.sample(words, min(CHANGED_WORDS, len(words)))
        changed = {word: bytes(draw.choices(LETTERS, k=len(word))) for word in drawn}
        yield b"X-Copy: %d\n%b%b%b" % (number, head, blank, with_words(body, changed))


def with_words(text: bytes, changed: Mapping[bytes, bytes]) -> bytes:
    return TEXT_WORD.sub(lambda found: changed.get(found[0], found[0]), text)


def hostile() -> dict[str, Callable[[], bytes]]:
    """Return functions that make hostile messages, by name; the messages themselves are large."""
    return {
        "50 MB message": fifty_megabytes,
        "10 MB line": lambda: b"Subject: long\n\n" + b"a" * (10 * MEGABYTE) + b"\n",
        "100,000 headers": lambda: b"".join(b"X-H%d: v%d\n" % (i, i) for i in range(100_000)) + b"\nbody\n",
        "10,000 nested parts": lambda: nested(10_000),
        "slow content type": slow_content_type,
    }


def fifty_megabytes() -> bytes:
    """Return a message whose words do not repeat: the worst case for a table of tokens."""
    draw = random.Random(50)
    lines = (draw.randbytes(400).hex(" ", 4).encode() for _ in range(50 * MEGABYTE // 900))
    return b"Subject: large\n\n" + b"\n".join(lines)


def nested(depth: int) -> bytes:
    parts = (
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(depth)
    )
    return b"Subject: nested\nMIME-Version: 1.0\n" + b"".join(parts) + b"Content-Type: text/plain\n\nhello\n"


def slow_content_type() -> bytes:
    """Return a message with a Content-Type of 14 KB, which the standard library parses for seconds."""
    value = b"text/html; charset=us-ascii" + b"; " * 7000
    return b"Subject: slow\nContent-Type: " + value + b"\n\n<p>buy now</p>\n" * 500
