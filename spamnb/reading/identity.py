"""Identity of a message: a digest that stays the same however it was delivered, stored and read since.

The digest covers all that is evidence: two messages of one digest have the same tokens. So what is learned
from one copy can be forgotten by another.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.headers import Fields
    from spamnb.reading.message import Message

# Headers that come and go with delivery, filters and mail readers. Neither identity nor evidence: a filter
# would learn verdicts instead of mail, and only mail that was read has notes. Beside these, any x- name
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
_NAMES = frozenset(VOLATILE)
_LONGEST = max(map(len, VOLATILE))
MAX_KEPT, MAX_KEPT_NAME = 500, 60  # names of fields that are remembered, and characters of each


def is_volatile(name: str) -> bool:
    """Tell whether a header comes and goes with delivery, filters and mail readers."""
    if name in _NAMES:
        return True
    if not name.startswith("x-"):
        return False
    # An x- name stands for all that begin so, too: x-virus-scanned, x-mozilla-status …
    dash = name.find("-", 2, _LONGEST + 1)
    while dash >= 0:
        if name[:dash] in _NAMES:
            return True
        dash = name.find("-", dash + 1, _LONGEST + 1)
    return name.find("spam") >= 0


def digest(message: Message) -> int:
    """Return the digest of a message, 64 bits."""
    from _blake2 import blake2b  # late: only learning needs it

    identity = blake2b(b"" if message.fields is None else _lasting_fields(message.fields), digest_size=8)
    identity.update(memoryview(message.data)[message.body :])
    return int.from_bytes(identity.digest(), "little")


def _lasting_fields(fields: Fields) -> bytes:
    """Return the bytes of those fields of a header block that stay the same."""
    lasting: list[str] = []
    for name, value in fields:
        start = _starts.get(name)
        if start is None:
            start = "" if is_volatile(name) else f"\n{name}:"
            if len(_starts) < MAX_KEPT and len(name) <= MAX_KEPT_NAME:
                _starts[name] = start
        if start:
            lasting.append(start)
            lasting.append(value)
    lasting.append("\n\n")
    lasting[0] = lasting[0][1:]
    return "".join(lasting).encode("latin-1", "replace")


_starts: dict[str, str] = {}  # by name, what is before the value; nothing if the field does not last
