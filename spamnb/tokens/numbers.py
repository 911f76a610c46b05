"""Numeric features of a message: whole numbers, so that their sums can be taken back exactly.

A feature is missing where the mail does not have what it measures.
"""

from __future__ import annotations

from math import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.mail.markup import Page
    from spamnb.mail.message import Message

_UPPER = bytes(range(65, 91))
_LETTERS = _UPPER + bytes(range(97, 123))
_DIGITS = bytes(range(48, 58))


def measured(message: Message, pages: dict[int, Page]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    size = sum(part.size for part in message.parts)
    if size:
        numbers["size"] = round(10 * log2(size))  # in tenths of a doubling: sizes spread over six decades
    shown = [pages[id(part)].text if id(part) in pages else part.text or "" for part in message.parts]
    text = "".join(shown).encode("ascii", "ignore")
    if text:
        letters = without(text, _LETTERS)
        if letters:
            numbers["capitals"] = 1000 * without(text, _UPPER) // letters  # per mille of the letters
        numbers["digits"] = 1000 * without(text, _DIGITS) // len(text)
        numbers["exclamations"] = min(100, text.count(b"!"))
        html = sum(len(pages[id(part)].text) for part in message.parts if id(part) in pages)
        numbers["html"] = 1000 * html // max(1, sum(map(len, shown)))
        links = sum(len(page.links) for page in pages.values())
        numbers["links"] = min(100, links + text.count(b"://"))
    recipients = [value for name, value in message.headers if name in ("to", "cc")]
    if recipients:
        numbers["recipients"] = min(100, sum(value.count("@") for value in recipients))
    hour = hour_of(message.get("date") or "")
    if hour is not None:
        numbers["hour"] = hour
    return numbers


def without(text: bytes, letters: bytes) -> int:
    """How many of some letters a text has."""
    return len(text) - len(text.translate(None, letters))


def hour_of(date: str) -> int | None:
    """The hour on the sender's clock, from `Mon, 15 Nov 2026 01:02:03 +0100`."""
    hour = date.partition(":")[0][-2:].strip()
    return int(hour) if hour.isascii() and hour.isdigit() and int(hour) < 24 else None
