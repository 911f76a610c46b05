"""The sender of a message: what it says of him, held against itself and against what the server found.

A sender can write any header. The server that receives the message puts its Authentication-Results on top, so
only the topmost is evidence, and its tokens name the server: what a forged one says of a message to which
no server added any was never learned. Those of ARC and of older hops say nothing.

From is read twice. As evidence, it says what a person would see in it. To be trusted, it must be one mailbox
by RFC 5322, read before anything is decoded, and no server of ours may have found that it fails DMARC.
"""

from __future__ import annotations

from spamnb.reading.features import HEAD, Features, Tag
from spamnb.reading.headers import MAX_FIELDS, MAX_HEADER_BYTES, HeaderBlock, canonical, header_start
from spamnb.reading.links import plain_host, registrable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.words import Words

    Head = tuple[str, str, bool]

MOST_RESULTS = 20  # read of one header; so many DKIM signatures say no more
MOST_NAME_WORDS = 50  # of a display name
LONGEST_DOMAIN = 80  # characters, of a server's name as well
LONGEST_VERDICT = 20
LONGEST_ADDRESS = 320  # characters, by RFC 5321: 64 before the @, 255 behind it
# By method, how the server names the domain it looked at: of the signature, of the envelope, of From.
METHODS = {
    "dkim": ("header.d", "header.i"),
    "spf": ("smtp.mailfrom", "smtp.mail"),
    "dmarc": ("header.from",),
}
# Firms in whose name others write.
KNOWN_NAMES = frozenset(
    (
        b"adobe amazon americanexpress aol apple bankofamerica chase citibank coinbase costco dhl docusign "
        b"dropbox ebay facebook fedex google hsbc icloud instagram linkedin mcafee metamask microsoft "
        b"netflix norton office365 onedrive outlook paypal santander sharepoint spotify twitter ups usps "
        b"visa walmart wellsfargo whatsapp yahoo"
    ).split()
)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_" + "".join(
    map(chr, range(128, 256))
)
IN_DOMAIN = frozenset(LETTERS + ".")
IN_LOCAL_PART = IN_DOMAIN.union("!#$%&'*+/=?^`{|}~")  # the "atext" of RFC 5322
IN_NAME = IN_LOCAL_PART.union(' \t"')  # once quoted strings are but a quote
CONTROLS = frozenset(map(chr, (*range(9), *range(10, 32), 127)))  # all but the tab
UNCLOSED = " ("
READ = frozenset(("from", "reply-to", "to", "authentication-results"))  # headers, the first of each
FROM, AUTH = Tag(b"from:"), Tag(b"auth:")


def add_sender(features: Features, headers: list[tuple[str, str]], words: Words) -> None:
    """Count what From says beside Reply-To and its own display name, and what the server found about it."""
    first: dict[str, str] = {}
    for name, value in headers:
        if name in READ and name not in first:
            first[name] = value
    shown, address = name_and_address(first.get("from", ""))
    if shown and address:
        add_display_name(features, shown, words.spaced(shown).split(), address)
    if address and "reply-to" in first:
        answered = name_and_address(first["reply-to"])[1]
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


def name_and_address(value: str) -> tuple[str, str]:
    """Return the name that a header shows, and the address, which may stand in angle brackets."""
    start = value.rfind("<")
    if start >= 0:
        return value[:start], value[start + 1 :].partition(">")[0].strip().lower()
    for piece in value.split(None, MOST_NAME_WORDS)[:MOST_NAME_WORDS]:
        if "@" in piece:
            return value.replace(piece, " ", 1), piece.strip("(),;:").lower()
    return value, ""


def sole_address(value: str) -> str:
    """Return the address of a raw From that has one mailbox and nothing else, in lower case; else nothing.

    What stands in comments, quotes and the display name is no address. Forms that RFC 5322 has but that
    programs read in different ways are nothing, too: quoted local parts, domains in brackets, groups, routes.
    """
    if not CONTROLS.isdisjoint(value):
        return ""
    name, bracket, address = without_comments(value).partition("<")
    if bracket:
        address, bracket, after = address.partition(">")
        if not bracket or after.strip(" \t") or not IN_NAME.issuperset(name):
            return ""
        for word in name.split():  # half an encoded word may swallow what follows
            if "=?" in word and not (word.startswith("=?") and word.endswith("?=") and word.count("?") == 4):
                return ""
    else:
        address = name
    address = address.strip(" \t")
    local, _, domain = address.partition("@")
    for part, letters in ((local, IN_LOCAL_PART), (domain, IN_DOMAIN)):
        if not letters.issuperset(part) or "" in part.split("."):
            return ""
    if len(address) > LONGEST_ADDRESS or "=?" in address:  # some decode before they parse
        return ""
    if not address.isascii():
        try:
            address = address.encode("latin-1").decode()
        except UnicodeDecodeError:
            return ""
        for char in address:  # the Kelvin sign is a "k" in lower case
            if char > "\x7f" and (char != char.lower() or not char.isprintable()):
                return ""
    return address.lower()


