"""Debian's spamc, against a real server at a port and at a Unix socket."""

import pytest
from helpers.programs import needs
from helpers.serving import LOOPBACK

from spamnb.model import Model

pytestmark = needs("spamc")


@pytest.fixture(scope="module", params=["port", "path"])
def server(request, serving, tmp_path_factory):
    """Where messages of more than 20,000 bytes are refused."""
    path = tmp_path_factory.mktemp("run") / "socket"
    return serving(listen=(LOOPBACK if request.param == "port" else f"unix:{path}",), max_size=20_000)


@pytest.fixture
def teachable(serving, own):
    return serving(model=own, allow_tell=True)


@pytest.mark.parametrize("label", ["ham", "spam", "unsure"])
def test_check(server, spamnb, mail, label):
    raw = mail.messages[label]
    points = Model.open(spamnb.model).classify(raw).points
    assert server.spamc("-c", stdin=raw) == (int(label == "spam"), f"{points:.1f}/5.0\n".encode())


@pytest.mark.parametrize("label", ["ham", "spam", "unsure"])
def test_passed_on_as_by_classify(server, spamnb, mail, label):
    raw = mail.messages[label]
    for options in ([], ["-x"], ["--headers"], ["-u", "joe"]):
        assert server.spamc(*options, stdin=raw) == (0, spamnb("classify", "-p", stdin=raw).out)


@pytest.mark.parametrize("options", [[], ["-c"], ["-R"], ["-y"], ["-x"]], ids=" ".join)
def test_exit_code(server, mail, options):
    for label, code in (("spam", 1), ("ham", 0), ("unsure", 0)):
        assert server.spamc("-E", *options, stdin=mail.messages[label])[0] == code
    assert server.spamc("-E", "-r", stdin=mail.messages["spam"])[0] == 0  # as with spamd


def test_tests_and_reports(server, mail):
    spam, ham = mail.messages["spam"], mail.messages["ham"]
    assert server.spamc("-y", stdin=spam) == (0, b"SPAMNB_SPAM")
    code, report = server.spamc("-R", stdin=spam)
    assert code == 0
    assert b"/5.0\nspamnb says spam: " in report
    assert b"casino" in report
    assert report.decode().replace("\n", "").isprintable()
    assert server.spamc("-r", stdin=spam) == (0, report.partition(b"\n")[2])
    assert server.spamc("-r", stdin=ham) == (0, b"")


def test_alive(server):
    assert server.spamc("-K") == (0, b"SPAMD/1.5 0\n")


def test_what_is_refused_comes_back_as_it_was(server):
    large = b"Subject: large\n\n" + b"large " * 5_000
    assert server.spamc(stdin=large) == (0, large)
    assert server.spamc("-x", stdin=large)[0] == 74
    assert server.spamc("-E", stdin=large) == (0, large)
    assert server.spamc("-x", "-E", stdin=large)[0] == 74
    assert server.spamc("-c", stdin=large) == server.spamc("-c", "-E", stdin=large) == (0, b"0/0\n")
    assert server.spamc("-x", "-c", stdin=large) == (74, b"0/0\n")
    assert server.spamc("-x", "-c", "-s", "9", stdin=large) == (0, b"0/0\n")


def test_teaching(teachable, spamnb, own):
    """What it says is spamc's; what was learned is asked of the model."""
    done, idle = b"Message successfully un/learned\n", b"Message was already un/learned\n"
    raw = b"Subject: xyzzy\n\nplugh\n"
    for what, said, knows in (
        ("spam", done, ("train --spam", "spam: 1 already known")),
        ("spam", idle, ("train --spam", "spam: 1 already known")),
        ("ham", done, ("train --ham", "ham: 1 already known")),
        ("forget", done, ("forget", "messages: 1 never learned")),
        ("forget", idle, ("forget", "messages: 1 never learned")),
    ):
        assert teachable.spamc("-L", what, stdin=raw) == (0, said)
        asked, answer = knows
        assert spamnb(*asked.split(), "-", "--model", own, stdin=raw).lines == [answer]


def test_reporting_teaches(teachable, spamnb, own):
    """Told again it says the same: the message is what it was said to be."""
    raw = b"Subject: xyzzy reported\n\nplugh\n"
    for what, label in (("report", "spam"), ("revoke", "ham")):
        for _ in range(2):
            assert teachable.spamc("-C", what, stdin=raw) == (0, b"Message successfully reported/revoked\n")
        known = spamnb("train", f"--{label}", "-", "--model", own, stdin=raw).lines
        assert known == [f"{label}: 1 already known"]


def test_teaching_is_refused_unless_allowed(server, mail):
    assert server.spamc("-L", "spam", stdin=mail.messages["spam"]) == (74, b"")
    server.wait_for("TELL commands are not enabled")
