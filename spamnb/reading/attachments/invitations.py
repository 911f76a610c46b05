"""Invitations and other calendar files (RFC 5545): what they say."""

from __future__ import annotations

from spamnb.reading.attachments.contents import Content

MAX_LINES = 20_000
MAX_QUOTED = 20  # colons in quotes before the value of a line

TEXTS = frozenset("SUMMARY DESCRIPTION LOCATION COMMENT CONTACT X-ALT-DESC X-WR-CALNAME".split())
LINKS = frozenset("URL ATTACH CONFERENCE X-GOOGLE-CONFERENCE X-MICROSOFT-SKYPETEAMSMEETINGURL".split())


def read_calendar(source: str) -> Content:
    """Read the texts and links of a calendar."""
    content = Content()
    texts: list[str] = []
    for line in unfolded(source).split("\n", MAX_LINES)[:MAX_LINES]:
        name, value = parts_of(line)
        if name in TEXTS:
            text = unescaped(value)
            if "</" in text or "<a " in text or "<br" in text:
                from spamnb.html.page import render

                page = render(text)
                text = page.text
                content.links += page.links + page.images
            texts.append(text)
        elif name in LINKS:
            content.links.append(value.strip())
    content.text = "\n".join(texts)
    return content


def unfolded(source: str) -> str:
    """Return a calendar with each long line in one piece."""
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\n ", "").replace("\n\t", "")


def parts_of(line: str) -> tuple[str, str]:
    """Return the name and the value of a line; a colon in quotes is not the one before the value."""
    colon = line.find(":")
    for _ in range(MAX_QUOTED):
        quote = line.find('"', colon)
        if quote < 0 or line.count('"', 0, colon) % 2 == 0:
            break
        colon = line.find(":", quote)
    if colon < 0:
        return "", ""
    return line[:colon].partition(";")[0].strip().upper(), line[colon + 1 :]


def unescaped(value: str) -> str:
    """Undo the escapes of a text."""
    if "\\" not in value:
        return value
    pieces = value.split("\\\\")
    changed = [
        piece.replace("\\n", "\n").replace("\\N", "\n").replace("\\,", ",").replace("\\;", ";")
        for piece in pieces
    ]
    return "\\".join(changed)
