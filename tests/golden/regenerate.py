"""Rewrite the expected features of the golden messages, to be reviewed as a diff: make golden."""

from pathlib import Path

from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer

FOLDER = Path(__file__).parent


def described(raw: bytes) -> str:
    """The tokens of a message as `count token`, sorted by token; after an empty line its numbers."""
    features = Tokenizer(Settings()).features(read(raw))
    counted = sorted((features.texts[number], times) for number, times, _ in features.tokens)
    tokens = [f"{times} {token}" for token, times in counted]
    numbers = [f"{name} = {value}" for name, value in sorted(features.numbers.items())]
    return "\n".join([*tokens, "", *numbers, ""])


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.eml")):
        path.with_suffix(".tokens").write_text(described(path.read_bytes()), encoding="utf-8", newline="\n")
