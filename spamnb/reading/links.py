"""Links as evidence: where they lead."""

from __future__ import annotations

from spamnb.reading.features import BODY, Features

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.words import Words

MOST_LINKS = 500  # of one message
LONGEST_LINK = 500  # characters, as below
LONGEST_SCHEME = 10
LONGEST_HOST = 80
MOST_PATH_WORDS = 20
MOST_DOMAINS = 4  # of a host, itself among them

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NOT_FIRST = "0123456789+-."  # may stand in a scheme, but not at its start
_SCHEME_LETTERS = _LETTERS + _NOT_FIRST
_HEX = frozenset(b"0123456789abcdefABCDEF")
_WWW = ("www.", "WWW.", "Www.")
_NOT_BEFORE_WWW = frozenset("/.@-_%&")


# By ASCII character, whether it ends a link in a text.
_ENDS = bytes(chr(c).isspace() or chr(c) in "<>\"'`{}|^," for c in range(128))


def links_in(text: str) -> list[str]:
    """Return the links that stand in a plain text."""
    links: list[str] = []
    at = text.find("://")
    while at >= 0 and len(links) < MOST_LINKS:
        before = text[max(0, at - LONGEST_SCHEME) : at]
        scheme = before[len(before.rstrip(_SCHEME_LETTERS)) :].lstrip(_NOT_FIRST)
        if scheme:
            links.append(scheme + _link_at(text, at))
        at = text.find("://", at + 3)
    for form in _WWW:
        at = text.find(form)
        while at >= 0 and len(links) < MOST_LINKS:
            before = text[at - 1 : at]
            if not (before.isascii() and before.isalnum()) and before not in _NOT_BEFORE_WWW:
                links.append("http://" + _link_at(text, at))
            at = text.find(form, at + 4)
    return links


def _link_at(text: str, at: int) -> str:
    """Return the rest of a link, without the marks of the sentence it stands in."""
    end, stop = at, min(len(text), at + LONGEST_LINK)
    while end < stop:
        char = text[end]
        if _ENDS[ord(char)] if char < "\x80" else not (char.isalnum() or is_mark(char)):
            break
        end += 1
    return text[at:end].rstrip(".;:!?)]")


def is_mark(char: str) -> bool:
    """Tell whether a character is a combining mark."""
    from unicodedata import category

    return category(char)[0] == "M"


def link_tokens(links: list[str], words: Words) -> list[str]:
    """Return the tokens of links, in order."""
    features = Features()
    features.order = []
    add_links(features, links, words)
    return features.in_order()


def add_links(features: Features, links: list[str], words: Words) -> None:
    """Count the tokens of links: host, the domains above it, words of the path, and what is odd."""
    for link in links[:MOST_LINKS]:
        _add_link(features, link[:LONGEST_LINK].replace("\\", "/"), words)  # as browsers do


def _add_link(features: Features, link: str, words: Words) -> None:
    scheme, colon, rest = link.partition(":")
    if link.startswith("//"):
        _add_absolute_link(features, "http", link, words)
    elif not colon or not scheme or scheme[0] in _NOT_FIRST or scheme.strip(_SCHEME_LETTERS):
        features.add_token("url:relative", BODY)
        for inner in links_in(link):  # /go?to=http://elsewhere
            scheme, _, rest = inner.partition(":")
            _add_absolute_link(features, scheme, rest, words)
    elif rest.startswith("//"):
        _add_absolute_link(features, scheme, rest, words)
    else:
        features.add_token(f"url:{scheme.lower()[:LONGEST_SCHEME]}:", BODY)


def _add_absolute_link(features: Features, scheme: str, rest: str, words: Words) -> None:
    """Count the tokens of a link with a host; `rest` is what follows the scheme."""
    end = 2
    while end < len(rest) and rest[end] not in "/?#":
        end += 1
    user, _, host = rest[2:end].rpartition("@")
    if host.startswith("["):
        host, _, port = host[1:].partition("]")
    else:
        host, _, port = host.partition(":")
    if user:
        features.add_token("url:user@", BODY)
    if port:
        features.add_token("url:port", BODY)
    scheme = scheme.lower()
    if scheme not in ("http", "https"):
        features.add_token(f"url:{scheme[:LONGEST_SCHEME]}:", BODY)
    _add_host(features, plain_host(host))
    if len(rest) > end + 1:
        features.add_words(b"url:/", words.spaced(unquoted(rest[end:])), MOST_PATH_WORDS, BODY)


def _add_host(features: Features, host: str) -> None:
    """Count a host with the domains it lies in, an address with its network."""
    a_number = host.replace(".", "").isdigit()
    if ":" in host or a_number:
        features.add_token("url:number", BODY)
        if ":" not in host:
            features.add_token(f"url:{'.'.join(host.split('.')[:2])[:LONGEST_HOST]}.", BODY)
        features.add_token(f"url:{host[:LONGEST_HOST]}", BODY)
        return
    start, dots = len(host), 0
    while start > 0 and dots < MOST_DOMAINS:
        start -= 1
        if host[start] == ".":
            dots += 1
    start += dots == MOST_DOMAINS  # behind the dot
    before = "."
    for at in range(start, len(host)):
        if before == "." and host[at] != ".":
            domain = host[at : at + LONGEST_HOST].encode()
            features.add(b"url:", domain, 0, len(domain), BODY)
        before = host[at]


def plain_host(host: str) -> str:
    """Return a host in its usual form: it can be written in many ways."""
    host = unquoted(host)
    if not host.isascii():
        from unicodedata import normalize

        from spamnb.reading.letters import PLAINER

        host = normalize("NFKC", host.translate(PLAINER)).replace("。", ".")
    if not host.isprintable() or " " in host:
        host = "".join([char for char in host if char.isprintable() and char != " "])
    return host.lower().strip(".")


def unquoted(text: str) -> str:
    """Return a text with %41 as A: a path can be written in many ways."""
    if "%" not in text:
        return text
    first, *escaped = text.encode("utf-8", "replace").split(b"%")
    out = [first]
    for piece in escaped:
        if len(piece) > 1 and _HEX.issuperset(piece[:2]):
            out += (bytes((int(piece[:2], 16),)), piece[2:])
        else:
            out += (b"%", piece)
    return b"".join(out).decode("utf-8", "replace")
