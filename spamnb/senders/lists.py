"""Lists of allowed and blocked senders, whose addresses or domains decide a verdict.

An entry is an address, or a domain with all its subdomains. It is stored as a fingerprint of 8 bytes, whose
lowest bit says whether the entry is allowed. So 10,000 senders take 80 KB.
"""

from spamnb.core.native import fingerprint_of, index_of
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.reading.envelope import in_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from spamnb.bayes.verdict import Verdict
    from spamnb.reading.envelope import Envelope

ENTRY = 8  # bytes
ALLOWED = 1  # the lowest bit
MAX_PARTS = 16  # of a domain, from its end


class SenderLists:
    """The list of allowed and the list of blocked senders, together as one sorted list of fingerprints."""

    def __init__(self, entries: bytes) -> None:
        self.entries = entries

    @classmethod
    def of(cls, allowed: "Iterable[str]", blocked: "Iterable[str]") -> "SenderLists":
        """Make the lists from allowed and blocked entries; an entry in both is allowed."""
        kept = dict.fromkeys(map(key_of, blocked), 0) | dict.fromkeys(map(key_of, allowed), ALLOWED)
        keys = sorted(key | bit for key, bit in kept.items())
        return cls(b"".join(key.to_bytes(ENTRY, "little") for key in keys))

    def decide(self, verdict: "Verdict", envelope: "Envelope") -> None:
        """Change the verdict on a message if its sender is listed, and note the reason in the verdict."""
        found = self.find(envelope.address, envelope.is_doubtful)
        if found is not None:
            is_allowed, entry = found
            verdict.reason = f"{'allowed' if is_allowed else 'blocked'}={entry}"
            verdict.is_spam = not is_allowed
            if_allowed = HAM if verdict.label_if_ham == UNSURE else verdict.label_if_ham
            verdict.label = if_allowed if is_allowed else SPAM

    def find(self, address: str, is_doubtful: bool) -> tuple[bool, str] | None:
        """Find the most specific entry that matches a sender; return (whether the entry is allowed, entry).

        Return None if no entry matches, or if an allowed entry matches an address that may be forged.
        """
        for candidate in candidates(address):
            key = key_of(candidate)
            for bit in (ALLOWED, 0):
                if index_of(self.entries, key | bit, ENTRY) >= 0:
                    return None if bit and is_doubtful else (bool(bit), candidate)
        return None


def key_of(entry: str) -> int:
    """Return the number stored for a blocked address or domain; for an allowed one, it is higher by 1."""
    return fingerprint_of(entry.encode("utf-8", "replace")) & ~ALLOWED


def candidates(address: str) -> list[str]:
    """List all entries that match an address: the address itself, its domain, and all parent domains."""
    local, at, domain = address.rpartition("@")
    if not (local and at and domain and address.isprintable()) or " " in address:
        return []
    domain = in_ascii(domain.rstrip("."))
    parts = domain.split(".")[-MAX_PARTS:]
    return [f"{local}@{domain}", *[".".join(parts[n:]) for n in range(len(parts))]]
