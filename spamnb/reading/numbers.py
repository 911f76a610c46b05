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
    capitals = small = digits = exclamations = addresses = 0
    for text in texts:
        colon = text.find(":")
        while colon >= 0:
            addresses += text.startswith("//", colon + 1)
            colon = text.find(":", colon + 1)
        data = text.encode("utf-8", "replace")
        for letter in data:
            small += 97 <= letter <= 122
            capitals += 65 <= letter <= 90
            digits += 48 <= letter <= 57
            exclamations += letter == 33
        if len(data) > len(text):
            from spamnb.reading.letters import beyond_ascii

            rest: str = beyond_ascii(text)
            for char in rest:
                capitals += char.isupper()
                small += char.islower()
                digits += char.isdecimal()
                exclamations += char == "！"
    return capitals, small + capitals, digits, exclamations, addresses


def hour_of(date: str) -> int | None:
    """Return the hour on the sender's clock, from `Mon, 15 Nov 2026 01:02:03 +0100`."""
    before, colon, _ = date.partition(":")
    hour = before[-2:].strip() if colon else ""
    return int(hour) if hour.isascii() and hour.isdigit() and int(hour) < 24 else None
