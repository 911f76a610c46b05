"""What of a message is no evidence, and why."""

from typing import NamedTuple

from spamnb.reading.features import Features
from spamnb.reading.header_rules import IGNORED, is_ignored
from spamnb.reading.identity import VOLATILE
from spamnb.reading.message import Message

HIDDEN = "hidden:"


def ignored_headers(message: Message, are_evidence: bool = True) -> dict[str, str]:
    """The names of the headers that are no evidence, each with the reason."""
    if not are_evidence:
        return dict.fromkeys((name for name, _ in message.headers), "the model reads no headers")
    return {name: why_ignored(name) for name, _ in message.headers if is_ignored(name)}


def why_ignored(name: str) -> str:
    """The reason why a header is no evidence."""
    for known, why in (VOLATILE | IGNORED).items():
        if name == known or (known.startswith("x-") and name.startswith(known + "-")):
            return why
    return "a filter's verdict" if "spam" in name else "a date tells old mail from new, not ham from spam"


def ignored_parts(message: Message) -> dict[str, str]:
    """The parts that are no text, by name or type, each with a remark."""
    return {
        part.filename
        or part.content_type: f"{part.size:,} bytes, not a text; only its name and type are read"
        for part in message.leaves
        if part.text is None and part.size
    }


def hidden_words(features: Features) -> list[str]:
    """Words that a reader does not see: they count as such only, not as words of the body."""
    return [token[len(HIDDEN) :] for token in features.texts.values() if token.startswith(HIDDEN)]


def with_reasons(ignored: dict[str, str]) -> list[str]:
    return [f"{name} ({reason})" for name, reason in ignored.items()]


class IgnoredKind(NamedTuple):
    """A kind of evidence that did not count: its name, why, how many there are, and examples."""

    name: str
    why: str
    total: int
    examples: list[str]
