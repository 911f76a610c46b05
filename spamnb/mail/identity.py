"""What makes a message the same message, however it was delivered, stored and read since.

The digest covers all that is evidence: two messages of one digest have the same tokens. So what is learned
from one copy can be forgotten by another.
"""

from __future__ import annotations

from _blake2 import blake2b

from spamnb.mail.message import MAX_HEADER_BYTES, canonical, header_start

# Headers that come and go with delivery, filters and mail readers. Neither identity nor evidence: a verdict
# would be learned instead of the mail, and a note is known of trained mail only. Beside these, any x- name
# with "spam" in it is a verdict: our own, SpamAssassin's, rspamd's, DSPAM's, providers' …
VOLATILE = {
    "x-bogosity": "bogofilter's verdict",
    "x-crm114": "CRM114's verdict",
    "x-ifile": "ifile's verdict",
    "x-classification": "a verdict",
    "x-barracuda": "an appliance's verdict; in csdmc2010 only the spam carries it",
    "x-ironport": "an appliance's verdict",
    "x-proofpoint": "an appliance's verdict",
    "x-pmx": "an appliance's verdict",
    "x-ms-exchange-organization": "a provider's verdict and routing",
    "x-virus": "a scanner's verdict",
    "x-amavis": "a scanner's verdict",
    "x-assp": "a filter's verdict",
    "x-annoyance-filter": "a filter's verdict",
    "x-junkmail": "a filter's verdict",
    "x-old-subject": "a filter's copy",
    "return-path": "written at final delivery",
    "delivered-to": "written at final delivery",
    "delivery-date": "written at final delivery",
    "envelope-to": "written at final delivery",
    "x-original-to": "written at final delivery",
    "x-delivered-to": "written at final delivery",
    "x-envelope": "written at final delivery",
    "x-getmail": "written at final delivery",
    "x-fetchmail": "written at final delivery",
    "content-length": "counted by a mailbox",
    "lines": "counted by a mailbox",
    "x-uid": "a mailbox's number for it",
    "x-uidl": "a mailbox's number for it",
    "x-imap": "a mailbox's number for it",
    "x-imapbase": "a mailbox's numbers",
    "x-folder": "where it was filed",
    "status": "read or not: a mail reader's note",
    "x-status": "a mail reader's note",
    "x-keywords": "a mail reader's note",
    "x-label": "a mail reader's note",
    "x-mozilla": "Thunderbird's notes",
    "x-evolution": "Evolution's notes",
    "x-apple": "Apple Mail's notes",
    "x-gmail": "a provider's labels",
    "x-gm": "a provider's numbers",
    "replied": "a mail reader's note",
    "forwarded": "a mail reader's note",
}
# An x- name stands for all that begin so, too: x-virus-scanned, x-mozilla-status …
_PREFIXES = tuple(name + "-" for name in VOLATILE if name.startswith("x-"))

MAX_KNOWN = 1000  # names remembered
MAX_KNOWN_NAME = 80  # bytes of each


def is_volatile(name: str) -> bool:
    return name in VOLATILE or name.startswith(_PREFIXES) or (name.startswith("x-") and "spam" in name)


def digest(raw: bytes) -> int:
    """64 bits that stay the same for a message."""
    data = canonical(raw)
    identity = blake2b(digest_size=8)
    body = 0
    start = header_start(data)
    if start >= 0:
        end = data.find(b"\n\n", max(start - 1, 0), start + MAX_HEADER_BYTES)
        body = end if end >= 0 else min(len(data), start + MAX_HEADER_BYTES)
        identity.update(_lasting(data[start:body]))
    identity.update(memoryview(data)[body:])
    return int.from_bytes(identity.digest(), "little")


def _lasting(block: bytes) -> bytes:
    """A header block without what is volatile in it."""
    kept = []
    keep = True
    for line in block.split(b"\n"):
        if not line.startswith((b" ", b"\t")):
            name = line.partition(b":")[0]
            known = _lasts.get(name)
            keep = _is_lasting(name) if known is None else known
        if keep:
            kept.append(line)
    return b"\n".join(kept)


def _is_lasting(raw_name: bytes) -> bool:
    name = raw_name.rstrip().lower().decode("latin-1")
    lasts = not (is_volatile(name) or name.startswith(("from ", ">from ")))
    if len(name) <= MAX_KNOWN_NAME:
        if len(_lasts) >= MAX_KNOWN:
            _lasts.clear()
        _lasts[raw_name] = lasts
    return lasts


_lasts: dict[bytes, bool] = {}  # names seen before: deciding takes 2 µs, and a message has 20
