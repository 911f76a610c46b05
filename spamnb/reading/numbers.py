"""Numeric features of a message: whole numbers, so that their sums can be taken back exactly.

A feature is missing where the mail does not have what it measures.
"""

from __future__ import annotations

from math import log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.markup import Page
    from spamnb.reading.message import Message

HIGHEST_COUNT = 100  # more links, recipients or exclamation marks count as so many


def numbers_of(message: Message, pages: dict[int, Page]) -> dict[str, int]:
    """Return the numeric features of a message; `pages` are its HTML parts by their id()."""
    numbers: dict[str, int] = {}
    size = length = 0
    shown: list[str] = []
    for part in message.parts:
        size += part.size
        text = pages[id(part)].text if id(part) in pages else part.text
        if text:
            shown.append(text)
            length += len(text)
    if size:
        numbers["size"] = round(10 * log2(size))  # in tenths of a doubling: sizes spread over six decades
    if length:
        capitals, letters, digits, exclamations, addresses = characters_of(shown)
        if letters:
            numbers["capitals"] = 1000 * capitals // letters  # per mille of the letters that have case
        numbers["digits"] = 1000 * digits // length
        numbers["exclamations"] = min(HIGHEST_COUNT, exclamations)
        numbers["html"] = 1000 * sum([len(page.text) for page in pages.values()]) // length
        links = sum([len(page.links) for page in pages.values()])
        numbers["links"] = min(HIGHEST_COUNT, links + addresses)
    recipients, date = -1, ""
    for name, value in message.headers:
        if name == "to" or name == "cc":
            recipients = max(recipients, 0) + value.count("@")
        elif name == "date":
            date = date or value
    if recipients >= 0:
        numbers["recipients"] = min(HIGHEST_COUNT, recipients)
    hour = hour_of(date)
    if hour is not None:
        numbers["hour"] = hour
    return numbers


def characters_of(texts: list[str]) -> tuple[int, int, int, int, int]:
    """Count capitals, letters that have case, digits, exclamation marks, and `://` in texts."""
    capitals = letters = digits = exclamations = addresses = 0
    for text in texts:
        addresses += text.count("://")
        for char in text:
            if "a" <= char <= "z":
                letters += 1
            elif "A" <= char <= "Z":
                letters += 1
                capitals += 1
            elif "0" <= char <= "9":
                digits += 1
            elif char == "!" or char == "！":
                exclamations += 1
            elif char >= "\x80":
                if char.isupper():
                    letters += 1
                    capitals += 1
                elif char.islower():
                    letters += 1
                elif char.isdecimal():
                    digits += 1
    return capitals, letters, digits, exclamations, addresses


def hour_of(date: str) -> int | None:
    """Return the hour on the sender's clock, from `Mon, 15 Nov 2026 01:02:03 +0100`."""
    before, colon, _ = date.partition(":")
    hour = before[-2:].strip() if colon else ""
    return int(hour) if hour.isascii() and hour.isdigit() and int(hour) < 24 else None
