"""Numeric features of a message: whole numbers, so that their sums can be taken back exactly.

A feature is missing where the mail does not have what it measures.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import math  # C's own: see the .pxd

    from spamnb.html.page import Page
    from spamnb.reading.message import Message

ASCII = bytes(range(128))
CAPITALS, DIGITS = bytes(range(65, 91)), bytes(range(48, 58))
LETTERS = CAPITALS + CAPITALS.lower()
HIGHEST_COUNT = 100  # more links, recipients or exclamation marks count as so many


def numbers_of(message: Message, pages: dict[int, Page], texts: list[str]) -> dict[str, int]:
    """Return the numeric features of a message, from its HTML and from the texts that it shows."""
    numbers: dict[str, int] = {}
    size = sum([leaf.size for leaf in message.leaves])
    length = sum([len(text) for text in texts])
    if size:
        numbers["size"] = round(10 * math.log2(size))  # tenths of a doubling: sizes spread over six decades
    if length:
        capitals, letters, digits, exclamations = characters_of(texts)
        addresses = sum([text.count("://") for text in texts])
        if letters:
            numbers["capitals"] = 1000 * capitals // letters  # per mille of the letters that have case
        numbers["digits"] = 1000 * digits // length
        numbers["exclamations"] = min(HIGHEST_COUNT, exclamations)
        numbers["html"] = 1000 * sum([len(page.text) for page in pages.values()]) // length
        links = sum([len(page.links) for page in pages.values()])
        numbers["links"] = min(HIGHEST_COUNT, links + addresses)
    recipients, date = -1, ""
    for name, value in message.headers:
        if len(name) > 4:
            continue
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


def characters_of(texts: list[str]) -> tuple[int, int, int, int]:
    """Count capitals, letters that have case, digits and exclamation marks in texts."""
    capitals = letters = digits = exclamations = 0
    for text in texts:
        data = text.encode("utf-8", "replace")
        size = len(data)
        capitals += size - len(data.translate(None, CAPITALS))
        letters += size - len(data.translate(None, LETTERS))
        digits += size - len(data.translate(None, DIGITS))
        exclamations += data.count(b"!")
        for char in "" if size == len(text) else data.translate(None, ASCII).decode():
            capitals += char.isupper()
            letters += char.isupper() or char.islower()
            digits += char.isdecimal()
            exclamations += char == "！"
    return capitals, letters, digits, exclamations


def hour_of(date: str) -> int | None:
    """Return the hour on the sender's clock, from `Mon, 15 Nov 2026 01:02:03 +0100`."""
    before, colon, _ = date.partition(":")
    hour = before[-2:].strip() if colon else ""
    return int(hour) if hour.isascii() and hour.isdigit() and int(hour) < 24 else None
