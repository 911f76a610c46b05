"""Servers that lie: they may send so much and no more, numbers that can be, and no password comes back."""

from base64 import b64encode
from itertools import chain, repeat
from types import SimpleNamespace

import pytest
from fuzz.imap_checks import SESSION, Talk
from helpers.imap_liars import LyingImap
from helpers.imap_mailbox import HOST

from spamnb.errors import SpamnbError
from spamnb.imap import client
from spamnb.imap.accounts import Account
from spamnb.imap.connection import MOST_COPIED, ImapConnection, uids_in
from spamnb.imap.errors import Broken
from spamnb.imap.fetch import heads

pytestmark = pytest.mark.slow

MB = 1 << 20
ENDLESS = repeat(b"x" * 65536)


@pytest.mark.parametrize(
    ("answers", "most"),
    [
        ({"UID FETCH": chain([b"* 1 FETCH (UID 1 BODY[HEADER]<0> {4294967296}\r\n"], ENDLESS)}, 16 * MB),
        ({"UID FETCH": chain([b"* 1 FETCH (UID 1 BODY[HEADER]<0> {6000000}\r\n"], ENDLESS)}, 16 * MB),
        ({"UID FETCH": repeat(b"* 1 FETCH (UID 1 FLAGS ())\r\n" * 1000)}, 32 * MB),
        ({"SELECT": chain([b"* OK [X {4294967296}\r\n"], ENDLESS)}, 16 * MB),
        ({"SELECT": repeat(b"* OK " + b"nothing yet " * 5000 + b"\r\n")}, 32 * MB),
        ({"LIST": repeat(b'* LIST () "/" {60000}\r\n' + b"INBOX" * 12000 + b"\r\n")}, 32 * MB),
        ({"": chain([b"* OK {4294967296}\r\n"], ENDLESS)}, 16 * MB),
        ({"LOGIN": chain([b"* OK "], ENDLESS)}, 80 * MB),
    ],
)
def test_a_server_may_send_what_was_asked_for_and_no_more(home, answers, most):
    with LyingImap(answers) as server:
        home.add(server)
        done = home("run", "--again")
        done.fails(75, "more than")
    assert server.sent < most


class Dripping(Talk):
    """A server that gives some answers and then a drop at a time for ever: one in half a minute."""

    now, drop = 0, b""

    def recv(self, size=-1, /):
        self.now += 30
        return self.read(size) or self.drop


@pytest.mark.parametrize("drop", [b"x", b"+ \r\n", b"* OK \r\n"])
@pytest.mark.parametrize("sound", range(1, 7))
def test_an_answer_has_an_end_in_time(monkeypatch, sound, drop):
    server = Dripping(SESSION[:sound])
    server.drop = drop
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=lambda: server.now))
    monkeypatch.setattr(client.BoundedConnection, "_create_socket", lambda *_: server)
    with pytest.raises(Broken, match="no whole answer in 900 seconds"):
        talk(Account("home", HOST, tls="none", user="jane", password="grüße an alle"))


def talk(account):
    connection = ImapConnection(account)
    try:
        connection.folders()
        connection.open("INBOX")
        list(heads(connection, connection.search()))
    finally:
        connection.close()


def test_news_that_came_with_the_answer_are_not_waited_for(monkeypatch):
    answers = [answer.replace(b"MOVE", b"IDLE") for answer in SESSION[:3]]
    server = Talk([*answers, b"+ idling\r\n* 5 EXISTS\r\nTAG OK done\r\n"])
    monkeypatch.setattr(client.BoundedConnection, "_create_socket", lambda *_: server)
    monkeypatch.setattr("select.select", None)
    ImapConnection(Account("home", HOST, tls="none", user="jane", password="x")).wait(60, 0)


def test_what_came_before_tls_is_dropped(monkeypatch):
    plain = Talk([b"* OK ready\r\n", b"* CAPABILITY IMAP4rev1\r\nTAG OK done\r\n* OK forged\r\n"])
    monkeypatch.setattr(client.BoundedConnection, "_create_socket", lambda *_: plain)
    connection = client.BoundedConnection(HOST, 143, None, 5)
    connection.sock = Talk([b"* OK true\r\n"])  # type: ignore[assignment]  # as for STARTTLS
    assert connection.readline() == b"* OK true\r\n"


