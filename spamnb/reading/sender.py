"""What headers say of the sender, for `reading.envelope`, which decides whom to trust.

core/sender.pyx makes evidence of the same headers.
"""

from __future__ import annotations

from collections.abc import Iterator

from spamnb.core.native import plain_host_of, registrable_domain

MAX_NAME_WORDS = 50  # of a display name
MAX_DOMAIN = 80  # characters of a server's name
UNCLOSED = " ("
AROUND_ADDRESSES = str.maketrans(dict.fromkeys('<>(),;:"', " "))


def address_in(value: str) -> str:
    """Return the address of a header, which may stand in angle brackets behind a name."""
    start = value.rfind("<")
    if start >= 0:
        return value[start + 1 :].partition(">")[0].strip().lower()
    for piece in value.split(None, MAX_NAME_WORDS)[:MAX_NAME_WORDS]:
        if "@" in piece:
            return piece.strip("(),;:").lower()
    return ""


def addresses_in(value: str) -> Iterator[str]:
    """Yield all addresses in a header, with their domains as in DNS."""
    for word in value.translate(AROUND_ADDRESSES).lower().split():
        local, at, domain = word.rpartition("@")
        if local and domain and word.isprintable():
            yield local + at + in_ascii(domain.rstrip("."))


def in_ascii(domain: str) -> str:
    """Return a domain as it is in DNS, `xn--…`; one that cannot be there as it is."""
    try:
        return domain if domain.isascii() else domain.encode("idna").decode()
    except UnicodeError:
        return domain


def results_in(value: str) -> tuple[str, list[str], bool]:
    """Read Authentication-Results (RFC 8601): the server's domain, each result, if comments are closed."""
    plain = without_comments(value)
    server, *results = plain.split(";")
    if "=" in server:  # Microsoft names no server
        results.insert(0, server)
        server = ""
    elif server.lstrip().startswith('"'):
        server = value.split('"', 2)[1]
    domain = registrable_domain(plain_host_of(server.strip().partition(" ")[0][:MAX_DOMAIN]))
    return domain, results, not plain.endswith(UNCLOSED)


def spaced_out(result: str) -> str:
    """Return a result in lower case, without spaces around "=" and "/"."""
    result = " ".join(result.lower().split())
    for sign in "=/":
        result = result.replace(" " + sign, sign).replace(sign + " ", sign)
    return result


def without_comments(value: str) -> str:
    """Return a raw value with a space for each comment, a quote for each quoted string: senders choose these.

    If one is never closed, the end is UNCLOSED.
    """
    if "(" not in value and '"' not in value:
        return value
    kept: list[str] = []
    depth, quoted, escaped, start = 0, False, False, 0
    for at, char in enumerate(value):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = depth > 0 or quoted
        elif quoted:
            if char == '"':
                quoted, start = False, at
        elif char == "(":
            if not depth:
                kept.append(value[start:at])
            depth += 1
        elif char == ")" and depth:
            depth -= 1
            if not depth:
                kept.append(" ")
                start = at + 1
        elif char == '"' and not depth:
            kept.append(value[start:at])
            quoted = True
    kept.append(UNCLOSED if depth or quoted else value[start:])
    return "".join(kept)
