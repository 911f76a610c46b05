"""Connections to real servers: TLS, logins, tokens; what goes wrong is said in one line; secrets are kept."""

import shlex
import subprocess

import pytest
from helpers.imap_mailbox import HOST, PASSWORD
from helpers.imap_servers import CERTIFY
from helpers.samples import ham, spam

TOKEN = "ya29.a-token-that-is-secret"


@pytest.fixture
def secure(dovecot, home):
    """Write an account that uses TLS, changed as a test wants it."""

    def write(**values):
        facts = {"host": "localhost", "port": dovecot.tls_port, "tls": "implicit", "ca_file": str(dovecot.ca)}
        home.change(dovecot, **(facts | values))
        return home

    return write


def fails(home, code, *words):
    """One line that says what is wrong, and no secret."""
    home("check").fails(code, "home", *words)


def test_tls_and_starttls(dovecot, secure):
    for values in ({}, {"tls": "starttls", "port": dovecot.port}):
        home = secure(**values)
        dovecot.append("INBOX", spam(99))
        home.run()
        assert home("check", "--json").succeeds().json_lines[0]["tls"] == values.get("tls", "implicit")
    assert len(dovecot.contents()["Junk"]) == 2


def test_certificates(dovecot, dovecot_with, secure, tmp_path):
    fails(secure(ca_file=None), 75, "certificate", "`ca_file`")
    fails(secure(host="127.1"), 75, "certificate", "127.1", "`host`")
    fails(secure(ca_file=str(tmp_path / "none.pem")), 65, "ca_file")
    command = f"{CERTIFY} -keyout {tmp_path}/key -out {tmp_path}/other.pem -subj /CN=localhost"
    subprocess.run(shlex.split(command), check=True, capture_output=True)
    fails(secure(ca_file=str(tmp_path / "other.pem")), 75, "certificate")
    fails(secure(tls="starttls", port=dovecot.port, ca_file=None), 75, "certificate")
    fails(secure(port=dovecot.port), 75, "TLS failed", "`port`")
    assert "LOGIN" not in dovecot.log
    plain = dovecot_with(settings="ssl = no\n")
    fails(secure(host=HOST, port=plain.port, tls="starttls"), 75, "STARTTLS", "`tls`")  # offers none


def test_logins_that_are_refused(secure):
    home = secure()
    home.password_file.write_text("wrong-secret\n")
    fails(home, 75, "login refused", "the address")
    said = home("check").err
    assert not any(text in said for text in (b"wrong-secret", b"b'"))
    fails(secure(password_file=None, password_command="echo wrong-secret"), 75, "login refused")
    done = secure(password_file=None, oauth2_token_command=f"echo {TOKEN}")("check")
    assert (done.code, TOKEN in done.err.decode()) == (75, False)


def test_folders_that_are_not_there(secure):
    for values, why in (
        ({"ham": ["archive"]}, "no folder 'archive'; did you mean 'Archive'?"),
        ({"inbox": ["INBOX", "Lists"]}, "no folder 'Lists'; `spamnb imap check` lists the folders"),
        ({"junk": "Jnuk"}, "no folder 'Jnuk'; did you mean 'Junk'?"),
    ):
        done = secure(**values)("check")
        assert (done.code, done.err.decode()) == (65, f"spamnb: home: there is {why}\n")
        assert "  not used: Trash, 0 messages" in done.lines or "  trash: Trash, 0 messages" in done.lines


@pytest.mark.parametrize("only", ["", "auth_mechanisms = plain xoauth2\n"], ids=["OAUTHBEARER", "XOAUTH2"])
def test_tokens_are_refreshed_when_refused(dovecot_with, home, only):
    """The first time the command prints a token that has run out."""
    server = dovecot_with(settings=only)
    server.tokens.good = {TOKEN}
    times = home.path / "times"
    command = f'echo x >> {times}; [ "$(wc -l < {times})" -gt 1 ] && echo {TOKEN} || echo old'
    home.change(server, password_file=None, oauth2_token_command=command)
    assert home("check", "--json").succeeds().json_lines[0]["can"]["IDLE"]
    assert times.read_text() == "x\nx\n"


def test_no_secret_and_no_text_is_kept(server, home):
    home.add(server)
    for raw in (spam(99), ham(99)):
        server.append("INBOX", raw)
    done = home("run", "--json")
    kept = b"".join(path.read_bytes() for path in home.path.glob(".local/state/**/*") if path.is_file())
    assert done.code == 0
    assert b"INBOX" in kept
    for secret in (PASSWORD.encode(), b"casino", b"pills", b"ann@", b"agenda", b"meeting"):
        assert secret not in kept
    assert PASSWORD.encode() not in done.out + done.err
