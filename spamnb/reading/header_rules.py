"""Rules for headers: what is evidence, and how each is cut into tokens."""

from __future__ import annotations

from spamnb.reading.features import BODY, HEAD, Features, Tag
from spamnb.reading.identity import is_volatile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading import unchecked  # C: unchecked.pxd
    from spamnb.reading.words import Words

LONGEST_NAME = 80  # characters of a header's name, an address or a host
LONGEST_ADDRESS = 320  # bytes of one that is not ASCII, before its letters are made plain
LONGEST_ZONE = 5  # letters of the name of a time zone, which a date can have in place of +0100
MOST_KINDS = 1000  # of headers, remembered; then all are forgotten
MOST_HEADER_WORDS = 200  # read of one header: a To: with ten thousand addresses says no more than fifty do

# Headers that are no evidence, and why; others are in VOLATILE of reading.identity.
IGNORED = {
    "content-type": "read with the parts",
    "content-disposition": "read with the parts",
    "dkim-signature": "random by design",
    "x-google-dkim-signature": "random by design",
    "domainkey-signature": "random by design",
    "arc-seal": "random by design",
    "arc-message-signature": "random by design",
    "authentication-results": "read with the sender",
    "arc-authentication-results": "repeats authentication-results",
}

# Tags of tokens that count as body, also where a header makes them: one called Url makes `url:` tokens.
BODY_TAGS = frozenset(("url", "html", "type", "charset", "file", "hidden"))

# What a header's value is cut into.
NOTHING, WORDS, SUBJECT, ADDRESSES, HOSTS, DOMAIN, ZONE = range(7)
RULES = {
    "subject": SUBJECT,
    "from": ADDRESSES,
    "to": ADDRESSES,
    "cc": ADDRESSES,
    "reply-to": ADDRESSES,
    "sender": ADDRESSES,
    "errors-to": ADDRESSES,
    "received": HOSTS,
    "x-originating-ip": HOSTS,
    "message-id": DOMAIN,
    "in-reply-to": DOMAIN,
    "references": DOMAIN,
    "resent-message-id": DOMAIN,
    "date": ZONE,
}


# Translation tables that lower ASCII letters, and make spaces of separators and what is not printable.
_LOWERED = (33 * b" " + bytes(range(33, 127)) + b" " + bytes(range(128, 256))).lower()
ADDRESS_SEPARATORS = _LOWERED.translate(bytes.maketrans(b"<>,;:\"'()[]", 11 * b" "))
HOST_SEPARATORS = _LOWERED.translate(bytes.maketrans(b"()[]<>,;=\"'@/", 13 * b" "))
IDENTIFIER_SEPARATORS = _LOWERED.translate(bytes.maketrans(b'<>()"', 5 * b" "))
SPACE, AT, COLON, DOT, ZERO, NINE, A, F = b" @:.09af"


def is_ignored(name: str) -> bool:
    """Tell whether a header is no evidence."""
    # Resent-Date, X-Original-Date … : training mail is older than new mail, and that is all they would tell.
    a_date = name.endswith("date") and name != "date"
    return a_date or name in IGNORED or is_volatile(name)


class HeaderKind:
    """Headers of one name: how their values are read, and what their tokens begin with."""

    def __init__(self, name: str) -> None:
        self.rule = RULES.get(name) or (NOTHING if is_ignored(name) else WORDS)
        self.part = BODY if name in BODY_TAGS else HEAD
        short = name[:LONGEST_NAME].encode()
        self.presence = Tag(b"header:" + short)
        self.tag = Tag(short + b":")


_kinds: dict[str, HeaderKind] = {}


def kind_of(name: str) -> HeaderKind:
    kind = _kinds.get(name)
    if kind is None:
        kind = HeaderKind(name)
        if len(_kinds) >= MOST_KINDS:
            _kinds.clear()
        if len(name) <= LONGEST_NAME:
            _kinds[name] = kind
    return kind


def is_read(name: str) -> bool:
    """Tell whether a header is cut into tokens."""
    return kind_of(name).rule != NOTHING


def header_tokens(headers: list[tuple[str, str]], words: Words) -> list[str]:
    """Return the words of headers, each tagged with its header's name, in order."""
    features = Features()
    features.order = []
    for name, value in headers:
        add_header(features, name, value, words)
    return features.in_order()


def add_header(features: Features, name: str, value: str, words: Words, paired: bool = False) -> None:
    """Count the tokens of a header: that it is there, and what its rule makes of its value.

    Neighbours in its value are noted if they are to be `paired`.
    """
    kind = kind_of(name)
    rule, tag = kind.rule, kind.tag
    if rule == NOTHING:
        return
    # (1-AUC)%, learned from spamassassin, tested on csdmc2010: 0.070, without it 0.100.
    features.add(kind.presence, b"", 0, 0, HEAD)
    if rule == HOSTS:
        add_hosts(features, tag, value)
    elif rule == DOMAIN:
        add_domain(features, tag, value)
    elif rule == ZONE:
        add_zone(features, tag, value)
    else:
        ngrams = words.ngrams if rule == SUBJECT else 1
        features.add_words(tag, words.spaced(value), MOST_HEADER_WORDS, kind.part, ngrams, paired)
        if rule == ADDRESSES:
            add_addresses(features, tag, value)


def split_at(separators: bytes, value: str) -> bytes:
    """Return a header's value, in lower case, with spaces for separators; what is not ASCII becomes "?"."""
    if value.isascii():
        return unchecked.translated(value, separators)
    return value.encode("ascii", "replace").translate(separators)


