"""`imap.toml`, and where passwords come from: what is wrong is said in one line, without the password."""

import keyring
import pytest
from keyring.backend import KeyringBackend

from spamnb.errors import SpamnbError
from spamnb.imap.accounts import read_accounts, secret_of, to_keyring

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
        to_keyring(home, PASSWORD)
        assert secret_of(home) == PASSWORD
        keyring.set_keyring(Memory(locked=True))
        with pytest.raises(SpamnbError, match="locked") as caught:
            secret_of(home)
        assert "\n" not in str(caught.value)
    finally:
        keyring.set_keyring(before)
