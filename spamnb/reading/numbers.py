"""Numeric features of a message: whole numbers, so that their sums can be taken back exactly.

A feature is missing where the mail does not have what it measures.
"""

from __future__ import annotations

# What collections.Counter counts with, in C (see reading.features).
from _collections import _count_elements  # type: ignore[import-not-found]
from math import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.markup import Page
    from spamnb.reading.message import Message

HIGHEST_COUNT = 100  # more links, recipients or exclamation marks count as so many

_KINDS = [bytes(range(ord(a), ord(z) + 1)) for a, z in ("AZ", "az", "09")]  # capitals, small letters, digits


def numbers_of(message: Message, pages: dict[int, Page]) -> dict[str, int]:
    """Return the numeric features of a message; `pages` are its HTML parts by their id()."""
    numbers: dict[str, int] = {}
    size = sum(part.size for part in message.parts)
    if size:
        numbers["size"] = round(10 * log2(size))  # in tenths of a doubling: sizes spread over six decades
    shown = [pages[id(part)].text if id(part) in pages else part.text or "" for part in message.parts]
    text = "".join(shown)
    if text:
        numbers.update(_numbers_of_text(text))
        html = sum(len(page.text) for page in pages.values())
        numbers["html"] = 1000 * html // len(text)  # per mille
        links = sum(len(page.links) for page in pages.values())
        numbers["links"] = min(HIGHEST_COUNT, links + text.count("://"))
    recipients = [value for name, value in message.headers if name in ("to", "cc")]
    if recipients:
        numbers["recipients"] = min(HIGHEST_COUNT, sum(value.count("@") for value in recipients))
    hour = hour_of(message.get("date") or "")
    if hour is not None:
        numbers["hour"] = hour
    return numbers


def _numbers_of_text(text: str) -> dict[str, int]:
    """Return capitals per mille of the letters that have case, digits per mille of all, and exclamations."""
    plain = text.encode("ascii", "ignore")
    # Counted by how much shorter the text is without them: bytes.count would go through it for each letter.
    capitals, small, digits = (len(plain) - len(plain.translate(None, kind)) for kind in _KINDS)
    letters, exclamations = capitals + small, plain.count(b"!")
    if len(plain) < len(text):
        from spamnb.reading.letters import beyond_ascii

        others: dict[str, int] = {}
        _count_elements(others, beyond_ascii(text))
        capitals += sum(times for char, times in others.items() if char.isupper())
        letters += sum(times for char, times in others.items() if char.isupper() or char.islower())
        digits += sum(times for char, times in others.items() if char.isdecimal())
        exclamations += others.get("！", 0)
    numbers = {"capitals": 1000 * capitals // letters} if letters else {}
    numbers["digits"] = 1000 * digits // len(text)
    numbers["exclamations"] = min(HIGHEST_COUNT, exclamations)
    return numbers


def hour_of(date: str) -> int | None:
    """Return the hour on the sender's clock, from `Mon, 15 Nov 2026 01:02:03 +0100`."""
    before, colon, _ = date.partition(":")
    hour = before[-2:].strip() if colon else ""
    return int(hour) if hour.isascii() and hour.isdigit() and int(hour) < 24 else None
