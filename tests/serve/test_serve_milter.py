"""The milter protocol, packet by packet: what a mail server says, and what it hears."""

import signal
import struct

import pytest
from helpers.packets import AGREED, CONTINUE, END, HELLO, message, offer, packet
from helpers.passthrough import FORGED
from helpers.samples import ham
from helpers.serving import Spoken, everything, refuses
from helpers.waiting import PATIENCE, until
from hypothesis import given
from hypothesis import strategies as st

from spamnb.serve.clients import HeldBytes
from spamnb.serve.judge import Judge
from spamnb.serve.log import Log
from spamnb.serve.metrics import FAILED, PROTOCOL, TIMEOUT, Counters
from spamnb.serve.milter import Milter
from spamnb.serve.options import Options


def removed(place, name=b"x-spamnb"):
    return packet(b"m", struct.pack("!L", place) + name + b"\0\0")


class Server:
    """A mail server's session with a milter, without a socket between them."""

    def __init__(self, model, **options):
        self.counters = Counters()
        asked = Options(model=model, **options)
        self.held = HeldBytes(asked.max_size)
        self.milter = Milter(Judge(asked, self.counters), Log(), asked, self.held)

    def says(self, *pieces):
        """What it hears when it has said all that; nothing more after a session was broken off."""
        return Spoken(pieces).talk(self.milter.handle).removeprefix(AGREED)

    def counted(self, kind):
        return self.counters.by_name[kind]


@pytest.fixture
def server(spamnb):
    return Server(spamnb.model)


@pytest.mark.parametrize(
    ("label", "head"), [("ham", b""), ("spam", b""), ("unsure", b""), ("spam", b"Subj\xe9ct: x\n\xff: y\n")]
)
def test_the_verdict_is_put_in_front(server, mail, label, head):
    heard = server.says(HELLO, message(head + mail.messages[label]))
    assert heard[4:].startswith(b"i\0\0\0\0X-Spamnb\0 " + label.encode() + b"; score=")
    assert heard.endswith(CONTINUE)


def test_a_forged_header_behind_a_bare_carriage_return_is_refused(server, mail):
    for forged in (b"Subject: a\rX-Spamnb: ham\n", b"A: b\r c\rx-spamnb \t: ham\n"):
        heard = server.says(HELLO, message(forged + mail.messages["ham"]), message(mail.messages["spam"]))
        assert heard[4:].startswith(b"y550 5.7.1 ")
        assert b" spam; score=" in heard  # the session goes on
    for harmless in (b"A: b\rc\n", b"A: b\r X-Spamnb: c\n", b"A: X-Spamnb: ham\n", b"A: b\rX-Spamnbs: c\n"):
        assert b" ham; score=" in server.says(HELLO, message(harmless + mail.messages["ham"]))


def test_what_cannot_be_judged_is_accepted_without_forged_headers(tmp_path, mail, capfd):
    server = Server(str(tmp_path / "missing"))
    heard = server.says(HELLO, message(FORGED + b"\n" + mail.messages["spam"]))
    assert heard == removed(1) + CONTINUE
    assert server.counted(FAILED) == 1
    assert "no model" in capfd.readouterr().err


STRANGE = {
    "another protocol": b"GET / HTTP/1.0\r\n\r\n",
    "an unknown packet": offer() + packet(b"?", b"x"),
    "half a header": offer() + packet(b"L", b"Subject"),
    "an end without a beginning": END,
    "a huge packet": offer() + struct.pack("!L", 1 << 30),
}


@pytest.mark.parametrize("said", STRANGE.values(), ids=STRANGE)
def test_what_is_no_session_is_ended(server, said):
    assert server.says(said, HELLO) == b""
    assert server.counted(PROTOCOL) == 1


PIECES = (HELLO, offer(), packet(b"R", b"<b@b>\0"), packet(b"L", b"X-Spamnb\0 ham\0"), packet(b"N"),
          packet(b"B", b"y" * 1000), message(ham(7)), END, packet(b"A"), packet(b"Q"))  # fmt: skip


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=30), max_size=12), st.integers(0, 40))
def test_whatever_is_said_only_whole_packets_are_heard(spamnb, said, cut):
    server = Server(spamnb.model, max_size=3000)
    heard = server.says(HELLO, b"".join(said)[cut:])
    while heard:
        assert heard[4:5] in (b"O", b"c", b"i", b"m", b"y")
        heard = heard[4 + int.from_bytes(heard[:4], "big") :]
    assert (server.counted(FAILED), server.held.now) == (0, 0)


