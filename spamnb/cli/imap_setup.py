"""The questions of `spamnb imap setup`: asked again, with the last answers, until a server lets us in."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from spamnb.errors import DataError, UsageError
from spamnb.files import complain

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

WAYS = {
    "command": "password_command",
    "file": "password_file",
    "keyring": "keyring",
    "oauth2": "oauth2_token_command",
}
HINTS = {"command": "command that prints it, like `pass show mail/home`", "file": "path of the file"}
SECURITY = ("implicit", "starttls", "none")


def can_ask() -> bool:
    return sys.stdin.isatty()


def ask(option: str, what: str, default: str | None = None) -> str:
    if not can_ask():
        raise UsageError(f"{option} is missing, and there is no terminal to ask on")
    return str(click.prompt(what, default=default, err=True))


def agrees(question: str) -> bool:
    return can_ask() and click.confirm(question, default=True, err=True)


def password_source(way: str | None, secret: str | None) -> dict[str, Any]:
    """Ask how to get the password, where it is not said."""
    if way is None:
        if not can_ask():
            raise UsageError(f"--way is missing; it takes {', '.join(WAYS)}")
        click.echo("The password itself is not written into the file. Where does it come from?", err=True)
        way = click.prompt("one of", type=click.Choice([*WAYS]), default="command", err=True)
    if way == "keyring":
        return {"keyring": True}
    return {WAYS[str(way)]: secret or ask("--secret", HINTS.get(str(way), "command that prints a token"))}


def tried(name: str, values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Log in and look; ask again for what may be wrong. Returns the account's values, and what it has."""
    from spamnb.imap.accounts import parse_account
    from spamnb.imap.connection import ImapConnection
    from spamnb.imap.errors import Broken, NotLoggedIn
    from spamnb.imap.setup import look_at, proposed_folders

    while True:
        try:
            account = parse_account(name, values)
        except DataError as error:
            raise UsageError(str(error)) from None
        try:
            keep_in_keyring(account)
            connection = ImapConnection(account, looks_only=True)
            try:
                values |= proposed_folders(connection)
                return values, look_at(parse_account(name, values), connection)
            finally:
                connection.close()
        except (Broken, DataError) as error:
            if not can_ask():
                raise
            complain(str(error))
            is_known = isinstance(error, NotLoggedIn) or not isinstance(error, Broken)
            values = other_login(values) if is_known else other_server(values)


def keep_in_keyring(account: Account) -> None:
    if account.keyring and can_ask():
        from spamnb.imap.secrets import to_keyring

        to_keyring(account, click.prompt("password, for the keyring", hide_input=True, err=True))


def other_login(values: dict[str, Any]) -> dict[str, Any]:
    """Ask for user and password anew."""
    kept = without(values, WAYS.values())
    return kept | {"user": ask("--user", "user", values["user"])} | password_source(None, None)


def other_server(values: dict[str, Any]) -> dict[str, Any]:
    """Ask for the server anew, and how it is reached."""
    from spamnb.imap.accounts import TLS_PORTS

    host = ask("--host", "IMAP server", values["host"])
    security = click.Choice(SECURITY)
    tls = click.prompt("TLS", type=security, default=values.get("tls", "implicit"), err=True)
    port = click.prompt("port", type=click.IntRange(1, 65535), default=TLS_PORTS[tls], err=True)
    return without(values, ("tls", "port")) | {"host": host, "tls": tls, "port": port}


def without(values: dict[str, Any], keys: Sequence[str] | Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}
