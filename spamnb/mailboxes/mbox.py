"""Split an mbox stream into its messages: linear time, bounded memory, any of the mbox dialects.

A message starts at a `From ` line with a date (the envelope line) that follows an empty line; newer versions
of Thunderbird write nothing after `From `. A Content-Length is not believed.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_MESSAGE = 64 << 20  # bytes of a message that are kept; larger than any mail server accepts by default
MAX_ENVELOPE = 1000  # bytes of an envelope line; RFC 5322 allows lines of 998
MAX_HEADER = 16 << 10  # bytes searched for the mark of a deleted message

_DAYS = frozenset(b"Mon Tue Wed Thu Fri Sat Sun".split())
_MONTHS = frozenset(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())
_THUNDERBIRDS = (b"X-Mozilla-", b"X-Account-Key:", b"X-UIDL:")
_PLACES = bytes([b"From".find(byte) + 1 for byte in range(256)])  # in "From", from 1 on; 0: not in it


def is_envelope(text: bytes | bytearray) -> bool:
    """Whether the first line of `text` is `From`, and in it a weekday, a month and a time, in this order.

    Or `From ` alone, if the next line is a header field.

    >>> is_envelope(b"From ann@example.org Mon Nov 15 01:02:03 2026")
    True
    >>> is_envelope(b"From Monday on we meet at 10:30")
    False
    """
    return text.startswith(b"From ") and _ends_well(bytes(text[:MAX_ENVELOPE]))


def _ends_well(text: bytes) -> bool:
    """Whether a `From ` line has a weekday, a month and a time, and ends soon; or a header field below it."""
    line, line_end, rest = text.partition(b"\n")
    if not line_end and len(line) >= MAX_ENVELOPE:
        return False
    if not line[5:].strip():
        name, colon, _ = rest.partition(b"\n")[0].partition(b":")
        return bool(colon) and name.replace(b"-", b"").isalnum()
    day = month = False
    for word in line.split():
        if not day:
            day = (word.rstrip(b",") if word.endswith(b",") else word) in _DAYS
        elif not month:
            month = word in _MONTHS
        elif b":" in word and len(word) <= 8 and word.replace(b":", b"").isdigit():
            return True
    return False


def is_deleted(message: bytes) -> bool:
    """Whether a message is marked as deleted (or moved), and only kept until the mailbox is compacted.

    Thunderbird has a bit for it, in the header fields that it puts before all others: what comes later, a
    stranger may have written. Dovecot, Alpine and others have a letter, which they go by whoever wrote it.

    >>> is_deleted(b"X-Mozilla-Status: 0009\\nSubject: hello\\n\\n"), is_deleted(b"A: b\\nX-Status: AD\\n\\n")
    (True, True)
    """
    at = 0
    while message.startswith(_THUNDERBIRDS, at):
        end = message.find(b"\n", at) + 1 or len(message)
        if message.startswith(b"X-Mozilla-Status:", at):
            status = message[at + 17 : end].strip()
            return bool(status) and status[-1] in b"89abcdefABCDEF"  # a hexadecimal number with the bit 0008
        at = end
    name = message.find(b"\nX-Status:", 0, MAX_HEADER)
    if name < 0 or b"\n\n" in message[: name + 1] or b"\n\r\n" in message[: name + 1]:
        return False
    return b"D" in message[name + 10 : message.find(b"\n", name + 1)]


def messages(blocks: Iterable[bytes], limit: int = MAX_MESSAGE) -> Iterator[bytes]:
    """Yield each message.

    The stream begins with an envelope line. A message of over `limit` bytes is cut there.
    """
    ahead = _Lookahead(blocks)
    while ahead.reach(1):
        ahead.reach(MAX_ENVELOPE)
        start = ahead.data.find(b"\n", 0, MAX_ENVELOPE) + 1
        most = start + limit
        end = _end_by_line(ahead, 1, most)
        yield _message(ahead, start, min(end, most))
        ahead.drop(end)


class _Lookahead:
    """A stream from the current record on, read no further than asked."""

    __slots__ = ("blocks", "data", "quoted")

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self.blocks = iter(blocks)
        self.data = bytearray()  # taking from its front moves a pointer, not the bytes
        self.quoted = False  # whether a `>From ` may be in the current record

    def read_more(self) -> bool:
        for block in self.blocks:
            if block:
                self.data += block
                return True
        return False

    def reach(self, size: int) -> bool:
        while len(self.data) < size:
            if not self.read_more():
                return False
        return True

    def skip(self, most: int, at: int) -> int:
        """Discard what lies from `most` to shortly before `at`, and return where `at` is then.

        The two bytes before `at` stay: they tell whether an empty line ends there.
        """
        if at - 2 <= most:
            return at
        del self.data[most : at - 2]
        return most + 2

    def drop(self, end: int) -> None:
        del self.data[:end]
        self.quoted = False

    def from_line(self, at: int, end: int) -> int:
        """Return the position of the next line end with `From ` behind it, -1 if there is none."""
        data, places = self.data, _PLACES
        look = at + 4  # one of every four bytes is looked at: `From` has as many
        while look < end:
            place = places[data[look]]
            if place:
                hit = look - place
                before = data[hit]
                if (before == 10 or before == 62) and data[hit + 1] == 70 and hit + 6 <= end:
                    # `rom `: a call would take twice the time of all this.
                    rest = data[hit + 2] == 114 and data[hit + 3] == 111 and data[hit + 4] == 109
                    if rest and data[hit + 5] == 32:
                        if before == 10:
                            return hit
                        self.quoted = True
            look += 4
        return -1


def _end_by_line(ahead: _Lookahead, at: int, most: int) -> int:
    """Position of the first envelope line from `at` on that follows an empty line; else the stream's end."""
    data = ahead.data
    while True:
        hit = ahead.from_line(at, len(data))
        if hit < 0:
            at = ahead.skip(most, max(at, len(data) - 5))  # what is sought may have begun
            if not ahead.read_more():
                return len(data)
        elif data[hit - 1] != ord("\n") and data[hit - 2 : hit] != b"\n\r":
            at = hit + 1
        else:
            if len(data) < hit + 1 + MAX_ENVELOPE:
                hit = ahead.skip(most, hit)
                ahead.reach(hit + 1 + MAX_ENVELOPE)
            at = hit + 1
            if _ends_well(bytes(data[at : at + MAX_ENVELOPE])):
                return at


