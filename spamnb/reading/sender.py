"""The sender of a message: what it says of him, held against itself and against what the server found.

A sender can write any header. The server that receives the message puts its Authentication-Results on top, so
only the topmost says anything, and its tokens name the server: what a forged one says of a message to which
no server added any was never learned. Those of ARC and of older hops say nothing.
"""

from __future__ import annotations

from spamnb.reading.features import HEAD, Features, Tag
from spamnb.reading.links import plain_host, registrable, shown_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.words import Words

MOST_RESULTS = 20  # read of one header; so many DKIM signatures say no more
MOST_NAME_WORDS = 50  # of a display name
LONGEST_DOMAIN = 80  # characters, of a server's name as well
LONGEST_VERDICT = 20
# By method, how the server names the domain it looked at: of the signature, of the envelope, of From.
METHODS = {
    "dkim": ("header.d", "header.i"),
    "spf": ("smtp.mailfrom", "smtp.mail"),
    "dmarc": ("header.from",),
}
# Names that spam likes to be from. They count where the sender's domain does not have them.
KNOWN_NAMES = frozenset(
    (
        "adobe amazon americanexpress aol apple bankofamerica chase citibank coinbase costco dhl docusign "
        "dropbox ebay facebook fedex google hsbc icloud instagram linkedin mcafee metamask microsoft "
        "netflix norton office365 onedrive outlook paypal santander sharepoint spotify twitter ups usps visa "
        "walmart wellsfargo whatsapp yahoo"
    ).split()
)
FROM, AUTH = Tag(b"from:"), Tag(b"auth:")


def add_sender(features: Features, headers: list[tuple[str, str]], words: Words) -> None:
    """Count what From says beside Reply-To and its own display name, and what the server found about it."""
    sender = reply_to = to = results = None
    for name, value in headers:
        if name == "from":
            sender = value if sender is None else sender
        elif name == "reply-to":
            reply_to = value if reply_to is None else reply_to
        elif name == "to":
            to = value if to is None else to
        elif name == "authentication-results":
            results = value if results is None else results
    domain = ""
    if sender is not None:
        shown, address = name_and_address(sender)
        domain = domain_of(address)
        if domain and shown:
            add_display_name(features, words.of(shown), shown, address, domain)
        if domain and reply_to is not None:
            answered = name_and_address(reply_to)[1]
            if domain_of(answered) == domain:
                add(features, FROM, "reply-to=same")
            elif "@" in answered:  # a mailing list has its answers sent to itself
                add(features, FROM, "reply-to=to" if to and answered in to.lower() else "reply-to=other")
    if results is not None:
        add_results(features, results, domain)


def add(features: Features, tag: Tag, value: str) -> None:
    data = value.encode("utf-8", "replace")
    features.add(tag, data, 0, len(data), HEAD)


def name_and_address(value: str) -> tuple[str, str]:
    """Return the name that a header shows, and the address, which may stand in angle brackets."""
    start = value.rfind("<")
    if start >= 0:
        return value[:start], value[start + 1 :].partition(">")[0].strip().lower()
    for piece in value.split(None, MOST_NAME_WORDS)[:MOST_NAME_WORDS]:
        if "@" in piece:
            return value.replace(piece, " ", 1), piece.strip("(),;:").lower()
    return value, ""


def domain_of(address: str) -> str:
    """Return the registered domain of an address; nothing if it has none."""
    at = address.rfind("@")
    return registrable(plain_host(address[at + 1 :][:LONGEST_DOMAIN])) if at >= 0 else ""


def add_display_name(
    features: Features, names: list[str], shown: str, address: str, domain: str
) -> None:
    """Count that a display name shows the address, the domain or the name of somebody else."""
    found = set()
    for piece in shown.replace('"', " ").replace("'", " ").split(None, MOST_NAME_WORDS)[:MOST_NAME_WORDS]:
        piece = piece.strip("<>()[],;:").lower()
        if "@" in piece:
            other = domain_of(piece)
            if "." in other and piece != address:
                found.add("name=address" if other == domain else "name=other-address")
        elif "." in piece:
            host = shown_host(piece)
            if host and registrable(host) != domain:
                found.add("name=other-domain")
    for name in names[:MOST_NAME_WORDS]:
        if name.lower() in KNOWN_NAMES and name.lower() != domain.partition(".")[0]:
            found.add("name=known")
    for token in sorted(found):
        add(features, FROM, token)


def add_results(features: Features, value: str, domain: str) -> None:
    """Count each method with its result, whether it looked at the sender's domain, and who says so."""
    server, *results = without_comments(value).split(";", MOST_RESULTS + 1)
    if "=" in server:  # Microsoft names no server
        results.insert(0, server)
        server = ""
    server = registrable(plain_host(server.strip().partition(" ")[0][:LONGEST_DOMAIN]))
    found = set()
    verified = False
    for result in results[:MOST_RESULTS]:
        method, *properties = result.lower().split() or [""]
        name, _, verdict = method.partition("=")
        if name in METHODS and verdict.isalpha():
            looked_at = set()
            for one in properties:
                key, _, looked = one.partition("=")
                if key in METHODS[name]:
                    looked_at.add(domain_of("@" + looked))
            aligned = domain != "" and looked_at == {domain}
            found.add(f"{name}={verdict[:LONGEST_VERDICT]}{',aligned' if aligned else ''},by={server}")
            verified = verified or (aligned and verdict == "pass")
    if verified:
        found.add(f"from=@{domain},by={server}")
    for token in sorted(found):
        add(features, AUTH, token)


def without_comments(value: str) -> str:
    """Return a header's value without what stands in round brackets or in quotes: senders choose that."""
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
                quoted, start = False, at + 1
        elif char == "(":
            if not depth:
                kept.append(value[start:at])
            depth += 1
        elif char == ")":
            if depth == 1:
                start = at + 1
            depth = max(0, depth - 1)
        elif char == '"' and not depth:
            kept.append(value[start:at])
            quoted = True
    if not depth and not quoted:
        kept.append(value[start:])
    return "".join(kept)
