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
def test_the_verdict_is_that_of_classify(server, spamnb, mail, label):
    raw, is_spam = mail.messages[label], int(label == "spam")
    points = Model.open(spamnb.model).classify(raw).points
    assert server.spamc("-c", stdin=raw) == (is_spam, f"{points:.1f}/5.0\n".encode())
    passed_on = spamnb("classify", "-p", stdin=raw).out
    for options in ([], ["--headers"], ["-u", "joe"]):
        assert server.spamc(*options, stdin=raw) == (0, passed_on)
    for options in ([], ["-R"], ["-y"], ["-x"]):
        assert server.spamc("-E", *options, stdin=raw)[0] == is_spam


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


def test_what_is_refused_comes_back_as_it_was(server):
    large = b"Subject: large\n\n" + b"large " * 5_000
    assert server.spamc(stdin=large) == (0, large)
    assert server.spamc("-x", stdin=large)[0] == 74
    assert server.spamc("-c", stdin=large) == server.spamc("-c", "-E", stdin=large) == (0, b"0/0\n")


def test_teaching(teachable, spamnb, own):
    """What it says is spamc's; what was learned is asked of the model."""
    done, idle = b"Message successfully un/learned\n", b"Message was already un/learned\n"
    raw = b"Subject: xyzzy\n\nplugh\n"
    for what, said, knows in (
        ("spam", done, ("train --spam", "spam: 1 already learned")),
        ("spam", idle, ("train --spam", "spam: 1 already learned")),
        ("ham", done, ("train --ham", "ham: 1 already learned")),
        ("forget", done, ("forget", "messages: 1 never learned")),
        ("forget", idle, ("forget", "messages: 1 never learned")),
    ):
        assert teachable.spamc("-L", what, stdin=raw) == (0, said)
        asked, answer = knows
        assert spamnb(*asked.split(), "-", "--model", own, stdin=raw).lines == [answer]
