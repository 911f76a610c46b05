"""Links as evidence: where they lead."""

from __future__ import annotations

from spamnb.reading.word_rules import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.words import Words

MOST_LINKS = 500  # of one message
LONGEST_LINK = 500  # characters, as below
LONGEST_SCHEME = 10
LONGEST_HOST = 80
MOST_PATH_WORDS = 20
MOST_HOSTS = 4_000  # remembered: five links in six lead to one of them

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NOT_FIRST = "0123456789+-."  # may stand in a scheme, but not at its start
_SCHEME = frozenset(_LETTERS + _NOT_FIRST)
_SCHEME_LETTERS = _LETTERS + _NOT_FIRST
_HEX = frozenset(b"0123456789abcdefABCDEF")
_WWW = ("www.", "WWW.", "Www.")
_NOT_BEFORE_WWW = frozenset("/.@-_%&")


class _LinkEnds(dict[int, int]):
    """A translation table that makes a space of all that ends a link in a text."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        ends = char in "<>\"'`{}|^," or not (char.isascii() or char.isalnum() or is_mark(char))
        return remember(self, code, 32 if ends else code)


def is_mark(char: str) -> bool:
    """Tell whether a character is a combining mark."""
    from unicodedata import category

    return category(char)[0] == "M"


_LINK_ENDS = _LinkEnds()


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
    run = text[at : at + LONGEST_LINK].split(None, 1)[0]
    return run.translate(_LINK_ENDS).partition(" ")[0].rstrip(".;:!?)]")


def link_tokens(links: list[str], words: Words) -> list[str]:
    """Return the tokens of links: host, the domains above it, words of the path, and what is odd."""
    tokens: list[str] = []
    for link in links[:MOST_LINKS]:
        link = link[:LONGEST_LINK].replace("\\", "/")  # as browsers do
        scheme, colon, rest = link.partition(":")
        if link.startswith("//"):
            tokens += _absolute_link("http", link, words)
        elif not colon or not scheme or scheme[0] in _NOT_FIRST or not _SCHEME.issuperset(scheme):
            tokens.append("url:relative")
            for inner in links_in(link):  # /go?to=http://elsewhere
                scheme, _, rest = inner.partition(":")
                tokens += _absolute_link(scheme, rest, words)
        elif rest.startswith("//"):
            tokens += _absolute_link(scheme, rest, words)
        else:
            tokens.append(f"url:{scheme.lower()[:LONGEST_SCHEME]}:")
    return tokens


def _absolute_link(scheme: str, rest: str, words: Words) -> list[str]:
    """Return the tokens of a link with a host; `rest` is what follows the scheme."""
    authority = rest[2:].partition("/")[0].partition("?")[0].partition("#")[0]
    path = rest[2 + len(authority) :]
    where = f"{scheme}:{authority}"
    found = _known_authorities.get(where)
    if found is None:
        found = remember(_known_authorities, where, _authority_tokens(scheme.lower(), authority), MOST_HOSTS)
    if len(path) < 2:
        return found
    return found + [f"url:/{word}" for word in words.of(unquoted(path))[:MOST_PATH_WORDS]]


_known_authorities: dict[str, list[str]] = {}


def _authority_tokens(scheme: str, authority: str) -> list[str]:
    """Return the tokens of what a link has before its path."""
    user, _, host = authority.rpartition("@")
    if host.startswith("["):
        host, _, port = host[1:].partition("]")
    else:
        host, _, port = host.partition(":")
    tokens = []
    if user:
        tokens.append("url:user@")
    if port:
        tokens.append("url:port")
    if scheme not in ("http", "https"):
        tokens.append(f"url:{scheme[:LONGEST_SCHEME]}:")
    return tokens + _host_tokens(plain_host(host))


def _host_tokens(host: str) -> list[str]:
    """Return a host with the domains it lies in, an address with its network."""
    labels = host.split(".")
    if ":" in host:
        return ["url:number", f"url:{host[:LONGEST_HOST]}"]
    if host.replace(".", "").isdigit():
        return ["url:number", f"url:{'.'.join(labels[:2])[:LONGEST_HOST]}.", f"url:{host[:LONGEST_HOST]}"]
    domains = [".".join(labels[-size:]) for size in range(min(4, len(labels)), 0, -1) if labels[-size]]
    return [f"url:{domain[:LONGEST_HOST]}" for domain in domains]


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
