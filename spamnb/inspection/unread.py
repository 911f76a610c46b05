"""What of a message is no evidence at all, and why: headers and parts that are not read, text not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.reading.header_rules import IGNORED, is_ignored
from spamnb.reading.identity import VOLATILE

if TYPE_CHECKING:
    from spamnb.reading.features import Features
    from spamnb.reading.message import Message

HIDDEN = "hidden:"


def headers_unread(message: Message, are_evidence: bool = True) -> dict[str, str]:
    """Names of headers, each with the reason."""
    if not are_evidence:
        return dict.fromkeys((name for name, _ in message.headers), "the model reads no headers")
    return {name: why_unread(name) for name, _ in message.headers if is_ignored(name)}


def why_unread(name: str) -> str:
    for known, why in (VOLATILE | IGNORED).items():
        if name == known or (known.startswith("x-") and name.startswith(known + "-")):
            return why
    return "a filter's verdict" if "spam" in name else "a date tells old mail from new, not ham from spam"


def parts_unread(message: Message) -> dict[str, str]:
    """Parts that are no text, by name or type."""
    return {
        part.filename
        or part.content_type: f"{part.size:,} bytes, not a text; only its name and type are read"
        for part in message.parts
        if part.text is None and part.size
    }


def hidden_words(features: Features) -> list[str]:
    """Words that a reader does not see: they count as such only, not as words of the body."""
    return [token[len(HIDDEN) :] for token in dict.fromkeys(features.body) if token.startswith(HIDDEN)]
