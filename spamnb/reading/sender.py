"""The sender of a message: what it says of him, held against itself and against what the server found.

A sender can write any header. The server that receives the message puts its Authentication-Results on top, so
only the topmost is evidence, and its tokens name the server: what a forged one says of a message to which
no server added any was never learned. Those of ARC and of older hops say nothing.

As evidence, From says what a person would see in it; whom to trust is decided in `reading.envelope`.
"""

from __future__ import annotations

from spamnb.reading.features import HEAD, Features, Tag
from spamnb.reading.links import plain_host, registrable

MOST_RESULTS = 20  # read of one header; so many DKIM signatures say no more
MOST_NAME_WORDS = 50  # of a display name
LONGEST_DOMAIN = 80  # characters, of a server's name as well
LONGEST_VERDICT = 20
# By method, how the server names the domain it looked at: of the signature, of the envelope, of From.
METHODS = {"dkim": ("header.d", "header.i"), "spf": ("smtp.mailfrom", "smtp.mail"), "dmarc": ("header.from",)}
UNCLOSED = " ("
READ = frozenset(("from", "reply-to", "to", "authentication-results"))  # headers, the first of each
FROM, AUTH = Tag(b"from:"), Tag(b"auth:")


def add_sender(features: Features, headers: list[tuple[str, str]]) -> None:
    """Count what From says beside Reply-To, and what the server found about it."""
    first: dict[str, str] = {}
    for name, value in headers:
        if name in READ and name not in first:
            first[name] = value
    address = address_in(first.get("from", ""))
    if address and "reply-to" in first:
        answered = address_in(first["reply-to"])
        if "@" not in answered:
            pass
        elif domain_of(answered) == domain_of(address):
            add(features, FROM, "reply-to=same")
        else:  # a mailing list has its answers sent to itself
            to_itself = answered in first.get("to", "").lower()
            add(features, FROM, "reply-to=to" if to_itself else "reply-to=other")
    if "authentication-results" in first:
        add_results(features, first["authentication-results"], domain_of(address))


def add(features: Features, tag: Tag, value: str) -> None:
    data = value.encode("utf-8", "replace")
    features.add(tag, data, 0, len(data), HEAD)


def address_in(value: str) -> str:
    """Return the address of a header, which may stand in angle brackets behind a name."""
    start = value.rfind("<")
    if start >= 0:
        return value[start + 1 :].partition(">")[0].strip().lower()
    for piece in value.split(None, MOST_NAME_WORDS)[:MOST_NAME_WORDS]:
        if "@" in piece:
            return piece.strip("(),;:").lower()
    return ""


def domain_of(address: str) -> str:
    """Return the registered domain of an address; nothing if it has none."""
    at = address.rfind("@")
    return registrable(plain_host(address[at + 1 :][:LONGEST_DOMAIN])) if at >= 0 else ""


def in_ascii(domain: str) -> str:
    """Return a domain as it is in DNS, `xn--…`; one that cannot be there as it is."""
    try:
        return domain if domain.isascii() else domain.encode("idna").decode()
    except UnicodeError:
        return domain


def add_results(features: Features, value: str, domain: str) -> None:
    """Count each method with its result, whether it looked at the sender's domain, and who says so."""
    server, results, _ = results_in(value)
    found = set()
    verified = False
    for result in results[:MOST_RESULTS]:
        method, *properties = spaced_out(result).split() or [""]
        name, _, verdict = method.partition("=")
        if name in METHODS and verdict.isalpha():
            looked_at = set()
            for one in properties:
                key, _, looked = one.partition("=")
                if key in METHODS[name]:
                    looked_at.add(in_ascii(domain_of("@" + looked)))
            aligned = domain != "" and looked_at == {in_ascii(domain)}
            found.add(f"{name}={verdict[:LONGEST_VERDICT]}{',aligned' if aligned else ''},by={server}")
            verified = verified or (aligned and verdict == "pass")
    if verified:
        found.add(f"from=@{domain},by={server}")
    for token in sorted(found):
        add(features, AUTH, token)


def results_in(value: str) -> tuple[str, list[str], bool]:
    """Read Authentication-Results (RFC 8601): the server's domain, each result, if comments are closed."""
    plain = without_comments(value)
    server, *results = plain.split(";")
    if "=" in server:  # Microsoft names no server
        results.insert(0, server)
        server = ""
    elif server.lstrip().startswith('"'):
        server = value.split('"', 2)[1]
    domain = registrable(plain_host(server.strip().partition(" ")[0][:LONGEST_DOMAIN]))
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
    for at in range(len(value)):
        char = value[at]
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
