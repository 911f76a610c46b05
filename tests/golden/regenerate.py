"""Rewrite the expected features of the golden messages, to be reviewed as a diff: make golden.

The messages beside this file have all their tokens written out. For each of a hundred messages of the corpus,
of as many kinds (charsets, encodings, HTML, attachments), corpus.txt has one line: how many tokens, pairs and
grams there are, and a hash of them.
"""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from spamnb.core.native import Tokenizer, hash_of_message, read
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import chunks
from spamnb.reading.settings import Settings

FOLDER = Path(__file__).parent
MAILBOXES = FOLDER.parent.parent / "corpora" / "spamassassin"
CORPUS = FOLDER / "corpus.txt"


def described(raw: bytes) -> str:
    """The tokens of a message as `count token`, sorted by token; after an empty line its numbers."""
    features = Tokenizer(Settings()).features(read(raw))
    counted = sorted((features.texts[number], times) for number, times, _ in features.tokens)
    tokens = [f"{times} {token}" for token, times in counted]
    numbers = [f"{name} = {value}" for name, value in sorted(features.numbers.items())]
    return "\n".join([*tokens, "", *numbers, ""])


def summed_up(raw: bytes) -> str:
    """One line for a message: its digest, and how many features of each kind it has, with a hash of them."""
    message = read(raw)
    features = Tokenizer(Settings()).features(message)
    kinds: list[list] = [features.tokens, features.pairs, features.grams, list(features.numbers.items())]
    hashes = [blake2b(repr(sorted(kind)).encode(), digest_size=6).hexdigest() for kind in kinds]
    counted = [f"{len(kind)}:{found}" for kind, found in zip(kinds, hashes, strict=True)]
    return " ".join([f"{hash_of_message(message):016x}", *counted])


def corpus_messages(wanted: set[tuple[str, int]]) -> Iterator[tuple[str, int, bytes]]:
    """The messages of the corpus that are named by their mailbox and number."""
    for name in sorted({name for name, _ in wanted}):
        for chunk in chunks([str(MAILBOXES / name)]):
            for raw in chunk.messages():
                if isinstance(raw, RawMessage) and (name, raw.index) in wanted:
                    yield name, raw.index or 0, raw.data


def corpus_lines() -> list[str]:
    """What corpus.txt has to say of its messages."""
    rows = [line.split() for line in CORPUS.read_text().splitlines()]
    wanted = {(name, int(index)) for name, index, *_ in rows}
    return [f"{name} {index} {summed_up(raw)}" for name, index, raw in corpus_messages(wanted)]


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.eml")):
        path.with_suffix(".tokens").write_text(described(path.read_bytes()), encoding="utf-8", newline="\n")
    CORPUS.write_text("\n".join([*corpus_lines(), ""]), encoding="utf-8", newline="\n")