def add_addresses(features: Features, tag: Tag, value: str) -> None:
    """Count each address, and its domain."""
    data = split_at(ADDRESS_SEPARATORS, value) if value.isascii() else international(value)
    source, size, at, left = data, len(data), 0, MOST_HEADER_WORDS
    while at < size and left:
        start = domain = at
        while at < size and source[at] != SPACE:
            if source[at] == AT:
                domain = at + 1
            at += 1
        if domain > start and at - start <= LONGEST_NAME:
            features.add(tag, data, start, at, HEAD)
            features.add(tag, data, domain - 1, at, HEAD)
        left -= at > start
        at += 1


def international(value: str) -> bytes:
    """Return the addresses of a value that is not ASCII, with spaces between them."""
    from spamnb.reading.letters import plain_letters

    pieces = value.encode("utf-8", "replace").translate(ADDRESS_SEPARATORS).split(None, MOST_HEADER_WORDS)
    found = [piece[:LONGEST_ADDRESS].decode("utf-8", "ignore") for piece in pieces if b"@" in piece]
    return " ".join([plain_letters(address).strip(".") for address in found]).encode()


def add_domain(features: Features, tag: Tag, value: str) -> None:
    """Count the host that made an identifier, the last of several; what else it has is random."""
    data = split_at(IDENTIFIER_SEPARATORS, value)
    source, size = data, len(data)
    at = size
    while at > 0 and source[at - 1] != AT:
        at -= 1
    start = end = at
    while end < size and source[end] != SPACE:
        end += 1
    while start < end and source[start] == DOT:
        start += 1
    while start < end and source[end - 1] == DOT:
        end -= 1
    end = min(end, start + LONGEST_NAME)
    if not at:
        features.add(tag, b"none", 0, 4, HEAD)
    elif start == at:
        features.add(tag, data, at - 1, end, HEAD)
    else:
        features.add(tag, b"@" + data[start:end], 0, 1 + end - start, HEAD)


def add_zone(features: Features, tag: Tag, value: str) -> None:
    """Count the zone of a date only: the day tells old mail from new, not ham from spam."""
    # (1-AUC)%, learned from spamassassin, tested on csdmc2010: 0.070, without it 0.084.
    words = value.partition("(")[0].rsplit(None, 1)
    if words:
        zone: str = words[-1]
        numeric = len(zone) == 5 and zone[0] in "+-" and zone.isascii() and zone[1:].isdigit()
        named = len(zone) <= LONGEST_ZONE and zone.isascii() and zone.isalpha()
        known = zone.encode() if numeric or named else b"none"
        features.add(tag, known, 0, len(known), HEAD)


def add_hosts(features: Features, tag: Tag, value: str) -> None:
    """Count the hosts and addresses a message came through, and the domains and networks they lie in."""
    # (1-AUC)% on spamassassin: 0.0192, without hosts 0.0205, without domains and networks 0.0208.
    date = value.rfind(";")
    data = split_at(HOST_SEPARATORS, value)
    source, size, at, left = data, date if date > 0 else len(data), 0, MOST_HEADER_WORDS
    while at < size and left:
        start, marked = at, False
        while at < size and source[at] != SPACE:
            marked = marked or source[at] == DOT or source[at] == COLON
            at += 1
        if marked and at - start <= LONGEST_NAME:
            an_ipv6 = at - start > 5 and data[start + 4] == COLON and data[start : start + 5] == b"ipv6:"
            add_host(features, tag, data, start + 5 if an_ipv6 else start, at)
        left -= at > start
        at += 1


def add_host(features: Features, tag: Tag, data: bytes, start: int, end: int) -> None:
    """Count a host with its domain, or an address with its networks; nothing if it is neither."""
    source = data
    while start < end and source[start] == DOT:
        start += 1
    while start < end and source[end - 1] == DOT:
        end -= 1
    dots = colons = 0
    first = second = before = -1  # the first two dots or colons; the last dot but one
    last = -1
    digits = hexadecimal = True
    gap = doubled = False  # nothing between two dots; two colons in a row
    for at in range(start, end):
        letter = source[at]
        if letter == DOT:
            gap = gap or at == last + 1
            dots += 1
            before, last = last, at
        elif letter == COLON:
            doubled = doubled or (at > start and source[at - 1] == COLON)
            colons += 1
        elif not ZERO <= letter <= NINE:
            digits = False
            hexadecimal = hexadecimal and A <= letter <= F
        if letter in (DOT, COLON):
            hexadecimal = hexadecimal and letter == COLON
            first, second = (at, second) if first < 0 else (first, at if second < 0 else second)
    if colons and hexadecimal and (doubled or colons == 7):
        features.add(tag, data, start, end, HEAD)
        if second > first + 1:
            features.add(tag, data, start, second + 1, HEAD)
    elif colons:  # a port, a time, helo:host
        while start < end:
            stop = data.find(b":", start, end)
            stop = end if stop < 0 else stop
            add_host(features, tag, data, start, stop)
            start = stop + 1
    elif dots and not gap:
        features.add(tag, data, start, end, HEAD)
        if before < 0:
            dotted = b"." + data[start:end]
            features.add(tag, dotted, 0, len(dotted), HEAD)
        elif dots == 3 and digits:
            features.add(tag, data, start, second + 1, HEAD)
            features.add(tag, data, start, last + 1, HEAD)
        else:
            features.add(tag, data, before, end, HEAD)