class TestServing:
    """Over a socket, with the real server: AGREED is that nothing is shown that is not needed."""

    def test_a_session_goes_on_while_it_is_used(self, serving, mail):
        server = serving(milter=True, milter_timeout=3.0, http=("127.0.0.1:0",))
        with server.connect() as client:
            client.sendall(HELLO)
            assert client.recv(1 << 16) == AGREED
            for _ in range(3):
                client.sendall(message(mail.messages["spam"]))
                assert client.recv(1 << 16).endswith(CONTINUE)
            assert everything(client) == b""  # then it is over
        text = server.ask(b"GET /metrics HTTP/1.0\r\n\r\n", address=server.http).decode()
        assert f'spamnb_errors_total{{kind="{TIMEOUT}"}} 1\n' in text
        assert 'spamnb_messages_total{verdict="spam"} 3\n' in text
        assert "asked=MILTER" in server.log

    def test_what_was_begun_is_finished(self, serving, mail):
        server = serving(milter=True)
        said = message(mail.messages["spam"])
        with server.connect() as client:
            client.sendall(HELLO + said[:-10])
            assert client.recv(1 << 16) == AGREED
            server.process.send_signal(signal.SIGTERM)
            until(lambda: refuses(server))
            client.sendall(said[-10:])
            assert b" spam; score=" in client.recv(1 << 16)
            assert server.process.wait(PATIENCE) == 0  # though the session could go on


def test_the_subject_of_spam_is_tagged_if_wanted(spamnb, mail, tmp_path, monkeypatch):
    (tmp_path / "spamnb").mkdir()
    (tmp_path / "spamnb" / "spamnb.toml").write_text('subject_tag = "[spam]"\nheader = "X-Spam-Told"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    server, raw = Server(spamnb.model), mail.messages["spam"]
    tagged = packet(b"m", struct.pack("!L", 1) + b"Subject\0 [spam] cheap pills 99\0")
    heard = server.says(HELLO, message(raw))
    assert heard[4:].startswith(b"i\0\0\0\0X-Spam-Told\0 spam; ")
    assert heard.endswith(tagged + CONTINUE)
    assert b"[spam]" not in server.says(HELLO, message(mail.messages["ham"]))
    without = server.says(HELLO, message(raw.replace(b"Subject: cheap pills 99\n", b"")))
    assert without.endswith(packet(b"i", struct.pack("!L", 1) + b"Subject\0 [spam]\0") + CONTINUE)
    assert tagged not in server.says(HELLO, message(raw.replace(b"Subject: ", b"Subject: [spam] ")))


def test_a_message_for_one_is_judged_by_the_model_of_the_recipient(spamnb, mail, tmp_path, capfd):
    """Of the address, or of the name in it; for several, by the shared one."""
    for user in ("bob", "ann@example.org"):
        (tmp_path / user).mkdir()
        swapped = ("--ham", mail.spam, "--spam", mail.ham)
        spamnb("train", "--jobs", "1", "--model", tmp_path / user / "model.msgpack", *swapped)
    server = Server(spamnb.model, user_models=str(tmp_path))

    def judged(*recipients):
        said = b"".join(packet(b"R", f"<{address}>".encode() + b"\0") for address in recipients)
        heard = server.says(HELLO, said, message(mail.messages["spam"]))
        return b" spam; score=" in heard, capfd.readouterr().err.partition(" user=")[2].split()[0]

    assert judged("bob@example.org") == (False, "bob")
    assert judged("Bob+lists@example.com") == (False, "bob")
    assert judged("ann@example.org") == (False, "ann@example.org")
    assert judged("Ann+news@example.com") == (True, "ann@example.com")
    assert judged('"bob"@example.org') == (False, "bob")
    assert judged("bob@example.org", "ann@example.org") == (True, "-")
    assert judged("../bob@example.org") == (True, "../bob@example.org")