def read_head(raw: bytes) -> Head:
    """Return the address in From, the subject, and whether it is doubtful that From tells the truth.

    It is unless From is one mailbox in one field, and if the receiving server found it forged.
    """
    data = canonical(raw[:MAX_HEADER_BYTES])
    start = header_start(data)
    if start < 0:
        return "", "", True
    block = HeaderBlock(start)
    block.read(data, len(data))
    first: dict[str, str] = {}
    for name, value in block.headers:
        first.setdefault(name, value)
    senders = [value for name, value in block.fields if name == "from"]
    results = [value for name, value in block.fields if name == "authentication-results"]
    address = sole_address(senders[0]) if len(senders) == 1 and is_whole(block, data, len(raw)) else ""
    shown = address or name_and_address(first.get("from", ""))[1]
    return shown, first.get("subject", ""), not address or fails_dmarc(results)


def is_whole(block: HeaderBlock, data: bytes, size: int) -> bool:
    """Tell whether all of a header block was read, up to an empty line or the end: no field can follow."""
    if 0 < block.body < len(data):
        return data[block.body - 2 : block.body] in (b"\n\n", b"\r\n")
    return size <= MAX_HEADER_BYTES and len(block.fields) < MAX_FIELDS


def fails_dmarc(fields: list[str]) -> bool:
    """Tell whether the server that wrote the topmost of these raw fields found that From fails DMARC.

    It may have written several. A sender who forges one more gains nothing by it.
    """
    trusted = results_in(fields[0])[0] if fields else ""
    for value in fields:
        server, results = results_in(value)
        if server == trusted:
            if without_comments(value).endswith(UNCLOSED):  # what the rest says cannot be told: the worst
                results = value.replace("(", ";").replace('"', ";").split(";")
            for result in results:
                method, _, found = spaced_out(result).partition("=")
                if method.partition("/")[0] == "dmarc" and found.startswith("fail"):
                    return True
    return False


def domain_of(address: str) -> str:
    """Return the registered domain of an address; nothing if it has none."""
    at = address.rfind("@")
    return registrable(plain_host(address[at + 1 :][:LONGEST_DOMAIN])) if at >= 0 else ""


def add_display_name(features: Features, shown: str, words: list[bytes], address: str) -> None:
    """Count that a display name has another address in it, or the name of a firm whose domain is another.

    Any other domain in it is no evidence: newsletters have them more often than spam.
    """
    if "@" in shown:
        for piece in shown.replace('"', " ").replace("'", " ").split(None, MOST_NAME_WORDS)[:MOST_NAME_WORDS]:
            piece = piece.strip("<>()[],;:").lower()
            if piece != address and "." in domain_of(piece):
                add(features, FROM, "name=address")
                break
    for word in words[:MOST_NAME_WORDS]:
        if word.lower() in KNOWN_NAMES and word.lower().decode() != domain_of(address).partition(".")[0]:
            add(features, FROM, "name=known")
            break


def add_results(features: Features, value: str, domain: str) -> None:
    """Count each method with its result, whether it looked at the sender's domain, and who says so."""
    server, results = results_in(value)
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
                    looked_at.add(domain_of("@" + looked))
            aligned = domain != "" and looked_at == {domain}
            found.add(f"{name}={verdict[:LONGEST_VERDICT]}{',aligned' if aligned else ''},by={server}")
            verified = verified or (aligned and verdict == "pass")
    if verified:
        found.add(f"from=@{domain},by={server}")
    for token in sorted(found):
        add(features, AUTH, token)


def results_in(value: str) -> tuple[str, list[str]]:
    """Return the domain of the server that wrote Authentication-Results (RFC 8601), and each result."""
    server, *results = without_comments(value).split(";")
    if "=" in server:  # Microsoft names no server
        results.insert(0, server)
        server = ""
    elif server.lstrip().startswith('"'):
        server = value.split('"', 2)[1]
    return registrable(plain_host(server.strip().partition(" ")[0][:LONGEST_DOMAIN])), results


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
