"""The protocols without their sockets: sessions side by side, fed in any order, cut, ended or timed out."""

import struct
from collections.abc import Callable

import pytest
from helpers.packets import END, HELLO, message, offer, packet
from helpers.samples import ham, spam
from helpers.serving import request
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from spamnb.serve.conversation import Incoming
from spamnb.serve.judge import Judge
from spamnb.serve.learning import LearningQueue
from spamnb.serve.log import Log
from spamnb.serve.metrics import Counters
from spamnb.serve.milter import MOST_HELD, Milter
from spamnb.serve.options import Options
from spamnb.serve.spamd import Spamd

MOST = 3000  # bytes of a message
LATE = b"SPAMD/1.0 79 Timeout: (30 second timeout reading input from client)\r\n"


class Recording(Log):
    """Keeps what went wrong instead of printing it."""

    def __init__(self):
        super().__init__(quiet=True)
        self.errors = []

    def refused(self, why):
        pass

    def unexpected(self, error):
        self.errors.append(error)


class Session:
    """A conversation, what its client has sent and heard, and whether it is over."""

    def __init__(self, handle):
        self.incoming = Incoming()
        self.conversation = handle(self.incoming)
        self.sent, self.heard = b"", b""
        self.is_over = False
        self._go_on(lambda: next(self.conversation))

    def send(self, piece):
        """Bytes, of which none are the end of the client."""
        if not self.is_over:
            self.sent += piece
            self.incoming.feed(piece)
            self._go_on(lambda: next(self.conversation))

    def time_out(self):
        if not self.is_over:
            self._go_on(lambda: self.conversation.throw(TimeoutError()))

    def _go_on(self, step):
        try:
            while (awaited := step()) is not None:
                self.heard += awaited
                step = lambda: next(self.conversation)  # noqa: E731
        except StopIteration as end:
            self.heard += end.value
            self.is_over = True


class Sessions(RuleBasedStateMachine):
    """Sessions of one server; `handle` and what is sent are those of a protocol."""

    sessions = Bundle("sessions")
    pieces: tuple[bytes, ...] = ()
    model: str  # its path
    handle: Callable

    def __init__(self):
        super().__init__()
        self.open = []
        self.log = Recording()
        self.counters = Counters(1)
        self.judge = Judge(self.model, None, self.counters)

    @rule(target=sessions)
    def connect(self):
        session = Session(self.handle)
        self.open.append(session)
        return session

    @rule(session=sessions, data=st.data())
    def send(self, session, data):
        session.send(data.draw(st.sampled_from(self.pieces)))

    @rule(session=sessions, data=st.data())
    def send_a_part(self, session, data):
        piece = data.draw(st.sampled_from(self.pieces))
        start = data.draw(st.integers(0, len(piece) - 1))
        session.send(piece[start : data.draw(st.integers(start + 1, len(piece)))])

    @rule(session=sessions, piece=st.binary(min_size=1, max_size=30))
    def send_anything(self, session, piece):
        session.send(piece)

    @rule(session=consumes(sessions))
    def end(self, session):
        session.send(b"")
        self.check_ended(session)

    @rule(session=consumes(sessions))
    def time_out(self, session):
        was_over = session.is_over
        session.time_out()
        assert session.is_over
        self.check_timed_out(session, was_over)

    @rule(session=consumes(sessions))
    def break_off(self, session):
        session.conversation.close()
        session.is_over = True

    @invariant()
    def nothing_is_unexpected(self):
        assert self.log.errors == []

    def teardown(self):
        for session in self.open:
            session.send(b"")
            assert session.is_over

    def check_ended(self, session):
        assert session.is_over

    def check_timed_out(self, session, was_over):
        pass


class SpamdSessions(Sessions):
    pieces = (
        request("CHECK", ham(5)),
        request("PROCESS", spam(5), User="joe"),
        request("SYMBOLS", spam(5), Content_length=None),
        request("REPORT", b"x" * (MOST + 1)),
        request("HEADERS", ham(6), version="1.2", Compress="zlib"),
        request("TELL", ham(6), Set="local", Message_class="ham"),
        b"PING SPAMC/1.5\r\n\r\n",
        b"SKIP SPAMC/1.0\r\n",
        b"CHECK SPAMC/1.5\r\n",
        b"Content-length: 9\r\n",
        b"User: \r\n",
        b"X: y\r\n" * 300,
        b"\r\n",
        b"z" * 9000,
    )

    def __init__(self):
        super().__init__()
        options = Options(model=self.model, max_size=MOST)
        self.handle = Spamd(self.judge, LearningQueue(lambda: None, self.log), self.log, options).handle

    def check_ended(self, session):
        """One answer, the same in whatever pieces the request came."""
        super().check_ended(session)
        at_once = Session(self.handle)
        if session.sent:
            at_once.send(session.sent)
        at_once.send(b"")
        # Of a last line without end, what follows is counted as far as it has come: as spamd does.
        assert session.heard == at_once.heard or b"mismatch" in session.heard + at_once.heard
        assert session.heard == b"" or session.heard.startswith(b"SPAMD/1.")

    def check_timed_out(self, session, was_over):
        assert was_over or session.heard == LATE


class MilterSessions(Sessions):
    pieces = (
        HELLO,
        offer(),
        offer(version=2),
        packet(b"D", b"Cj\0mx\0_\0a [192.0.2.1]\0"),
        packet(b"R", b"<bob@b.example>\0"),
        packet(b"L", b"X-Spamnb\0 ham\0"),
        packet(b"L", b"Subject\0 x\0"),
        packet(b"N"),
        packet(b"B", b"y" * 1000),
        message(ham(7)),
        message(spam(7), end=b""),
        END,
        packet(b"A"),
        packet(b"Q"),
        struct.pack("!L", 1 << 30),
    )

    def __init__(self):
        super().__init__()
        self.milter = Milter(self.judge, self.log, Options(model=self.model, max_size=MOST))
        self.handle = self.milter.handle

    @invariant()
    def what_is_held_is_bounded(self):
        assert 0 <= self.milter.held <= MOST_HELD * MOST

    @invariant()
    def answers_are_whole_packets(self):
        for session in self.open:
            at = 0
            while at < len(session.heard):
                assert session.heard[at + 4 : at + 5] in (b"O", b"c", b"i", b"m", b"y", b"t")
                at += 4 + int.from_bytes(session.heard[at : at + 4], "big")
            assert at == len(session.heard)

    def teardown(self):
        super().teardown()
        assert self.milter.held == 0


@pytest.fixture(autouse=True, scope="module")
def model(spamnb):
    Sessions.model = spamnb.model


TestSpamd = SpamdSessions.TestCase
TestMilter = MilterSessions.TestCase