FOUND = b"* SEARCH %b\r\nTAG OK done\r\n"
SELECTED = b"* 1 EXISTS\r\n* OK [UIDVALIDITY %d] x\r\n* OK [UIDNEXT %d] x\r\nTAG OK x\r\n"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("UID SEARCH", FOUND % b"18446744073709551616"),
        ("UID SEARCH", FOUND % b"4294967296"),
        ("UID SEARCH", FOUND % b"-1"),
        ("UID SEARCH", FOUND % (b"9" * 5000)),
        ("SELECT", SELECTED % (1 << 63, 2)),
        ("SELECT", SELECTED % (1, 1 << 63)),
    ],
)
def test_numbers_that_cannot_be(home, command, answer):
    with LyingImap({command: answer}) as server:
        home.add(server)
        done = home("run", "--again")
    assert done.code == 75
    said = (done.out + done.err).decode()
    assert "makes no sense" in said
    assert "unexpected OverflowError" not in said


@pytest.mark.parametrize(
    ("code", "said"),
    [("EXPUNGEISSUED", ""), ("CANNOT", "cannot move"), ("OVERQUOTA", "the mailbox is full")],
)
def test_a_move_that_is_refused_is_an_error_unless_another_client_was_faster(home, mail, code, said):
    raw = mail.messages["spam"]
    fetched = b"* 1 FETCH (UID 1 FLAGS () BODY[] {%d}\r\n%s)\r\nTAG OK done\r\n" % (len(raw), raw)
    refused = f"TAG NO [{code}] no\r\n".encode()
    with LyingImap({"UID FETCH": fetched, "UID MOVE": refused}) as server:
        home.add(server)
        done = home("run", "--again")
    assert (done.code, len(done.err.splitlines())) == ((75, 1) if said else (0, 0))
    assert said in done.err.decode()


def test_numbers_of_copies_are_bounded():
    assert uids_in(b"2,5:7") == [2, 5, 6, 7]
    assert len(uids_in(b",".join([b"1:4000000000"] * 500))) < 2 * MOST_COPIED
    with pytest.raises(ValueError, match="range"):
        uids_in(b"1:99999999999999999999")


PASSWORDS = [
    "correct-horse",
    "two  spaces  and three   of them",
    'quo"ted "and" back\\slashed\\',
    '\\"\\"\\"\\"\\"\\"',
    "x" * 150 + "-then-it-is-cut",
    "tab\tand\x7fmore",
    "grüße an alle",
    "s3",
]


def pieces(secret):
    """All that would tell a part of it: six characters in a row, in any form that a login has."""
    forms = [secret, secret.replace("\\", "\\\\").replace('"', '\\"'), " ".join(secret.split())]
    forms.append(b64encode(b"\0jane\0" + secret.encode()).decode()[12:])
    return {form[at : at + 6] for form in forms for at in range(max(1, len(form) - 5))} - {""}


@pytest.mark.parametrize(
    "answer",
    [
        b"TAG NO I do not like LINE\r\n",
        b"TAG NO [UNAVAILABLE] " + b"y" * 150 + b" LINE\r\n",
        b"* BYE LINE\r\n",
        b"LINE\r\nTAG NO\r\n",
        b"TAG BAD what is LINE\r\n",
    ],
)
def test_a_password_that_the_server_repeats_is_not_shown(answer):
    for password in PASSWORDS:
        with LyingImap({"LOGIN": answer, "AUTHENTICATE": answer}, password) as server:
            account = Account("home", HOST, port=server.port, tls="none", user=server.user, password=password)
            with pytest.raises(SpamnbError) as raised:
                ImapConnection(account)
        said = str(raised.value).replace("`user` and the password", "")
        assert not [piece for piece in pieces(password) if piece in said], said
        assert ("busy ([UNAVAILABLE]" in said) == (b"UNAVAILABLE" in answer)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("", b"you said wonderland-secret\r\n"),
        ("LIST", b"TAG NO \xff you said wonderland-secret\r\n"),
        ("LOGIN", b"TAG NO \xff LINE\r\n"),
    ],
)
def test_a_password_is_not_shown_by_the_program(home, command, answer):
    with LyingImap({command: answer}) as server:
        home.add(server)
        done = home("run")
    assert done.code == 75
    assert b"wonder" not in done.out + done.err
