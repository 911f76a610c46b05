"""Invitations and other calendar files (RFC 5545): who invites whom, and to what."""

from __future__ import annotations

from spamnb.reading.attachments.contents import Content

MAX_LINES = 20_000
MAX_PEOPLE = 100
LONGEST_ADDRESS = 80
MAX_QUOTED = 20  # colons in quotes before the value of a line

TEXTS = frozenset("SUMMARY DESCRIPTION LOCATION COMMENT CONTACT X-ALT-DESC X-WR-CALNAME".split())
LINKS = frozenset("URL ATTACH CONFERENCE X-GOOGLE-CONFERENCE X-MICROSOFT-SKYPETEAMSMEETINGURL".split())


def read_calendar(source: str) -> Content:
    """Read the texts and links of a calendar; tokens are the organiser and the domains of who is invited."""
    content = Content()
    texts: list[str] = []
    people = 0
    for line in unfolded(source).split("\n", MAX_LINES)[:MAX_LINES]:
        name, parameters, value = parts_of(line)
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
        elif (name == "ORGANIZER" or name == "ATTENDEE") and people < MAX_PEOPLE:
            people += 1
            address = value.strip().lower()[: LONGEST_ADDRESS + 7].removeprefix("mailto:")
            local, at, domain = address.rpartition("@")
            if at and name == "ORGANIZER":
                content.tokens.append(f"organizer:{local}@{domain}")
                content.tokens.append(f"organizer:@{domain}")
                texts.append(common_name(parameters))
            elif at:
                content.tokens.append(f"attendee:@{domain}")
    content.text = "\n".join(texts)
    return content


def unfolded(source: str) -> str:
    """Return a calendar with each long line in one piece."""
    return source.replace("\r\n", "\n").replace("\r", "\n").replace("\n ", "").replace("\n\t", "")


def parts_of(line: str) -> tuple[str, str, str]:
    """Cut a line into its name, parameters and value; a colon in quotes is not the one before the value."""
    colon = line.find(":")
    for _ in range(MAX_QUOTED):
        quote = line.find('"', colon)
        if quote < 0 or line.count('"', 0, colon) % 2 == 0:
            break
        colon = line.find(":", quote)
    if colon < 0:
        return "", "", ""
    name, _, parameters = line[:colon].partition(";")
    return name.strip().upper(), parameters, line[colon + 1 :]


def common_name(parameters: str) -> str:
    _, _, behind = parameters.partition("CN=")
    return behind.partition(";")[0].strip('"')


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
