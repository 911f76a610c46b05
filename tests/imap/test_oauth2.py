"""OAuth 2 with a real provider and a real mail server: a login in a browser, and tokens that are renewed."""

import itertools
import json
import socketserver
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event

import keyring
import pytest
from flask import abort
from helpers.bad_network import BadNetwork
from helpers.imap_accounts import ImapHome, folders
from helpers.imap_mailbox import HOST, USER
from helpers.imap_servers import serve, stop
from helpers.oauth2_provider import CLIENT, Provider
from helpers.samples import spam
from helpers.waiting import PATIENCE, until
from keyrings.alt.file import PlaintextKeyring

from spamnb.errors import SpamnbError
from spamnb.imap import oauth2
from spamnb.imap.accounts import parse_account
from spamnb.imap.oauth2 import Login

AGAIN = "run: spamnb imap login --account home"


class OAuth2Home(ImapHome):
    """A home whose keyring is a file, for the program and for these tests."""

    @property
    def environment(self):
        return super().environment | {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring"}

    @contextmanager
    def started(self, *arguments):
        """A program that shows a code, or watches."""
        command = [self.spamnb.program, "imap", *arguments]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def login(self, table, **values):
        facts = {"host": HOST, "user": USER, "oauth2": table} | values
        account = parse_account("home", facts)
        assert account.oauth2
        return Login(account, account.oauth2)


@pytest.fixture(scope="module")
def _provider():
    with Provider() as provider:
        yield provider


@pytest.fixture
def provider(_provider):
    _provider.reset()
    return _provider


@pytest.fixture
def home(spamnb, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".local/state"))
    before, ours = keyring.get_keyring(), PlaintextKeyring()
    ours.file_path = str(tmp_path / ".local/share/python_keyring/keyring_pass.cfg")
    keyring.set_keyring(ours)
    yield OAuth2Home(spamnb, tmp_path)
    keyring.set_keyring(before)


@pytest.fixture
def server(dovecot_with, provider):
    return dovecot_with(introspection=provider.introspection)


@pytest.fixture
def logged_in(server, provider, home):
    """A home with an account that somebody has logged in to."""
    home.add(server, password_file=None, oauth2=provider.table())
    log_in(home.login(provider.table()), provider)
    return home


def log_in(login, provider):
    codes = []
    login.in_browser(lambda _, code: codes.append(code), lambda _: provider.enter(codes[0]))


def grants(provider):
    """How tokens were asked for, since the last question."""
    found = [form["grant_type"].rpartition(":")[2] for form, _ in provider.answered if "grant_type" in form]
    provider.answered.clear()
    return found


def code_shown(process, page):
    words = process.stderr.readline().split()
    assert words[:2] == ["open", page]
    return words[-1]


def test_from_nothing_to_a_filtered_mailbox(dovecot_with, provider, home):
    """By XOAUTH2; all other tests by OAUTHBEARER."""
    only = "auth_mechanisms = plain xoauth2\n"
    server = dovecot_with(introspection=provider.introspection, settings=only)
    given = [f"oauth2.{key}={value}" for key, value in provider.table().items()]
    where = (f"host={HOST}", f"port={server.port}", "tls=none", f"user={USER}")
    with home.started("setup", *where, *given) as process:
        provider.enter(code_shown(process, provider.url + "page"))
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    server.append("INBOX", spam(99))
    home.config.write_text(home.config.read_text().replace('action = "nothing"', 'action = "move"'))
    home("train").succeeds()
    assert home.outcomes() == [("spam", "moved to Junk")]
    assert [*folders(server)] == ["Junk"]
    assert grants(provider) == ["device_code"]
    kept = b"".join(data for name, data in home.files().items() if "keyring" not in name)
    for token in provider.tokens:
        assert not any(secret in out or secret.encode() in kept for secret in (token.access, token.refresh))


def test_watching_goes_on_with_another_token(logged_in, server, provider):
    with BadNetwork(server.port) as network:
        logged_in.change(server, port=network.port, password_file=None, oauth2=provider.table())
        with logged_in.started("watch"):
            for number in (1, 2):
                server.append("INBOX", spam(number))
                until(lambda: len(server.contents()["Junk"]) == number)  # noqa: B023
                provider.tokens[-1].is_over = True
                network.cut()
    assert "refresh_token" in grants(provider)


def test_a_token_that_has_run_out_is_renewed(logged_in, provider):
    provider.lifetime = 0
    logged_in("check").succeeds()  # the first lasts an hour
    assert grants(provider) == ["device_code"]
    provider.tokens[-1].is_over = True  # it is refused before its time
    logged_in("check").succeeds()
    logged_in("check").succeeds()  # the second has no time left
    assert grants(provider) == ["refresh_token"] * 2
    assert [token.is_used for token in provider.tokens] == [True, True, False]


def test_a_login_that_has_ended(logged_in, provider):
    provider.tokens[-1].is_over = provider.tokens[-1].is_used = True
    logged_in("run").fails(75, "home: 127.0.0.1: the login has ended (invalid_grant)", AGAIN)
    with logged_in.started("login") as process:
        provider.enter(code_shown(process, provider.url + "page"))
        assert process.communicate(timeout=PATIENCE) == (f"home: logged in to {HOST} as {USER}\n", "")
    logged_in("run").succeeds()


