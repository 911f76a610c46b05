"""People that the user knows: recipients of the user's mail, those who answer it, and contacts.

`known.txt`, beside a model, has a line for each address that the user wrote to, each Message-ID of the
user's mail, each address of the user (after OWN), and each network from which ham of an address came.
"""

from __future__ import annotations

import os

from spamnb.core.native import fingerprint_of, sender_tokens
from spamnb.errors import CannotCreate, NoInput
from spamnb.files import known_file, open_beside, stamp_of
from spamnb.labels import SPAM, UNSURE
from spamnb.reading.route import SUBMITTED, route_of
from spamnb.senders.lists import candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spamnb.bayes.verdict import Verdict
    from spamnb.reading.envelope import Envelope
    from spamnb.store.stored_model import StoredModel

OWN = "own "
MAX_BYTES = 64 << 20  # of a file that are read
MAX_ANSWERED = 20  # Message-IDs in a message's References that are looked up
MAX_CACHED = 64  # files that a server keeps in memory
MIN_SHARE = 0.1  # of the ham that a server must have verified to be one of the user's own
VERIFIED, BY = "auth:from=@", "=pass,aligned,by="
CACHE: dict[str, tuple[tuple[int, int, int], frozenset[str]]] = {}  # by path: a file's stamp and content


class People:
    """The people that the owner of a model knows, as listed in `known.txt` and in files of contacts."""

    def __init__(self, model: str, contacts: str = "") -> None:
        self.model = model
        self.path = known_file(model)
        self.contacts = contacts

    @property
    def lines(self) -> frozenset[str]:
        return cached(self.path, lambda path: read(open_beside(self.model, path, os.O_RDONLY)).splitlines())

    def add(self, lines: Iterable[str]) -> int:
        """Append to `known.txt` each given line that the file lacks; return how many lines were appended."""
        new = sorted(set(lines) - self.lines)
        if new:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            try:
                with open(open_beside(self.model, self.path, flags, with_mode=True), "ab") as file:
                    file.write("".join(f"{line}\n" for line in new).encode())
            except OSError as error:
                raise CannotCreate(f"{self.path}: {error.strerror}") from error
        return len(new)

    def knows(self, envelope: Envelope) -> bool:
        """Return whether a message claims to be from a known person, or answers a message of the user."""
        address = address_of(envelope)
        if not address or OWN + address in self.lines:
            return False
        ids = ids_in(envelope.answers)
        is_noted = address in self.lines or not self.lines.isdisjoint(ids[:1] + ids[-MAX_ANSWERED:])
        return is_noted or (self.contacts != "" and address in cached(self.contacts, read_contacts))

    def protect(self, verdict: Verdict, envelope: Envelope, stored: StoredModel) -> None:
        """Change a verdict of spam to unsure, with a reason, if the mail really is from a known person."""
        if not verdict.reason and self.knows(envelope) and self.is_genuine(envelope, stored):
            verdict.label, verdict.is_spam, verdict.reason = UNSURE, None, f"known={address_of(envelope)}"

    def is_genuine(self, envelope: Envelope, stored: StoredModel) -> bool:
        """Return whether the sender is proved genuine: by a login, the usual network or a verified domain."""
        address, route = address_of(envelope), route_of(envelope.received)
        is_usual = f"{address} {route}" in self.lines and not brings_spam(route, stored)
        return address != "" and (route == SUBMITTED or is_usual or is_authenticated(envelope, stored))


def address_of(envelope: Envelope) -> str:
    """Return the address of a sender, written as in `known.txt`; "" if the address may be forged."""
    return "" if envelope.is_doubtful else next(iter(candidates(envelope.address)), "")


def brings_spam(route: str, stored: StoredModel) -> bool:
    """Return whether the model learned spam from a network, such as a relay that many people use."""
    token = ":".join([*route.split(":")[:2], ""]) if ":" in route else route
    rows = stored.counts.lookup([fingerprint_of(f"received:{token}".encode())]).values()
    return SPAM in stored.labels and any(row[stored.labels.index(SPAM)] for row in rows)


def is_authenticated(envelope: Envelope, stored: StoredModel) -> bool:
    """Return whether one of the user's own servers has verified the domain of the sender.

    A server counts as the user's own if it verified MIN_SHARE of the ham; a sender may invent other names.
    """
    head = [("from", envelope.address), *(("authentication-results", value) for value in envelope.results)]
    found = sender_tokens(head)
    passed = [token for token in found if BY in token]
    if not any(token.startswith(VERIFIED) for token in found):
        return False
    others = [k for k, label in enumerate(stored.labels) if label != SPAM]
    rows = stored.counts.lookup(map(fingerprint_of, map(str.encode, passed))).values()
    least = max(1, MIN_SHARE * sum(stored.messages[k] for k in others))
    return any(sum(row[k] for k in others) >= least for row in rows)


def ids_in(text: str) -> list[str]:
    """List the Message-IDs in a header."""
    words = text.replace("<", " <").replace(">", "> ").split()
    return [word for word in words if word[0] == "<" and word[-1] == ">"]


def read_contacts(path: str) -> Iterator[str]:
    """Yield the mail addresses in a vCard file, or in all vCard files of a folder."""
    paths = [entry.path for entry in os.scandir(path)] if os.path.isdir(path) else [path]
    for one in paths:
        if one == path or one.endswith(".vcf"):
            text = read(os.open(one, os.O_RDONLY)).replace("\r", "").replace("\n ", "")  # lines may be folded
            for line in text.lower().splitlines():
                field, _, value = line.partition(":")
                if field.partition(";")[0].rpartition(".")[2] == "email":
                    yield from candidates(value.strip())[:1]


def read(handle: int) -> str:
    with open(handle, "rb") as file:
        return file.read(MAX_BYTES).decode("utf-8", "replace")


def cached(path: str, make: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Return what `make` reads from `path`, cached until the file changes; empty if there is no file."""
    stamp = stamp_of(path)
    if stamp is None:
        return frozenset()
    try:
        if path not in CACHE or CACHE[path][0] != stamp:
            if len(CACHE) >= MAX_CACHED:
                CACHE.clear()
            CACHE[path] = stamp, frozenset(make(path))
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}") from error
    return CACHE[path][1]
