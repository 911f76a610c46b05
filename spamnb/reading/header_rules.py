"""Rules for headers: what is evidence, and how each is cut into tokens."""

from __future__ import annotations

from spamnb.reading.identity import is_volatile
from spamnb.reading.word_rules import remember

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spamnb.reading.words import Words

    HeaderRule = Callable[[str, str, Words], list[str]]

LONGEST_NAME = 80  # characters of a header's name, an address or a host
MOST_HEADER_WORDS = 200  # read of one header: a To: with ten thousand addresses says no more than fifty do
MOST_REMEMBERED = 4_000  # entries of each memory: of headers, names and hosts
LONGEST_REMEMBERED = 200  # characters of an entry

# Headers that are no evidence, and why; others are in VOLATILE of reading.identity.
IGNORED = {
    "content-type": "read with the parts",
    "content-disposition": "read with the parts",
    "dkim-signature": "random by design",
    "x-google-dkim-signature": "random by design",
    "domainkey-signature": "random by design",
    "arc-seal": "random by design",
    "arc-message-signature": "random by design",
    "arc-authentication-results": "repeats authentication-results",
}

# Names of time zones that a date can end with, in place of +0100.
ZONES = frozenset(
    (
        "UT UTC GMT Z EST EDT CST CDT MST MDT PST PDT AKST AKDT HST AST ADT NST NDT BRT ART WET WEST BST IST "
        "CET CEST MET MEST EET EEST SAST MSK MSD PKT ICT WIB HKT SGT MYT PHT AWST JST KST ACST AEST AEDT NZST"
    ).split()
)


def is_ignored(name: str) -> bool:
    """Tell whether a header is no evidence."""
    # Resent-Date, X-Original-Date … : training mail is older than new mail, and that is all they would tell.
    a_date = name.endswith("date") and name != "date"
    return a_date or name in IGNORED or is_volatile(name)


def header_tokens(headers: list[tuple[str, str]], words: Words) -> list[str]:
    """Return the words of headers, each tagged with its header's name.

    Tokens are remembered: half of all headers were seen before; without those of one message, three in four.
    """
    known = words.known_headers
    tokens: list[str] = []
    for header in headers:
        found = known.get(header)
        tokens += _tokens(header, words) if found is None else found
    return tokens


def _tokens(header: tuple[str, str], words: Words) -> list[str]:
    name, value = header
    rule = _known_rules.get(name) or _rule_of(name)
    if rule is _no_tokens:
        return []
    name = name[:LONGEST_NAME]
    tokens = [f"header:{name}", *rule(name, value, words)]
    if rule not in _OF_ONE_MESSAGE and len(header[0]) + len(value) <= LONGEST_REMEMBERED:
        remember(words.known_headers, header, tokens, MOST_REMEMBERED)
    return tokens


def _rule_of(name: str) -> HeaderRule:
    """Return the rule that cuts headers of a name."""
    rule = _no_tokens if is_ignored(name) else _RULES.get(name, _plain)
    return remember(_known_rules, name, rule, MOST_REMEMBERED) if len(name) <= LONGEST_REMEMBERED else rule


def subject_tokens(value: str, words: Words) -> list[str]:
    """Return the words of a subject and their n-grams."""
    return _subject("subject", value, words)


def subject_words(value: str, words: Words) -> list[str]:
    """Return the words of a subject in order, without n-grams."""
    return _plain("subject", value, words)


def _no_tokens(_name: str, _value: str, _words: Words) -> list[str]:
    return []


def _plain(name: str, value: str, words: Words) -> list[str]:
    return [f"{name}:{word}" for word in words.of(value)[:MOST_HEADER_WORDS]]


def _subject(name: str, value: str, words: Words) -> list[str]:
    return [f"{name}:{gram}" for gram in words.grams(words.of(value)[:MOST_HEADER_WORDS])]


