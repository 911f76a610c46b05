"""The accounts in `imap.toml`: server and login, the purpose of folders, and what to do with spam."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from typing import Any

from spamnb.configuration.tables import WrongValue, checked_values, place_of_key, read_toml, unknown_key
from spamnb.errors import DataError, NoInput, UsageError
from spamnb.files import xdg_folder
from spamnb.labels import LABELS, is_label

TLS_PORTS = {"implicit": 993, "starttls": 143, "none": 143}
LIST = "list"
NOTHING, FLAG, MOVE = ACTIONS = ("nothing", "flag", "move")
NAME = re.compile(r"[\w@+-][\w@+.-]*")  # of an account, and of the file of its state
WHY_ONE_ACCOUNT = "of two accounts for one mailbox, each would learn as spam what the other has moved"
SECRETS = ("password_command", "password_file", "keyring", "oauth2_token_command")


@dataclass(frozen=True)
class Account:
    """An account in `imap.toml`. If `junk` or `sent` is "", spamnb finds the folder by the server's mark
    (RFC 6154) or by a usual name. If `unsure` is "", unsure mail is not moved."""

    name: str
    host: str
    user: str
    port: int = 0  # 0: the usual port for `tls`
    tls: str = "implicit"
    ca_file: str = ""  # certificates to trust instead of the system's
    password_command: str = ""
    password_file: str = ""
    keyring: bool = False
    oauth2_token_command: str = ""
    inbox: tuple[str, ...] = ("INBOX",)
    ham: tuple[str, ...] = ()
    junk: str = ""
    unsure: str = ""
    sent: str = ""
    action: str = NOTHING
    rescue: str = LIST  # what to do with sure ham that the provider put into Junk
    sort: dict[str, str] = field(default_factory=dict)  # label → folder
    model: str = ""
    history: bool | None = None  # whether its mail is in `spamnb history`; None: as in spamnb.toml

    def __post_init__(self) -> None:
        if self.tls not in TLS_PORTS:
            raise WrongValue("tls", f"tls must be {' or '.join(TLS_PORTS)}, not {self.tls!r}")
        if self.action not in ACTIONS:
            raise WrongValue("action", f"action must be one of {', '.join(ACTIONS)}, not {self.action!r}")
        if self.rescue not in (LIST, MOVE):
            raise WrongValue("rescue", f"rescue must be {LIST} or {MOVE}, not {self.rescue!r}")
        if self.tls == "none" and not is_local_host(self.host):
            why = f"would send the password to {self.host} unencrypted"
            raise WrongValue("tls", f'tls = "none" {why}; leave tls out, or use "starttls"')
        if not 0 <= self.port <= 65535:
            raise WrongValue("port", f"port must be a number from 1 to 65535, not {self.port}")
        if not (self.host and self.user):
            raise WrongValue("user" if self.host else "host", "host and user must not be empty")
        if not self.inbox:
            raise WrongValue("inbox", "inbox must not be empty; leave this key out to use INBOX")
        if sum(bool(getattr(self, name)) for name in SECRETS) != 1:
            named = ", ".join(SECRETS)
            raise WrongValue(SECRETS[0], f"set exactly one of {named}, to say where the password comes from")

    @property
    def mailbox(self) -> tuple[str, str]:
        return self.host.lower(), self.user.lower()

    @property
    def port_number(self) -> int:
        return self.port or TLS_PORTS[self.tls]


def is_local_host(host: str) -> bool:
    """Return whether `host` means this machine: "localhost", or a loopback address such as 127.0.0.1."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def default_config() -> str:
    """Return the default path of imap.toml: spamnb/imap.toml in $XDG_CONFIG_HOME, or else in ~/.config."""
    folder = xdg_folder("XDG_CONFIG_HOME", ".config")
    if folder is None:
        raise NoInput("cannot find imap.toml without a home folder; set $XDG_CONFIG_HOME")
    return os.path.join(folder, "spamnb", "imap.toml")


def read_accounts(path: str, wanted: str | None = None) -> list[Account]:
    """Read and check all accounts in the file `path`; return them, or only the account named `wanted`."""
    try:
        content, _ = read_toml(path)
    except FileNotFoundError:
        raise NoInput(f"{path}: there is no such file; create it with `spamnb imap setup`") from None
    for key in content:
        if key != "account":
            why = f"{unknown_key(key, ['account'])}; accounts are written [account.NAME]"
            raise DataError(f"{place_of_key(path, key)}: {why}")
    tables = content.get("account", {})
    if not isinstance(tables, dict) or not tables:
        raise DataError(f"{path}: there is no account in this file; add one with `spamnb imap setup`")
    if wanted is not None and wanted not in tables:
        raise UsageError(f"{path}: has no account {wanted!r}; the accounts are: {', '.join(tables)}")
    found, mailboxes = [], dict[tuple[str, str], str]()
    for name, table in tables.items():
        try:
            account = parse_account(name, table)
        except WrongValue as error:
            place = place_of_key(path, "account", name, error.key)
            raise DataError(f"{place}: account {name}: {error}") from None
        except DataError as error:
            raise DataError(f"{place_of_key(path, 'account', name)}: account {name}: {error}") from None
        if (other := mailboxes.setdefault(account.mailbox, name)) != name:
            raise DataError(f"{path}: {name} and {other} are the same mailbox; remove one: {WHY_ONE_ACCOUNT}")
        if wanted in (None, name):
            found.append(account)
    return found


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise DataError("the name of an account may have only letters, digits, -, _, @, + and dots")


def parse_account(name: str, table: Any) -> Account:
    """Make an account from its table in `imap.toml`; raise DataError if a key or a value there is wrong."""
    check_name(name)
    if not isinstance(table, dict):
        raise DataError("an account must be a table that begins with [account.NAME]")
    known = {one.name: one.type for one in fields(Account) if one.name not in ("name", "sort")}
    values = checked_values({key: value for key, value in table.items() if key != "sort"}, known)
    for key in ("host", "user"):
        if key not in values:
            raise WrongValue(key, f'{key} is missing; add a line {key} = "…"')
    return Account(name, **values, sort=checked_sort(table.get("sort", {})))


def checked_sort(table: Any) -> dict[str, str]:
    """Check the table `sort` of an account and return it: {label: folder to move mail of this label to}."""
    if not isinstance(table, dict) or not all(name and isinstance(name, str) for name in table.values()):
        raise WrongValue("sort", 'sort must be a table of labels and folders, e.g. Work = "INBOX/Work"')
    for label in table:
        if not is_label(label) or label.lower() in LABELS:
            raise WrongValue("sort", f"sort: {label!r} is not allowed as a label; choose another name")
    return dict(table)
