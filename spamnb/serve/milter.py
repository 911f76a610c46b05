"""The milter protocol: a mail server shows each message before accepting it, and asks what to do.

The package kilter reads and writes packets, and checks that both sides follow the options they agreed on. But
packets with names of hosts and headers are read here: strangers choose these names, and kilter accepts only
valid ones in ASCII, so that mail from a client that says `HELO xn--a` would not be filtered.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from spamnb.bayes.verdict import Verdict
from spamnb.delivery.log_line import MAX_TEXT_LENGTH, escaped
from spamnb.errors import SpamnbError, needs_extra
from spamnb.labels import SPAM
from spamnb.passthrough import header_fields, header_names, without_fields
from spamnb.serve.clients import Connection, Gone, HeldBytes
from spamnb.serve.judge import Judge
from spamnb.serve.log import Log
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, REJECTED, TIMEOUT
from spamnb.serve.options import Options

try:
    from kilter.protocol import messages
    from kilter.protocol.buffer import SimpleBuffer
    from kilter.protocol.core import FilterMessage, FilterProtocol
    from kilter.protocol.messages import (
        ActionFlags,
        ChangeHeader,
        Continue,
        InsertHeader,
        Negotiate,
        ReplyCode,
    )
    from kilter.protocol.messages import ProtocolFlags as Flags
except ImportError:
    raise needs_extra("--milter", "milter") from None

VERSION = 6
ACTIONS = ActionFlags.ADD_HEADERS | ActionFlags.CHANGE_HEADERS
# We ask for the parts of a message only, with the spaces in front of header values, and answer at its end.
NOT_SHOWN = Flags.NO_MAIL | Flags.NO_DATA | Flags.NO_UNKNOWN
NOT_ANSWERED = (
    Flags.NR_CONNECT | Flags.NR_HELO | Flags.NR_RCPT | Flags.NR_HEADER | Flags.NR_EOH | Flags.NR_BODY
)
WANTED_FLAGS = NOT_SHOWN | NOT_ANSWERED | Flags.HEADER_LEADING_SPACE

LENGTH_SIZE = 4  # bytes of the number in front of a packet that says how long it is
MAX_PACKET = 1 << 20  # bytes, the most that a server may ask for; Postfix sends 64 KB at a time
MAX_ANSWER = 1 << 16  # bytes: enough to remove MAX_FORGED headers
MAX_FORGED = 1000  # headers of our names in a message: to remove one, Postfix reads it from its start
LOOKS_LIKE_SPAM = ReplyCode(b"550 5.7.1 This message looks like spam\0")
TOO_MANY_FORGED = ReplyCode(b"550 5.7.1 Too many headers that only a spam filter writes\0")
HIDDEN_HEADER = ReplyCode(b"550 5.7.1 A header within a header, after a bare carriage return\0")


class ReceivedHeader:
    """The Received header that the mail server will add later, rebuilt here because milters do not see it.

    Learned mail has this header, which is good evidence: it names the only host that a sender cannot invent.
    All parts of the header come from strangers, and are kept as bytes.
    """

    def __init__(self) -> None:
        self.client = b""  # as `name [address]`
        self.server = b""
        self.helo = b""  # what the client calls itself
        self.queue_id = b""  # what the mail server calls the message
        self.recipients: set[bytes] = set()

    def read_macros(self, content: bytes) -> None:
        """Read a macro packet: the letter of an event, then names and values in turn."""
        strings = content[1:].split(b"\0")
        for name, value in zip(strings[::2], strings[1::2], strict=False):
            if name == b"_":
                self.client = value
            elif name == b"j":
                self.server = value
            elif name == b"i":
                self.queue_id = value

    def read_helo(self, content: bytes) -> None:
        self.helo = content.partition(b"\0")[0]

    def read_recipient(self, content: bytes) -> None:
        """Read a recipient packet: an address, then options. Only two are kept: more make no difference."""
        if len(self.recipients) < 2:
            self.recipients.add(content.partition(b"\0")[0])

    def addresses(self) -> list[str]:
        """Return the addresses of the recipients, without angle brackets."""
        return [recipient.decode("ascii", "replace").strip("<>") for recipient in self.recipients]

    def forget_message(self) -> None:
        self.recipients.clear()
        self.queue_id = b""

    def as_bytes(self) -> bytes:
        """Return the header as Postfix writes it, naming only a single recipient; b"" without a client."""
        if not self.client:
            return b""
        name = self.helo or self.client.partition(b" ")[0]
        recipient = b"\n\tfor " + b"".join(self.recipients) if len(self.recipients) == 1 else b""
        return b"Received: from %s (%s)\n\tby %s%s; \n" % (name, self.client, self.server, recipient)


class Milter:
    """Judges the messages that a mail server shows in any number of sessions."""

    def __init__(self, judge: Judge, log: Log, options: Options, held: HeldBytes) -> None:
        self.judge = judge
        self.log = log
        self.options = options
        self.held = held

    async def handle(self, connection: Connection) -> bytes:
        """Serve a session with any number of messages; if this fails, the mail server decides on its own."""
        connection.complete = True
        session = Session(self)
        try:
            while answer := await self._next_answer(session, connection):
                await connection.send(answer)
        except Gone:
            raise
        except TimeoutError:
            self.record_error(TIMEOUT, "a session took too long")
        except Exception as error:
            self.record_error(PROTOCOL, f"a milter session failed: {type(error).__name__}: {error}")
        finally:
            session.message.clear()
        return b""

    async def _next_answer(self, session: Session, connection: Connection) -> bytes:
        """Read packets until one needs an answer; return b"" when the session is over."""
        async with connection.waiting(self.options.milter_timeout):
            while packet := await read_packet(connection):
                if answer := session.answer(packet):
                    return answer
        return b""

    def record_error(self, kind: str, why: str, user: str = "", message_id: str = "") -> None:
        self.judge.counters.count(kind)
        self.log.refused(why, user, message_id)


async def read_packet(connection: Connection) -> bytes:
    """Return the next packet, starting with the bytes of its length; b"" when there are no more packets."""
    length = await connection.read_up_to(LENGTH_SIZE)
    size = int.from_bytes(length, "big")
    if size > MAX_PACKET:
        raise ValueError(f"a packet has {size} bytes; at most {MAX_PACKET} are allowed")
    packet = await connection.read_up_to(size)
    return length + packet if packet and len(packet) == size else b""


class MilterMessage:
    """A message that the mail server sends in pieces; if it becomes too large, all pieces are dropped."""

    def __init__(self, milter: Milter) -> None:
        self.milter = milter
        self.style, self.header, self.subject_tag = milter.judge.header()
        self.names = header_names(self.style, self.header)
        self.forged = {name.lower(): 0 for name in self.names}  # how many headers have our names
        self.hides_header = False  # whether a header of our names is hidden in another
        self.subject: bytes | None = None
        self.message_id = b""
        self.too_large = False
        self.size = 0
        self.head: list[bytes] = []
        self.body: list[bytes] = []

    def read_header(self, content: bytes) -> None:
        """Read a header packet: a name, which may end with spaces or tabs, and a value."""
        written, name_end, value = content.partition(b"\0")
        value, value_end, rest = value.partition(b"\0")
        if not name_end or not value_end or rest:
            raise ValueError("a header packet must have a name and a value")
        name = written.rstrip(b" \t").lower()
        if name in self.forged:
            self.forged[name] += 1
        elif b"\r" in value and without_fields(self.names, b"a:" + value) != b"a:" + value:
            self.hides_header = True
        if self.subject is None and name == b"subject":
            self.subject = value
        elif name == b"message-id":
            self.message_id = value[:MAX_TEXT_LENGTH].strip()
        self._keep(self.head, b"%s:%s\n" % (written, value))

    def add_body(self, body: bytes) -> None:
        self._keep(self.body, body)

    def _keep(self, pieces: list[bytes], piece: bytes) -> None:
        if self.too_large:
            return
        if self.size + len(piece) > self.milter.options.max_size or not self.milter.held.take(len(piece)):
            self.too_large = True
            self.clear()
        else:
            pieces.append(piece)
            self.size += len(piece)

    def clear(self) -> None:
        self.milter.held.change(-self.size)
        self.size = 0
        self.head.clear()
        self.body.clear()

    def raw(self, received: ReceivedHeader) -> bytes:
        """Return the message as the mail server will deliver it, except that all lines end with LF."""
        body = b"".join(self.body).replace(b"\r\n", b"\n")
        return b"".join((received.as_bytes(), *self.head, b"\n" if body else b"", body))

    def removals(self) -> list[FilterMessage]:
        """Return commands to remove forged headers, the last first, so that other numbers stay valid."""
        forged = ((name, number) for name, count in self.forged.items() for number in range(count, 0, -1))
        return [ChangeHeader(number, name.decode(), b"") for name, number in forged]


class Session:
    """A milter session: the messages of one client of the mail server."""

    def __init__(self, milter: Milter) -> None:
        self.milter = milter
        self.options = milter.options
        self.protocol = FilterProtocol()
        self.received = ReceivedHeader()
        self.message = MilterMessage(milter)
        self.packets_read_here: dict[int, Callable[[bytes], None]] = {
            messages.Macro.ident: self.received.read_macros,
            messages.Helo.ident: self.received.read_helo,
            messages.EnvelopeRecipient.ident: self.received.read_recipient,
            messages.Connect.ident: lambda _: None,  # a macro has the client's name and address, too
            messages.Header.ident: lambda content: self.message.read_header(content),
        }

    def answer(self, packet: bytes) -> bytes:
        """Return the answer to a packet; b"" if a packet needs no answer."""
        if read := self.packets_read_here.get(packet[LENGTH_SIZE]):
            read(packet[LENGTH_SIZE + 1 :])
            return b""
        buffer = SimpleBuffer(len(packet))
        buffer[:] = packet
        match next(self.protocol.read_from(buffer)):
            case Negotiate() as offer:
                return self._encoded([negotiated(offer)])
            case messages.Body() as body:
                self.message.add_body(bytes(body.content))
            case messages.EndOfMessage() as last:
                self.message.add_body(bytes(last.content))
                try:
                    return self._encoded(self._decision())
                finally:
                    self._forget_message()
            case messages.Abort() | messages.Close():
                self._forget_message()
        return b""

    def _forget_message(self) -> None:
        self.message.clear()
        self.message = MilterMessage(self.milter)
        self.received.forget_message()

    def _decision(self) -> list[FilterMessage]:
        if sum(self.message.forged.values()) > MAX_FORGED:
            return self._unjudged(REFUSED, "too many forged headers: rejected", TOO_MANY_FORGED)
        if self.message.hides_header:
            return self._unjudged(REFUSED, "a forged header hides in another: rejected", HIDDEN_HEADER)
        removals = self.message.removals()
        if self.message.too_large:  # it would also be too large later
            return self._unjudged(REFUSED, "too large to be judged: accepted", *removals, Continue())
        try:
            return self._judged(removals)
        except Exception as error:  # every message gets an answer
            if not isinstance(error, SpamnbError):
                self.milter.log.unexpected(error)
            return self._unjudged(FAILED, f"{error}: accepted", *removals, Continue())

    def _unjudged(self, kind: str, why: str, *answers: FilterMessage) -> list[FilterMessage]:
        message_id = self.message.message_id.decode("utf-8", "surrogateescape")
        self.milter.record_error(
            kind, f"message {escaped(self._queue_id())}: {why}", self._user(), message_id
        )
        return list(answers)

    def _user(self) -> str:
        """Return the recipient's user name if the message has only one recipient, else ""."""
        recipients, judge = self.received.addresses(), self.milter.judge
        return judge.user_of(*recipients) if judge.user_models and len(recipients) == 1 else ""

    def _queue_id(self) -> str:
        return self.received.queue_id.decode("utf-8", "surrogateescape")

    def _judged(self, removals: list[FilterMessage]) -> list[FilterMessage]:
        start = perf_counter()
        raw = self.message.raw(self.received)
        judge = self.milter.judge
        user = self._user()
        judged = judge.classify(raw, user, is_taken=False)
        verdict, seconds = judged.verdict, perf_counter() - start
        is_rejected = self.options.reject and verdict.label == SPAM
        done = "rejected" if is_rejected else "accepted"
        more = {"user": user, "model": judged.path, "queue": self._queue_id(), "done": done}
        self.milter.log.judged(verdict, len(raw), judged.message, seconds, "MILTER", **more)
        if is_rejected:
            judge.counters.count(REJECTED)
            return [LOOKS_LIKE_SPAM]
        return [*removals, *self._headers(verdict), Continue()]

    def _headers(self, verdict: Verdict) -> list[FilterMessage]:
        """Return commands that insert the verdict's headers at the top and, for spam, tag the subject."""
        written = header_fields(verdict, self.message.style, self.message.header)
        fields = (line.encode("ascii", "replace").partition(b":") for line in written)
        added: list[FilterMessage] = [
            InsertHeader(index, name.decode(), value) for index, (name, _, value) in enumerate(fields)
        ]
        tag = self.message.subject_tag.strip().encode() if verdict.label == SPAM else b""
        subject = self.message.subject
        if not tag or (subject is not None and subject.lstrip().startswith(tag)):
            return added
        if subject is None:
            return [*added, InsertHeader(len(added), "Subject", b" " + tag)]
        return [*added, ChangeHeader(1, "Subject", b" " + tag + b" " + subject.lstrip(b" \t"))]

    def _encoded(self, answers: list[FilterMessage]) -> bytes:
        buffer = SimpleBuffer(MAX_ANSWER)
        for answer in answers:
            self.protocol.write_to(buffer, answer)
        return bytes(buffer[:])


def negotiated(offer: Negotiate) -> Negotiate:
    if offer.version < VERSION or WANTED_FLAGS & ~offer.protocol_flags or ACTIONS & ~offer.action_flags:
        raise SpamnbError("the mail server must speak version 6 of the protocol, as Postfix 2.6 and later do")
    return Negotiate(VERSION, ACTIONS, WANTED_FLAGS)