def _addresses(name: str, value: str, words: Words) -> list[str]:
    """Return the words of names, and each address with its domain."""
    tokens = _plain(name, value, words)
    for address in split_at(_ADDRESS_SEPARATORS, value)[:MOST_HEADER_WORDS]:
        if "@" in address and len(address) <= LONGEST_NAME:
            domain = address.rpartition("@")[2]
            tokens += (f"{name}:{address}", f"{name}:@{domain}")
    return tokens


def _hosts(name: str, value: str, _words: Words) -> list[str]:
    """Return the hosts and addresses a message came through, and the domains and networks they lie in."""
    tokens: list[str] = []
    known = _known_hosts.setdefault(name, {})
    route = value.rpartition(";")[0] or value
    for host in split_at(_HOST_SEPARATORS, route)[:MOST_HEADER_WORDS]:
        found = known.get(host)
        if found is None and ("." in host or ":" in host) and len(host) <= LONGEST_NAME:
            found = remember(known, host, _host_tokens(name, host), MOST_REMEMBERED)
        if found:
            tokens += found
    return tokens


def _host_tokens(name: str, host: str) -> list[str]:
    """Return a host with its domain, or an address with its networks; nothing if it is neither."""
    host = host.removeprefix("ipv6:").strip(".")
    groups = host.split(":")
    if ("::" in host or len(groups) == 8) and not host.strip("0123456789abcdef:"):
        return [f"{name}:{host}", f"{name}:{groups[0]}:{groups[1]}:"] if groups[1] else [f"{name}:{host}"]
    if len(groups) > 1:  # a port, a time, helo:host
        return [token for group in groups for token in _host_tokens(name, group)]
    labels = host.split(".")
    if len(labels) == 1 or "" in labels:
        return []
    if len(labels) == 4 and host.replace(".", "").isdigit():
        return [f"{name}:{host}", f"{name}:{labels[0]}.{labels[1]}.", f"{name}:{'.'.join(labels[:3])}."]
    return [f"{name}:{host}", f"{name}:.{labels[-2]}.{labels[-1]}"]


def _domain(name: str, value: str, _words: Words) -> list[str]:
    """Return the host that made an identifier, the last of several; what else it has is random."""
    hosts = [
        word.rpartition("@")[2].strip(".") for word in split_at(_IDENTIFIER_SEPARATORS, value) if "@" in word
    ]
    return [f"{name}:@{hosts[-1][:LONGEST_NAME]}"] if hosts else [f"{name}:none"]


def _zone(name: str, value: str, _words: Words) -> list[str]:
    """Return the zone of a date only: the day tells old mail from new, not ham from spam."""
    words = value.partition("(")[0].split()
    if not words:
        return []
    zone = words[-1]
    numeric = len(zone) == 5 and zone[0] in "+-" and zone.isascii() and zone[1:].isdigit()
    return [f"{name}:{zone}"] if numeric or zone.upper() in ZONES else [f"{name}:none"]


def split_at(separators: bytes, value: str) -> list[str]:
    """Split a header's value, in lower case, by a table of separators; what is not ASCII becomes "?"."""
    return value.encode("ascii", "replace").translate(separators).decode().split()


def _separators(chars: str) -> bytes:
    """Return a table that lowers letters, and makes spaces of `chars` and of all unprintable characters."""
    return bytes(32 if c < 33 or c > 126 or chr(c) in chars else ord(chr(c).lower()) for c in range(256))


_ADDRESS_SEPARATORS = _separators("<>,;:\"'()[]")
_HOST_SEPARATORS = _separators("()[]<>,;=\"'@/")
_IDENTIFIER_SEPARATORS = _separators('<>()"')
_RULES: dict[str, HeaderRule] = {
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
    "date": _zone,
}
_OF_ONE_MESSAGE = (_hosts, _domain, _zone)  # their headers are hardly ever the same in two messages
_known_rules: dict[str, HeaderRule] = {}
_known_hosts: dict[str, dict[str, list[str]]] = {}  # by name of a header (few have hosts), then by host
