"""The milter protocol: a mail server shows each message it is about to take, and hears what to do with it.

The packets are kilter's to read and to write, and it holds us to what was agreed with the server. But what
strangers call themselves we take as it comes: kilter wants letters and host names of them, and one that says
`HELO xn--a` would go unfiltered.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from spamnb.errors import SpamnbError, UsageError
from spamnb.passthrough import STYLES
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, TIMEOUT
from spamnb.serve.trace import Trace
from spamnb.verdict import SPAM

try:
    from kilter.protocol.buffer import SimpleBuffer
    from kilter.protocol.core import FilterProtocol
    from kilter.protocol.messages import (
        Abort,
        ActionFlags,
        Body,
        ChangeHeader,
        Close,
        Connect,
        Continue,
        EndOfMessage,
        EnvelopeRecipient,
        Header,
        Helo,
        InsertHeader,
        Macro,
        Negotiate,
        ReplyCode,
        TemporaryFailure,
    )
    from kilter.protocol.messages import ProtocolFlags as Flags
except ImportError:
    raise UsageError("--milter needs an extra: pip install 'spamnb[milter]'") from None

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from kilter.protocol.core import FilterMessage

    from spamnb.serve.conversation import Conversation, Incoming
    from spamnb.serve.judge import Judge
    from spamnb.serve.log import Log
    from spamnb.serve.options import Options
    from spamnb.verdict import Verdict

VERSION = 6
ACTIONS = ActionFlags.ADD_HEADERS | ActionFlags.CHANGE_HEADERS
# Nothing but what a message is made of, each header with its spaces, and an answer at its end only.
NOT_SHOWN = Flags.NO_MAIL | Flags.NO_DATA | Flags.NO_UNKNOWN
NOT_ANSWERED = (
    Flags.NR_CONNECT | Flags.NR_HELO | Flags.NR_RCPT | Flags.NR_HEADER | Flags.NR_EOH | Flags.NR_BODY
)
WANTED = NOT_SHOWN | NOT_ANSWERED | Flags.HEADER_LEADING_SPACE

LENGTH = 4  # bytes in front of a packet
LARGEST_PACKET = 1 << 20  # as any server may agree on; Postfix shows 64 KB at a time
LARGEST_ANSWER = 1 << 16
MOST_FORGED = 1000  # headers of our name: to remove one, Postfix reads the message from its start
MOST_HELD = 4  # times the largest message: what all sessions of a worker may hold together
LOOKS_LIKE_SPAM = ReplyCode(b"550 5.7.1 This message looks like spam\0")
TOO_MANY_FORGED = ReplyCode(b"550 5.7.1 Too many headers that only a spam filter writes\0")


class Milter:
    """Judges the messages of a mail server, all sessions of a worker."""

    def __init__(self, judge: Judge, log: Log, options: Options) -> None:
        self.judge = judge
        self.log = log
        self.options = options
        self.held = 0  # bytes of messages that are coming in

    def talk(self, incoming: Incoming) -> Conversation:
        """A session, with any number of messages; where it breaks off, the server knows what to do."""
        incoming.complete = True
        session = Session(self)
        try:
            while packet := (yield from packet_of(incoming)):
                if answer := session.answer(packet):
                    yield answer
                incoming.forget()
        except TimeoutError:
            self.trouble(TIMEOUT, "a session took too long")
        except Exception as error:
            self.trouble(PROTOCOL, f"no milter session: {type(error).__name__}: {error}")
        finally:
            session.letter.let_go()
        return b""

    def trouble(self, kind: str, why: str) -> None:
        self.judge.counters.count(kind)
        self.log.refused(why)


def packet_of(incoming: Incoming) -> Generator[None, None, bytes]:
    """The next packet with its length, which leads; nothing when there are no more."""
    length = yield from incoming.up_to(LENGTH)
    size = int.from_bytes(length, "big")
    if size > LARGEST_PACKET:
        raise ValueError(f"a packet of {size} bytes")
    packet = yield from incoming.up_to(size)
    return length + packet if packet and len(packet) == size else b""


class Letter:
    """A message as it comes in; of one that is too large, nothing is kept."""

    def __init__(self, milter: Milter) -> None:
        self.milter = milter
        self.names = {name.decode().lower(): 0 for name in STYLES[milter.options.header_style][0]}
        self.too_large = False
        self.size = 0
        self.head: list[bytes] = []
        self.body: list[bytes] = []

    def header(self, name: str, value: bytes) -> None:
        if name.lower() in self.names:
            self.names[name.lower()] += 1
        self._keep(self.head, b"%s:%s\n" % (name.encode(), value))

    def more(self, body: bytes) -> None:
        self._keep(self.body, body)

    def _keep(self, parts: list[bytes], part: bytes) -> None:
        most = self.milter.options.max_size
        if self.size + len(part) > most or self.milter.held + len(part) > MOST_HELD * most:
            self.too_large = True
            self.let_go()
        elif not self.too_large:
            parts.append(part)
            self.size += len(part)
            self.milter.held += len(part)

    def let_go(self) -> None:
        self.milter.held -= self.size
        self.size = 0
        self.head.clear()
        self.body.clear()

    def raw(self, trace: Trace) -> bytes:
        """As it will be delivered: lines end with LF."""
        body = b"".join(self.body).replace(b"\r\n", b"\n")
        return b"".join((trace.header(), *self.head, b"\n" if body else b"", body))

    def without_forged(self) -> list[FilterMessage]:
        """The last of a name first: so it does not matter whether the others are then counted anew."""
        forged = ((name, place) for name, count in self.names.items() for place in range(count, 0, -1))
        return [ChangeHeader(place, name, b"") for name, place in forged]


class Session:
    """What one client of the mail server says and sends."""

    def __init__(self, milter: Milter) -> None:
        self.milter = milter
        self.options = milter.options
        self.protocol = FilterProtocol()
        self.trace = Trace()
        self.letter = Letter(milter)
        self.told: dict[int, Callable[[bytes], None]] = {
            Macro.ident: self.trace.macros,
            Helo.ident: self.trace.greeting,
            EnvelopeRecipient.ident: self.trace.recipient,
            Connect.ident: lambda _: None,  # a macro has the same
        }

    def answer(self, packet: bytes) -> bytes:
        """What is to be said to a packet, if anything."""
        if tell := self.told.get(packet[LENGTH]):
            tell(packet[LENGTH + 1 :])
            return b""
        buffer = SimpleBuffer(len(packet))
        buffer[:] = packet
        match next(self.protocol.read_from(buffer)):
            case Negotiate() as offer:
                return self._packed([agreed(offer)])
            case Header(name, value):
                self.letter.header(name, bytes(value))
            case Body() as body:
                self.letter.more(bytes(body.content))
            case EndOfMessage() as last:
                self.letter.more(bytes(last.content))
                try:
                    return self._packed(self._decision())
                finally:
                    self._forget_message()
            case Abort() | Close():
                self._forget_message()
        return b""

    def _forget_message(self) -> None:
        self.letter.let_go()
        self.letter = Letter(self.milter)
        self.trace.new_message()

    def _decision(self) -> list[FilterMessage]:
        if sum(self.letter.names.values()) > MOST_FORGED:
            self.milter.trouble(REFUSED, "a message has too many forged headers")
            return [TOO_MANY_FORGED]
        without_forged = self.letter.without_forged()
        if self.letter.too_large:  # later, it would be no smaller
            self.milter.trouble(REFUSED, "a message is too large to be judged")
            return [*without_forged, Continue()]
        try:
            verdict = self._verdict()
        except Exception as error:  # whatever a message does, it gets an answer
            if not isinstance(error, SpamnbError):
                self.milter.log.unexpected(error)
            self.milter.trouble(FAILED, str(error))
            if self.options.milter_failure == "tempfail":
                return [TemporaryFailure()]
            return [*without_forged, Continue()]
        if self.options.reject and verdict.label == SPAM:
            return [LOOKS_LIKE_SPAM]
        return [*without_forged, *self._headers(verdict), Continue()]

    def _verdict(self) -> Verdict:
        start = perf_counter()
        raw = self.letter.raw(self.trace)
        verdict, _ = self.milter.judge.classify(raw)
        self.milter.log.judged(verdict, raw, "", perf_counter() - start, "MILTER")
        return verdict

    def _headers(self, verdict: Verdict) -> list[FilterMessage]:
        """In front of all others, as they are written everywhere else."""
        _, written = STYLES[self.options.header_style]
        fields = (line.encode("ascii", "replace").partition(b":") for line in written(verdict))
        return [InsertHeader(place, name.decode(), value) for place, (name, _, value) in enumerate(fields)]

    def _packed(self, messages: list[FilterMessage]) -> bytes:
        buffer = SimpleBuffer(LARGEST_ANSWER)
        for message in messages:
            self.protocol.write_to(buffer, message)
        return bytes(buffer[:])


def agreed(offer: Negotiate) -> Negotiate:
    if offer.version < VERSION or WANTED & ~offer.protocol_flags or ACTIONS & ~offer.action_flags:
        raise SpamnbError("the mail server must speak version 6 of the protocol, as Postfix 2.6 and later do")
    return Negotiate(VERSION, ACTIONS, WANTED)