def test_before_a_login(server, provider, home):
    home.add(server)
    home("login").fails(64, "no account uses a login with a browser")
    home.change(server, password_file=None, oauth2=provider.table())
    home("check").fails(65, "nobody has logged in yet", AGAIN)
    nowhere = home.environment | {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    home.spamnb("imap", "login", env=nowhere).fails(65, "keyring: No recommended backend", "keyrings.alt")
    assert provider.answered == []
    home.change(server, password_file=None, oauth2=provider.table() | {"client_id": "other"})
    home("login").fails(75, "login refused (invalid_client", "check `oauth2`")


def test_logins_that_are_denied_or_take_too_long(provider, home):
    def ends(do):
        codes: list[str] = []
        with pytest.raises(oauth2.Refused) as caught:
            home.login(provider.table()).in_browser(
                lambda _, code: codes.append(code), lambda _: do(codes[0])
            )
        assert str(caught.value).endswith("; try again")  # `setup` has not written the account yet
        return caught.value.code

    assert ends(lambda code: provider.enter(code, "deny")) == "access_denied"
    assert (
        ends(lambda _: [device.update(expires_at=0) for device in provider.devices.values()])
        == "expired_token"
    )
    provider.expires_in = 3
    provider.answered.clear()
    assert ends(lambda _: None) == "expired_token"
    assert len(grants(provider)) == 3


@pytest.mark.parametrize("is_renewed", [False, True], ids=["before", "after"])
def test_killed_while_a_token_is_renewed(logged_in, provider, is_renewed):
    """Where the provider has given another token that nobody keeps, only a login helps."""
    asked, go_on = Event(), Event()

    def hold(form):
        if form.get("grant_type") == "refresh_token":
            asked.set()
            assert go_on.wait(PATIENCE)
            if not is_renewed:
                abort(503)

    provider.tokens[-1].is_over = True
    provider.before, provider.after = (provider.after, hold) if is_renewed else (hold, provider.after)
    with logged_in.started("run") as process:
        assert asked.wait(PATIENCE)
        process.kill()
        process.wait()
        go_on.set()
    provider.before = provider.after = lambda _: None
    if is_renewed:
        logged_in("run").fails(75, AGAIN)
        log_in(logged_in.login(provider.table()), provider)
    logged_in("run").succeeds()


def test_many_at_once_renew_once(logged_in, provider):
    login, old = logged_in.login(provider.table()), provider.tokens[-1].access
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: login.access_token(refused=old), range(8)))
    assert found == {provider.tokens[-1].access}
    assert grants(provider) == ["device_code", "refresh_token"]


def test_tls(dovecot_with, home):
    folder = dovecot_with().folder
    with Provider((folder / "server.pem", folder / "server.key")) as provider:
        with pytest.raises(SpamnbError, match=r"localhost: .*certificate"):
            log_in(home.login(provider.table()), provider)
        with pytest.raises(SpamnbError, match="ca_file nowhere: No such file"):
            log_in(home.login(provider.table(), ca_file="nowhere"), provider)
        begun = []
        login = home.login(provider.table(), ca_file=str(folder / "ca.pem"))
        with suppress(ZeroDivisionError):
            login.in_browser(lambda *shown: begun.append(shown), lambda _: 1 / 0)
        assert begun


class LyingProvider:
    """Answers every request with the same pieces, be they without end, and counts what was taken."""

    def __init__(self, pieces):
        self.pieces, self.sent, self.requests = pieces, 0, 0
        self.server = socketserver.ThreadingTCPServer((HOST, 0), self.serve_client)
        self.server.daemon_threads = True
        self.url = f"http://{HOST}:{self.server.server_address[1]}/"

    def __enter__(self):
        serve(self.server)
        return self

    def __exit__(self, *_):
        stop(self.server)

    def serve_client(self, connection, *_):
        self.requests += 1
        connection.recv(65536)
        with suppress(OSError):
            for piece in self.pieces:
                connection.sendall(piece)
                self.sent += len(piece)

    def table(self):
        return {"device_url": self.url, "token_url": self.url, "client_id": CLIENT}


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
BAD = b"HTTP/1.1 400 Bad Request\r\n\r\n"
BEGUN = {"device_code": "d", "user_code": "A-B", "verification_uri": "https://x/", "interval": 0}
TOKENS = {"access_token": "a", "refresh_token": "r", "expires_in": 60}


def saying(*changes, head=OK):
    """An answer that is right for every question, but for some changes."""
    return [head, json.dumps(dict(itertools.chain(BEGUN.items(), TOKENS.items(), *changes))).encode()]


@pytest.mark.parametrize(
    ("pieces", "word"),
    [
        ([], "closed connection"),
        ([b"nonsense\r\n\r\n"], "nonsense"),
        ([OK], "no answer of OAuth 2"),
        ([OK, b"[1]"], "no answer of OAuth 2"),
        ([OK, b"[" * 60000], "no answer of OAuth 2"),
        ([OK, b"\xff\xfe{}"], "no answer of OAuth 2"),
        (itertools.chain([OK], itertools.repeat(b" " * 65536)), "no answer of OAuth 2"),
        (itertools.chain([b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"X: y\r\n")), "100 headers"),
        ([b"HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n"], "HTTP status 302"),
        ([OK, b"{}"], "no device_code"),
        (saying({"user_code": "\x1b[2J"}.items()), "no user_code"),
        (saying({"expires_in": "soon"}.items()), "expires_in"),
        (saying({"access_token": "a\nb"}.items()), "no access_token"),
        (saying({"refresh_token": None}.items()), "offline_access"),
        (saying({"error": "invalid_scope"}.items(), head=BAD), r"login refused \(invalid_scope\)"),
        (saying({"error": "x", "error_description": ["\x07"]}.items(), head=BAD), "login refused"),
    ],
)
def test_providers_that_lie(home, pieces, word):
    with LyingProvider(pieces) as provider, pytest.raises(oauth2.Refused, match=word) as caught:
        home.login(provider.table()).in_browser(lambda *_: None, lambda _: None)
    line = str(caught.value)
    assert (line.isprintable(), len(line) < 400) == (True, True)
    assert (provider.requests <= 2, provider.sent < 16 << 20) == (True, True)
