"""Links as evidence: where they lead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.tokens.words import Words

MOST_LINKS = 500
LONGEST_LINK = 500

_ENDS = {ord(char): " " for char in "<>\"'`{}|\\^\t\r\n,"}


def links_in(text: str) -> list[str]:
    """The addresses that stand in a plain text."""
    links: list[str] = []
    at = text.find("://")
    while at >= 0 and len(links) < MOST_LINKS:
        scheme = text[max(0, at - 8) : at].translate(_ENDS).rpartition(" ")[2]
        rest = text[at : at + LONGEST_LINK].translate(_ENDS).partition(" ")[0]
        links.append(scheme + rest.rstrip(".;:!?)]"))
        at = text.find("://", at + 3)
    at = text.find("www.")
    while at >= 0 and len(links) < MOST_LINKS:
        if at == 0 or text[at - 1] in " \n\t(<[\"'":
            rest = text[at : at + LONGEST_LINK].translate(_ENDS).partition(" ")[0]
            links.append("http://" + rest.rstrip(".;:!?)]"))
        at = text.find("www.", at + 4)
    return links


def link_tokens(links: list[str], words: Words) -> list[str]:
    """For each link its host, the domains above it, the words of its path, and what is odd about it."""
    tokens: list[str] = []
    for link in links[:MOST_LINKS]:
        scheme, sep, rest = link[:LONGEST_LINK].partition("://")
        if not sep:
            scheme, sep, rest = link[:LONGEST_LINK].partition(":")
            tokens.append(f"url:{scheme.lower()[:10]}:" if sep else "url:relative")
            continue
        authority, _, path = rest.partition("/")
        authority, _, query = authority.partition("?")
        user, _, host = authority.lower().rpartition("@")
        host, _, port = host.partition(":")
        if user:
            tokens.append("url:user@")
        if port:
            tokens.append("url:port")
        if scheme.lower() not in ("http", "https"):
            tokens.append(f"url:{scheme.lower()[:10]}:")
        labels = host.strip(".").split(".")
        if host.replace(".", "").isdigit():
            tokens.append("url:number")
            tokens.append(f"url:{'.'.join(labels[:2])}.")
        tokens += (
            f"url:{'.'.join(labels[start:])[:80]}" for start in range(max(0, len(labels) - 4), len(labels))
        )
        tokens += (f"url:/{word}" for word in words.of(unquoted(path + " " + query))[:20])
    return tokens


def unquoted(text: str) -> str:
    """%41 as A: a path can be written in many ways."""
    if "%" not in text:
        return text
    first, *escaped = text.split("%")
    out = [first]
    for piece in escaped:
        try:
            out.append(chr(int(piece[:2], 16)) + piece[2:])
        except ValueError:
            out.append("%" + piece)
    return "".join(out)
