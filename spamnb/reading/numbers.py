"""Numeric features of a message: whole numbers, so that their sums can be taken back exactly.

A feature is missing where the mail does not have what it measures.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import math  # C's own: see the .pxd

    from spamnb.html.page import Page
    from spamnb.reading import unchecked  # C: unchecked.pxd
    from spamnb.reading.message import Message

ASCII = bytes(range(128))
HIGHEST_COUNT = 100  # more links, recipients or exclamation marks count as so many


def numbers_of(message: Message, pages: dict[int, Page], texts: list[str]) -> dict[str, int]:
    """Return the numeric features of a message, from its HTML and from the texts that it shows."""
    numbers: dict[str, int] = {}
    size = sum([leaf.size for leaf in message.leaves])
    length = sum([len(text) for text in texts])
    if size:
        numbers["size"] = round(10 * math.log2(size))  # tenths of a doubling: sizes spread over six decades
    if length:
        capitals, letters, digits, exclamations, addresses = characters_of(texts)
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


def characters_of(texts: list[str]) -> tuple[int, int, int, int, int]:
    """Count capitals, letters that have case, digits, exclamation marks, and `://` in texts."""
    counted = [0, 0, 0, 0]
    addresses = 0
    for text in texts:
        size = len(text)
        colon = unchecked.find(text, ":", 0)  # one character is found many times as fast as three
        while 0 <= colon < size - 2:
            addresses += unchecked.char_at(text, colon + 1) == "/" == unchecked.char_at(text, colon + 2)
            colon = unchecked.find(text, ":", colon + 1)
        if text.isascii():
            add_ascii(counted, unchecked.letters(text), size)
        else:
            data = text.encode("utf-8", "replace")
            add_ascii(counted, data, len(data))
            add_others(counted, data.translate(None, ASCII).decode())
    capitals, letters, digits, exclamations = counted
    return capitals, letters, digits, exclamations, addresses


def add_ascii(counted: list[int], data: bytes, size: int) -> None:
    for start in range(0, size, 240):  # sums of so many are in one byte, and 16 of these are added at once
        capitals = letters = digits = exclamations = 0
        for at in range(start, min(start + 240, size)):
            letter = data[at]
            upper, either, digit = letter - 65 & 255, (letter & 223) - 65 & 255, letter - 48 & 255
            capitals += upper < 26
            letters += either < 26  # in lower case as in upper
            digits += digit < 10
            exclamations += letter == 33
        add(counted, capitals, letters, digits, exclamations)


def add(counted: list[int], capitals: int, letters: int, digits: int, exclamations: int) -> None:
    counted[0] += capitals
    counted[1] += letters
    counted[2] += digits
    counted[3] += exclamations


def add_others(counted: list[int], chars: str) -> None:
    for char in chars:
        counted[0] += char.isupper()
        counted[1] += char.isupper() or char.islower()
        counted[2] += char.isdecimal()
        counted[3] += char == "！"


def hour_of(date: str) -> int | None:
    """Return the hour on the sender's clock, from `Mon, 15 Nov 2026 01:02:03 +0100`."""
    before, colon, _ = date.partition(":")
    hour = before[-2:].strip() if colon else ""
    return int(hour) if hour.isascii() and hour.isdigit() and int(hour) < 24 else None
