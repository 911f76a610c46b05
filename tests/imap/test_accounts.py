"""`imap.toml`, and where passwords come from: what is wrong is said in one line, without the password."""

import os
import time

import keyring
import pytest
from keyring.backend import KeyringBackend

from spamnb.errors import SpamnbError
from spamnb.imap.accounts import Account, read_accounts
from spamnb.imap.errors import exceptions, explained
from spamnb.imap.secrets import ask_keyring, secret_of
from spamnb.imap.state import MAX_AGE, Record, State

GOOD = 'host = "imap.example.org"\nuser = "me@example.org"\n'
PASSWORD = "Tr0ub4dor&3"


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "imap.toml"

    def write(text, mode=0o600):
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    return write


def account(config, text):
    (found,) = read_accounts(config(f"[account.home]\n{GOOD}{text}\n"))
    return found


def refused(config, text, *words):
    """The one line that says what is wrong."""
    with pytest.raises(SpamnbError) as caught:
        read_accounts(config(text))
    line = str(caught.value)
    assert "\n" not in line
    for word in words:
        assert word in line
    return line


def test_defaults(config):
    found = account(config, 'password_command = "pass show mail"')
    assert (found.port_number, found.tls, found.inbox) == (993, "implicit", ("INBOX",))
    assert found.action == "nothing"
    assert account(config, 'tls = "starttls"\nkeyring = true').port_number == 143
    assert account(config, 'keyring = true\nham = "Archive"').ham == ("Archive",)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("jnuk = 'Junk'", ["jnuk", "junk"]),
        ("port = '993'", ["port", "number"]),
        ("port = 70000", ["port", "65535"]),
        ("inbox = 7", ["inbox", "list of texts"]),
        ("inbox = []", ["inbox"]),
        ("action = 'delete'", ["action", "nothing, flag, move"]),
        ("sort = ['Work']", ["sort", "labels and folders"]),
        ("sort = {Spam = 'Junk'}", ["'Spam'", "sort"]),
        ("tls = 'maybe'", ["tls", "implicit or starttls or none"]),
        ("tls = 'none'", ["none", "unencrypted", "starttls"]),
        ("password_file = 'x'", ["one of", "password_command"]),  # two of them
    ],
)
def test_what_makes_no_sense(config, line, words):
    refused(config, f"[account.home]\n{GOOD}keyring = true\n{line}\n", "account home", *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no account", "spamnb imap setup"]),
        ("[acount.home]", ["acount", "account"]),
        ("account = 1", ["no account"]),
        ("[account]\nhome = 1", ["[account.NAME]"]),
        ("[account.home]\nhost = 'x'\nkeyring = true", ["user is missing"]),
        ("[account.home]\n" + GOOD, ["where the password comes from"]),
        ("[account.'../x']\n" + GOOD + "keyring = true", ["name"]),
        (
            f"[account.a]\n{GOOD}keyring = true\n[account.b]\n{GOOD}keyring = true",
            ["b and a are the same mailbox"],
        ),
        ("nonsense", ["imap.toml"]),
        ("\udc80", ["imap.toml"]),
        (None, ["no such file", "spamnb imap setup"]),
    ],
)
def test_files_that_make_no_sense(tmp_path, text, words):
    path = tmp_path / "imap.toml"
    if text is not None:
        path.write_text(text, errors="surrogateescape")
    refused(lambda _: str(path), text, *words)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_without_tls_only_to_this_machine(config, host):
    text = f'[account.home]\nhost = "{host}"\nuser = "me"\nkeyring = true\ntls = "none"\n'
    assert read_accounts(config(text))[0].port_number == 143
    refused(config, text.replace(host, "127.0.0.1.example.org"), "unencrypted")


@pytest.mark.slow
def test_passwords_of_commands_and_files(config, tmp_path, monkeypatch):
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\r\nsecond line\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for line in (
        'password_file = "~/password"',
        f'password_file = "{file}"',
        f'password_command = "cat {file} | head -1"',
        f'oauth2_token_command = "cat {file}"',
    ):
        assert secret_of(account(config, line)) == PASSWORD
    for command, word in ((f"cat {file}; exit 3", "exit code 3"), ("true", "no password")):
        with pytest.raises(SpamnbError, match=word) as caught:
            secret_of(account(config, f'password_command = "{command}"'))
        assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "word"), [("/nowhere/password", "/nowhere/password: No such file"), ("/dev/null", "no password")]
)
def test_passwords_that_are_not_there(config, path, word):
    with pytest.raises(SpamnbError, match=word):
        secret_of(account(config, f'password_file = "{path}"'))


class Memory(KeyringBackend):
    """A keyring that forgets all when it goes."""

    priority = 1

    def __init__(self, locked=False):
        super().__init__()
        self.kept, self.locked = {}, locked

    def get_password(self, service, username):
        if self.locked:
            raise keyring.errors.KeyringLocked("locked,\nunlock it")
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password


def test_keyring(config):
    before = keyring.get_keyring()
    home = account(config, "keyring = true")
    try:
        keyring.set_keyring(Memory())
        with pytest.raises(SpamnbError, match=r"keyring set 'spamnb imap imap\.example\.org' 'me@"):
            secret_of(home)
        ask_keyring("set_password", home, PASSWORD)
        assert secret_of(home) == PASSWORD
        keyring.set_keyring(Memory(locked=True))
        with pytest.raises(SpamnbError, match="locked") as caught:
            secret_of(home)
        assert "\n" not in str(caught.value)
    finally:
        keyring.set_keyring(before)


def test_who_wants_an_app_password_is_told_so():
    refusal = exceptions.LoginError("[AUTHENTICATIONFAILED] Invalid credentials")
    for host, page in (
        ("imap.gmail.com", "apppasswords"),
        ("p01-imap.mail.me.com", "Sign-In"),
        ("x.org", ""),
    ):
        said = str(explained(refusal, Account("home", host, "me", keyring=True), "log in"))
        assert "login refused" in said
        assert said.count("accepts only an app password") == bool(page)
        assert page in said


def test_a_damaged_state_is_set_aside_and_begun_again(tmp_path, capfd):
    (tmp_path / "home.sqlite").write_bytes(b"no database\n" * 1000)
    with State(Account("home", "imap.example.org", "me", keyring=True), str(tmp_path)) as state:
        assert state.record(b"") is None
    assert capfd.readouterr().err.count("; renamed to") == 1
    assert (tmp_path / "home.sqlite.damaged").read_bytes().startswith(b"no database")
    assert not [path for path in open_files() if "home.sqlite" in path]


def open_files():
    links = [f"/proc/self/fd/{handle}" for handle in os.listdir("/proc/self/fd")]
    return [os.readlink(link) for link in links if os.path.lexists(link)]


def test_a_clock_that_is_wrong_for_a_run_wipes_no_memory(tmp_path, monkeypatch):
    day = int(time.time()) // 86400
    with State(Account("home", "imap.example.org", "me", keyring=True), str(tmp_path)) as state:

        def visit(day):
            monkeypatch.setattr(time, "time", lambda: day * 86400)
            with state.change():
                state.forget_old()

        visit(day)
        with state.change():
            state.note(Record(b"x", "INBOX", 1, 1))
        visit(day + 500)
        for later in range(MAX_AGE - 1):
            visit(day + later)
        assert state.record(b"x")
        visit(day + MAX_AGE)
        assert not state.record(b"x")
