"""The envelope of a message: who sent it, what it is about, and whether its sender can be trusted.

A From is trusted if its raw value is one mailbox by RFC 5322, and if no mail server of the recipient has
found that it fails DMARC.
"""

from __future__ import annotations

from spamnb.core.native import (
    MAX_FIELDS,
    MAX_HEADER_BYTES,
    authentication_results,
    read_head,
    sender_address,
    uncommented,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.core.native import Message

    Fields = list[tuple[str, str]]

MAX_ADDRESS = 320  # characters, by RFC 5321: 64 before the @, 255 behind it
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_" + "".join(
    map(chr, range(128, 256))
)
IN_DOMAIN = frozenset(LETTERS + ".")
IN_LOCAL_PART = IN_DOMAIN.union("!#$%&'*+/=?^`{|}~")  # the "atext" of RFC 5322
IN_NAME = IN_LOCAL_PART.union(' \t"')  # once quoted strings are but a quote
READ_RAW = ("from", "authentication-results", "message-id", "in-reply-to", "references", "received")
AROUND_ADDRESSES = str.maketrans(dict.fromkeys('<>(),;:"', " "))
CONTROLS = frozenset(map(chr, (*range(9), *range(10, 32), 127)))  # all but the tab


class Envelope:
    """Sender, subject, Message-IDs and route of a message: a small object to send to other processes."""

    __slots__ = (
        "address",
        "answers",
        "is_doubtful",
        "message_id",
        "received",
        "results",
        "sender",
        "subject",
    )

    def __init__(self, fields: Fields, headers: Fields, is_whole: bool) -> None:
        """Use `fields` (raw) and `headers` (decoded); `is_whole`: no program can find another From."""
        raw: dict[str, list[str]] = {name: [] for name in READ_RAW}
        for name, value in fields:
            if name in raw:
                raw[name].append(value)
        shown = {name: value for name, value in reversed(headers) if name in ("from", "subject")}
        senders = raw["from"]
        trusted = sole_address(senders[0]) if len(senders) == 1 and is_whole else ""
        self.sender = shown.get("from", "")  # as a person would see it
        self.address = trusted or sender_address(self.sender)
        self.is_doubtful = not trusted or fails_dmarc(raw["authentication-results"], trusted)
        self.subject = shown.get("subject", "")
        self.received = raw["received"]  # the latest first
        self.answers = " ".join(raw["in-reply-to"] + raw["references"])  # Message-IDs
        self.results = raw["authentication-results"][:1]
        message_id = [*raw["message-id"], ""][0]
        self.message_id = message_id.encode("latin-1").decode("utf-8", "surrogateescape")


def sender_name(sender: str) -> str:
    """Return the name of a sender; the address if there is no name."""
    return sender.partition("<")[0].strip(' "') or sender.strip('" <>')


def sender_once(sender: str) -> str:
    """Return a sender as in From or, if the name only repeats the address, the address alone."""
    name = sender_name(sender)
    return name if sender.partition("<")[2].strip() == f"{name}>" else sender


def envelope_of(message: Message) -> Envelope:
    """Return the envelope of a message that was already read."""
    return _envelope(message, len(message.data))


def read_envelope(raw: bytes) -> Envelope:
    """Read only the header block of a message, and return the message's envelope."""
    return _envelope(read_head(raw), len(raw))


def _envelope(message: Message, size: int) -> Envelope:
    """Return the envelope of a message of `size` bytes, of which `message` may have only the head."""
    fields = message.fields
    if fields is None:
        return Envelope([], [], False)
    return Envelope(fields, message.headers, _is_whole(fields, message.data, message.body, size))


def _is_whole(fields: Fields, data: bytes, body: int, size: int) -> bool:
    """Return whether all of the header block was read, so that no program can find one more From below."""
    has_body = 0 < body < len(data)
    if len(fields) >= MAX_FIELDS or (body if has_body else size) > MAX_HEADER_BYTES:
        return False
    return _is_plain(data[:body] if has_body else data) and (not has_body or data[body - 2 : body] == b"\n\n")


def _is_plain(head: bytes) -> bool:
    """Return whether all programs see the same lines in a header block, and the same From."""
    if b"\r" in head or b"\0" in head:
        return False
    at, lines = 0, b"\n" + head.lower()
    while (at := lines.find(b"\nfrom", at) + 5) > 4:
        behind = lines[at : at + MAX_ADDRESS].lstrip(b" \t\n")
        if not lines.startswith(b":", at) and (not behind or behind.startswith(b":")):
            return False
    return True


def sole_address(value: str) -> str:
    """Return the address in a raw From, in lower case; "" unless there is exactly one address.

    An address in a comment, in quotes or in the display name does not count. Forms that programs read in
    different ways also give "", though valid: quoted local parts, domains in brackets, groups, routes.
    """
    if not CONTROLS.isdisjoint(value):
        return ""
    name, bracket, address = uncommented(value).partition("<")
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
    if len(address) > MAX_ADDRESS or "=?" in address:  # some decode before they parse
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


def fails_dmarc(fields: list[str], address: str = "") -> bool:
    """Return whether the server of the first Authentication-Results in `fields` found that From fails DMARC.

    All headers of that server count, so a forged one cannot hide a failure. A result for a domain other
    than that of `address` is also a failure: the server has read another From.
    """
    domain = "." + in_ascii(address.rpartition("@")[2])
    trusted = None
    for value in fields:
        server, results = authentication_results(value)
        if trusted is None:
            trusted = server
        if server != trusted:
            continue
        if uncommented(value).endswith(" ("):  # the rest cannot be read: assume the worst
            results = authentication_results(value.replace("(", ";").replace('"', ";"))[1]
        for result in results:
            method, _, found = result.partition("=")
            if method.partition("/")[0] == "dmarc":
                looked_at = found.partition("header.from=")[2].partition(" ")[0].strip('".')
                looked_at = in_ascii(looked_at.rpartition("@")[2])
                is_other = address != "" != looked_at and not domain.endswith("." + looked_at)
                if is_other or found.startswith("fail"):
                    return True
    return False


def addresses_in(value: str) -> Iterator[str]:
    """Yield all addresses in a header, with domains in the form that DNS uses (xn--…)."""
    for word in value.translate(AROUND_ADDRESSES).lower().split():
        local, at, domain = word.rpartition("@")
        if local and domain and word.isprintable():
            yield local + at + in_ascii(domain.rstrip("."))


def in_ascii(domain: str) -> str:
    """Return a domain in the form that DNS uses (`xn--…`), or unchanged if it has no such form."""
    try:
        return domain if domain.isascii() else domain.encode("idna").decode()
    except UnicodeError:
        return domain
