"""Servers that lie: numbers must be such that can be, and no password comes back."""

from base64 import b64encode

import pytest
from helpers.imap_liars import LyingImap
from helpers.imap_mailbox import HOST

from spamnb.errors import SpamnbError
from spamnb.imap import connection
from spamnb.imap.accounts import Account
from spamnb.imap.connection import MAX_COPIED, uids_in

pytestmark = pytest.mark.slow

FOUND = b"* SEARCH %b\r\nTAG OK done\r\n"
SELECTED = b"* 1 EXISTS\r\n* OK [UIDVALIDITY %d] x\r\n* OK [UIDNEXT %d] x\r\nTAG OK x\r\n"


@pytest.mark.parametrize(
    ("command", "answer"), [("UID SEARCH", FOUND % b"4294967296"), ("SELECT", SELECTED % (1, 1 << 63))]
)
def test_numbers_that_cannot_be(home, command, answer):
    with LyingImap({command: answer}) as server:
        home.add(server)
        done = home("run", "--again")
    assert done.code == 75
    said = (done.out + done.err).decode()
    assert "was not understood" in said
    assert "unexpected OverflowError" not in said


@pytest.mark.parametrize(
    ("code", "said"), [("EXPUNGEISSUED", ""), ("CANNOT", "cannot move"), ("OVERQUOTA", "the mailbox is full")]
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
    assert len(uids_in(b",".join([b"1:4000000000"] * 500))) < 2 * MAX_COPIED
    with pytest.raises(ValueError, match="range"):
        uids_in(b"1:99999999999999999999")


PASSWORDS = ["correct-horse", 'quo"ted "and" back\\slashed\\', "x" * 150 + "-then-it-is-cut", "grüße an alle"]


def forms(secret):
    """All that a login has of it."""
    yield from (secret, secret.replace("\\", "\\\\").replace('"', '\\"'), " ".join(secret.split()))
    yield b64encode(b"\0jane\0" + secret.encode()).decode()[12:-4]


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
def test_a_password_that_the_server_repeats_is_not_shown(monkeypatch, answer):
    for password in PASSWORDS:
        monkeypatch.setattr(connection, "secret_of", lambda _, password=password: password)
        with LyingImap({"LOGIN": answer, "AUTHENTICATE": answer}, password) as server:
            account = Account("home", HOST, port=server.port, tls="none", user=server.user, keyring=True)
            with pytest.raises(SpamnbError) as raised:
                connection.ImapConnection(account)
        said = str(raised.value).replace("`user` and the password", "")
        assert not [form for form in forms(password) if form and form in said], said
        assert ("busy ([UNAVAILABLE]" in said) == (b"UNAVAILABLE" in answer)
