"""Which headers are evidence, and how each is cut into tokens."""

from __future__ import annotations

from spamnb.mail.identity import is_volatile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.tokens.words import Words

LONGEST_NAME = 80  # characters of an address or host
MOST_HEADER_WORDS = 200  # of one header; To: with ten thousand addresses says no more than with fifty

# Beside those that come and go (mail.identity).
IGNORED = {
    "content-type": "read with the parts",
    "content-disposition": "read with the parts",
    "date": "only its zone and hour are evidence: training mail is older than what is judged",
    "resent-date": "as date",
    "dkim-signature": "random by design",
    "x-google-dkim-signature": "random by design",
    "domainkey-signature": "random by design",
    "arc-seal": "random by design",
    "arc-message-signature": "random by design",
    "arc-authentication-results": "repeats authentication-results",
}


def ignored(name: str) -> bool:
    return name in IGNORED or is_volatile(name)


def header_tokens(headers: list[tuple[str, str]], words: Words) -> list[str]:
    """Words of the headers, each tagged with its header's name."""
    tokens: list[str] = []
    for name, value in headers:
        if name == "date":
            tokens += _zone(value)
        elif not ignored(name):
            tokens.append(f"header:{name}")
            tokens += _RULES.get(name, _plain)(name, value, words)
    return tokens


def _plain(name: str, value: str, words: Words) -> list[str]:
    return [f"{name}:{word}" for word in words.of(value)[:MOST_HEADER_WORDS]]


def _subject(name: str, value: str, words: Words) -> list[str]:
    return [f"{name}:{gram}" for gram in words.grams(words.of(value)[:MOST_HEADER_WORDS])]


def _addresses(name: str, value: str, words: Words) -> list[str]:
    """The words of the names, and each address with its domain."""
    tokens = _plain(name, value, words)
    for address in cut(value, _ADDRESS_ENDS)[:MOST_HEADER_WORDS]:
        if "@" in address and len(address) <= LONGEST_NAME:
            domain = address.rpartition("@")[2]
            tokens += (f"{name}:{address}", f"{name}:@{domain}")
    return tokens


def _hosts(name: str, value: str, _words: Words) -> list[str]:
    """Hosts and addresses a message came through, and the domains and networks they lie in."""
    tokens = []
    route = value.rpartition(";")[0] or value
    for host in cut(route, _HOST_ENDS)[:MOST_HEADER_WORDS]:
        if "." not in host or len(host) > LONGEST_NAME:
            continue
        labels = host.strip(".").split(".")
        tokens.append(f"{name}:{host}")
        if len(labels) == 4 and host.replace(".", "").isdigit():
            tokens += (f"{name}:{labels[0]}.{labels[1]}.", f"{name}:{'.'.join(labels[:3])}.")
        elif len(labels) > 1:
            tokens.append(f"{name}:.{labels[-2]}.{labels[-1]}")
    return tokens


def _domain(name: str, value: str, _words: Words) -> list[str]:
    """Of an identifier only the host that made it; the rest is random."""
    _, at, host = value.strip("<> ").rpartition("@")
    return [f"{name}:@{host.lower()[:LONGEST_NAME]}"] if at else [f"{name}:none"]


def cut(value: str, ends: bytes) -> list[str]:
    """A header's value, in lower case, cut at certain characters; what is not ASCII does not count."""
    return value.encode("ascii", "replace").translate(ends).decode().split()


def _zone(value: str) -> list[str]:
    zone = value.partition("(")[0].split()[-1:]
    return ["header:date", *(f"date:{part[:8]}" for part in zone)]


def _ends(letters: str) -> bytes:
    """A table that lowers letters and turns some characters, and all that are not printed, into spaces."""
    return bytes(32 if c < 33 or c > 126 or chr(c) in letters else ord(chr(c).lower()) for c in range(256))


_ADDRESS_ENDS = _ends("<>,;:\"'()[]")
_HOST_ENDS = _ends("()[]<>,;:=\"'@/")
_RULES: dict[str, Callable[[str, str, Words], list[str]]] = {
    "subject": _subject,
    "from": _addresses,
    "to": _addresses,
    "cc": _addresses,
    "reply-to": _addresses,
    "sender": _addresses,
    "errors-to": _addresses,
    "received": _hosts,
    "x-originating-ip": _hosts,
    "message-id": _domain,
    "in-reply-to": _domain,
    "references": _domain,
    "resent-message-id": _domain,
}