def _message(ahead: _Lookahead, start: int, end: int) -> bytes:
    """The message of a record: without its envelope line, the empty line after it, and `From ` quoting."""
    data = ahead.data
    if start == 0:
        start = end
    elif end >= 2 and data[end - 1] == 10 and data[end - 2] == 10:
        end -= 1
    elif data.endswith(b"\n\r\n", 0, end):
        end -= 2
    message = memoryview(data)[start:end].tobytes()
    return _unquoted(message) if ahead.quoted else message


def _unquoted(data: bytes) -> bytes:
    """Undo mboxrd quoting: one `>` less on each line of `>`s and `From `. mboxo is taken for mboxrd.

    A bare `From ` line after an empty line shows a writer who relies on Content-Length and quotes nothing
    (mboxcl2): then every `>` is the author's. Without such a line, mboxcl and mboxcl2 look alike, and a
    `>From ` that a program wrote is far more common than one that a person did.
    """
    at = data.find(b">From ")
    if at < 0 or b"\n\nFrom " in data or b"\n\r\nFrom " in data:
        return data
    parts = []
    taken = looked = 0
    while at >= 0:
        line = data.rfind(b"\n", looked, at) + 1  # no byte is searched twice: linear time on any line
        at_line = line > 0 or looked == 0
        if at_line and not data[line:at].strip(b">"):
            parts.append(data[taken:at])
            taken = at + 1
        looked = at + 1
        at = data.find(b">From ", looked)
    parts.append(data[taken:])
    return b"".join(parts)
