"""Postfix with spamnb as its milter, by the text of the page."""

import smtplib
from email import message_from_bytes

import pytest
from helpers.homes import a_home
from helpers.letters import BIG, PLAIN, letters
from helpers.passthrough import FORGED, ODD
from helpers.postfixes import (
    RECIPIENT,
    SENDER,
    Postfix,
    check,
    check_unfiltered,
    halves,
    needs_postfix,
    score_of,
    verdict_in,
)
from helpers.recipes import recipe
from helpers.serving import Serving

pytestmark = needs_postfix

AS_SPAMNB, MODEL = "runuser -u spamnb -- ", "/var/lib/spamnb/model.msgpack"  # there; not here
# The one is refused; of the other, Postfix keeps 60,000 bytes if it has a milter, else 102,400.
LEFT_OUT = {ODD["many forged"]}
MAIN = recipe("milter", "Set up", "main.cf")


class Filtered(Postfix):
    """With a milter that can be asked for more, and stopped."""

    server = None

    def __init__(self, home, main=MAIN):
        super().__init__(home, main)
        (self.folder / "queue" / "spamnb").mkdir()

    @property
    def socket(self):
        return f"unix:{self.folder}/queue/spamnb/milter"

    def start(self, **options):
        options |= {"milter": True, "listen": (self.socket,), "model": str(self.home.model)}
        self.server = Serving(self.home.spamnb, self.folder, **options)

    def start_by_command(self):
        where = ("--listen", self.socket, "--model", str(self.home.model))
        self.server = Serving(self.home.spamnb, self.folder, [self.home.program, "serve", "--milter", *where])

    def __exit__(self, *_):
        super().__exit__()
        if self.server:
            self.server.end()


@pytest.fixture
def idle(home):
    with Filtered(home) as postfix:
        yield postfix


@pytest.fixture(scope="module")
def postfix(spamnb):
    """One that no test changes."""
    with a_home(spamnb) as home, Filtered(home) as postfix:
        postfix.start_by_command()
        yield postfix


def test_every_byte_but_the_header_and_the_verdict_of_the_command(postfix, spamnb, tmp_path):
    messages = [raw for raw in letters() if raw not in LEFT_OUT]
    delivered = postfix.deliver_all(messages)
    for without, what in zip(postfix.deliver_unfiltered(*messages), delivered, strict=True):
        check(without, what)
    for place, what in enumerate(delivered):
        (tmp_path / f"{place:04}").write_bytes(what)
    lines = spamnb("classify", *sorted(tmp_path.iterdir())).succeeds().lines
    for what, line in zip(delivered, lines, strict=True):
        verdict, score, _ = line.split("\t")
        assert verdict_in(what).startswith(f"X-Spamnb: {verdict}; score={score}; ")


def test_a_forged_header_deceives_nobody(postfix, mail):
    delivered = postfix.deliver(FORGED + b"\n" + mail.messages["spam"] + FORGED + b"\n")
    assert verdict_in(delivered).startswith("X-Spamnb: spam; ")
    assert halves(delivered)[1] == mail.messages["spam"] + FORGED + b"\n"
    with pytest.raises(smtplib.SMTPDataError, match="550"):
        postfix.send((FORGED + b"\n") * 1001 + mail.messages["spam"])


def test_a_header_within_a_header_deceives_nobody(postfix):
    """Sent as it is: smtplib would make a line end of the carriage return. Postfix makes a space of it."""
    with postfix.connect() as client:
        client.mail(SENDER)
        client.rcpt(RECIPIENT)
        client.docmd("DATA")
        client.send(b"Subject: a\rX-Spamnb: ham\r\nX-Spamnb : ham\r\n\r\nbody\r\n.\r\n")
        client.getreply()
    (delivered,) = postfix.delivered()
    assert len(message_from_bytes(delivered).get_all("X-Spamnb") or ()) == 1
    assert b"X-Spamnb :" not in delivered


def test_spam_is_refused_if_wanted(idle, mail):
    idle.start(reject=True)
    with pytest.raises(smtplib.SMTPDataError, match=r"550.*This message looks like spam"):
        idle.send(mail.messages["spam"])
    for message in ("ham", "unsure"):
        assert verdict_in(idle.deliver(mail.messages[message])).startswith(f"X-Spamnb: {message}; ")


def test_it_says_why_if_wanted(idle, mail, tmp_path, monkeypatch):
    (tmp_path / "spamnb").mkdir()
    (tmp_path / "spamnb" / "spamnb.toml").write_text("reasons = true\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    idle.start()
    forged = b"X-Spamnb-Reason: known to you\n"
    delivered = message_from_bytes(idle.deliver(forged + mail.messages["spam"]))
    (reason,) = delivered.get_all("X-Spamnb-Reason", [""])
    assert "casino.example" in reason


def test_without_a_server(idle, mail):
    messages = [mail.messages["spam"], PLAIN, BIG]
    for without, what in zip(idle.deliver_unfiltered(*messages), idle.deliver_all(messages), strict=True):
        check_unfiltered(without, what)


def test_a_server_killed_in_the_middle(idle, mail):
    idle.start()
    (without,) = idle.deliver_unfiltered(mail.messages["spam"])
    idle.server.end_when_asked()
    check_unfiltered(without, idle.deliver(mail.messages["spam"]))


def test_a_mistake_is_corrected(home, idle, mail):
    """With the message as it was delivered; the server knows at once."""
    idle.start()
    raw = mail.messages["unsure"]
    (home.path / "message").write_bytes(idle.deliver(raw))
    scores = [score_of(idle.deliver(raw))]
    lines = recipe("milter", "Correct a mistake", "sh")
    assert lines == recipe("postfix", "Correct a mistake", "sh")
    for line in lines.splitlines():
        home.run("sh", "-c", line.replace(AS_SPAMNB, "").replace(MODEL, str(home.model)))
        scores.append(score_of(idle.deliver(raw)))
    before, learned_as_spam, learned_as_ham = scores
    assert learned_as_ham < before < learned_as_spam
