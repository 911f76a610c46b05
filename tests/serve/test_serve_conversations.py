"""The protocols without their sockets: sessions side by side, fed in any order, cut, ended or timed out.

Requests of spamd's protocol in any pieces are in tests/fuzz, and clients who break off in test_serve_load.py.
"""

import struct

import pytest
from helpers.packets import END, HELLO, message, offer, packet
from helpers.samples import ham, spam
from helpers.serving import request
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from spamnb.serve.conversation import Incoming
from spamnb.serve.held_bytes import MOST_HELD, HeldBytes
from spamnb.serve.judge import Judge
from spamnb.serve.learning import LearningQueue
from spamnb.serve.log import Log
from spamnb.serve.metrics import Counters
from spamnb.serve.milter import Milter
from spamnb.serve.options import Options
from spamnb.serve.spamd import Spamd

MOST = 3000  # bytes of a message
LATE = b"SPAMD/1.0 79 Timeout: (30 second timeout reading input from client)\r\n"


class Recording(Log):
    """Keeps what went wrong instead of printing it."""

    def __init__(self):
        super().__init__(quiet=True)
        self.errors = []

    def refused(self, why, user="", message_id=""):
        pass

    def unexpected(self, error):
        self.errors.append(error)


class Session:
    """A conversation, what its client has heard, and whether it is over."""

    def __init__(self, handle):
        self.incoming = Incoming()
        self.conversation = handle(self.incoming)
        self.heard = b""
        self.is_over = False
        self._go_on(lambda: next(self.conversation))

    def send(self, piece):
        """Bytes, of which none are the end of the client."""
        if not self.is_over:
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


class MilterSessions(RuleBasedStateMachine):
    """Sessions of one server."""

    sessions = Bundle("sessions")
    model: str  # its path
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
        self.open = []
        self.log = Recording()
        options = Options(model=self.model, max_size=MOST)
        self.milter = Milter(Judge(options, Counters(1)), self.log, options)

    @rule(target=sessions)
    def connect(self):
        session = Session(self.milter.handle)
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
        assert session.is_over

    @rule(session=consumes(sessions))
    def time_out(self, session):
        session.time_out()
        assert session.is_over

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
        assert self.milter.held.own == 0

    @invariant()
    def what_is_held_is_bounded(self):
        assert 0 <= self.milter.held.own <= MOST_HELD * MOST

    @invariant()
    def answers_are_whole_packets(self):
        for session in self.open:
            at = 0
            while at < len(session.heard):
                assert session.heard[at + 4 : at + 5] in (b"O", b"c", b"i", b"m", b"y", b"t")
                at += 4 + int.from_bytes(session.heard[at : at + 4], "big")
            assert at == len(session.heard)


@pytest.fixture(autouse=True, scope="module")
def model(spamnb):
    MilterSessions.model = spamnb.model


TestMilter = MilterSessions.TestCase


def test_who_is_late_with_any_byte_of_a_request_is_told(spamnb):
    log, options = Recording(), Options(model=spamnb.model)
    spamd = Spamd(
        Judge(options, Counters(1)), LearningQueue(lambda: None, log, HeldBytes(MOST)), log, options
    )
    asked = request("CHECK", ham(5), User="joe")
    for size in range(len(asked)):
        session = Session(spamd.handle)
        if size:
            session.send(asked[:size])
        session.time_out()
        assert (session.is_over, session.heard) == (True, LATE)
