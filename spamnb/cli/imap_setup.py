"""`spamnb imap setup`: questions, asked again with the last answers until a server lets us in."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.render.imap import show_accounts
from spamnb.cli.shared.help import Number, rare_option
from spamnb.cli.shared.options import Command, path_type, refuse_without_effect
from spamnb.configuration.current import model_path
from spamnb.errors import DataError, UsageError, command_to_run
from spamnb.files import complain, model_file, printable

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

WAYS = {
    "command": "password_command",
    "file": "password_file",
    "keyring": "keyring",
    "browser": "oauth2",
    "oauth2": "oauth2_token_command",
}
HINTS = {
    "command": "command that prints it, like `pass show mail/home`",
    "file": "path of the file",
    "oauth2": "command that prints a token",
}
OF_A_PROVIDER = {
    "device_url": "provider's address for the login of a device",
    "token_url": "provider's address for tokens",
    "client_id": "client ID that the provider gave you for spamnb",
    "scope": "scope",
}
MICROSOFT = "https://login.microsoftonline.com/common/oauth2/v2.0"
PROVIDERS = {
    "outlook.office365.com": {
        "device_url": f"{MICROSOFT}/devicecode",
        "token_url": f"{MICROSOFT}/token",
        "scope": "https://outlook.office.com/IMAP.AccessAsUser.All offline_access",
    }
}
SECURITY = ("implicit", "starttls", "none")


config_option = click.option(
    "--config", type=path_type, metavar="FILE", help="Accounts, if not spamnb/imap.toml."
)


def can_ask() -> bool:
    return sys.stdin.isatty()


def ask(option: str, what: str, default: str | None = None) -> str:
    if not can_ask():
        raise UsageError(f"{option} is missing, and there is no terminal to ask on")
    return str(click.prompt(what, default=default, err=True))


def agrees(question: str) -> bool:
    return can_ask() and click.confirm(question, default=True, err=True)


def password_source(
    values: dict[str, Any], way: str | None = None, secret: str | None = None, provider: Collection[str] = ()
) -> dict[str, Any]:
    """Ask how to get the password, where it is not said."""
    if way is None:
        if not can_ask():
            raise UsageError(f"--way is missing; it takes {', '.join(WAYS)}")
        click.echo("The password itself is not written into the file. Where does it come from?", err=True)
        way = click.prompt("one of", type=click.Choice([*WAYS]), default="command", err=True)
    if way == "keyring":
        return {"keyring": True}
    if way == "browser":
        return {"oauth2": provider_of(values["host"], provider, values.get("oauth2", {}))}
    return {WAYS[str(way)]: secret or ask("--secret", HINTS[str(way)])}


def provider_of(host: str, given: Collection[str], before: dict[str, str]) -> dict[str, str]:
    """Ask who gives out tokens, where it is neither given nor known by the server's name."""
    known = dict(PROVIDERS.get(host, {}))
    for text in given:
        key, equals, value = text.partition("=")
        if key not in OF_A_PROVIDER or not equals:
            raise UsageError(f"--provider takes KEY=VALUE; the keys are {', '.join(OF_A_PROVIDER)}")
        known[key] = value
    return {
        key: known.get(key) or ask(f"--provider {key}=…", what, before.get(key))
        for key, what in OF_A_PROVIDER.items()
    }


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
            fill_keyring(account)
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


def fill_keyring(account: Account) -> None:
    """Put a password or the tokens of a login into the keyring, if that is where the account has them."""
    if account.keyring and can_ask():
        from spamnb.imap.secrets import to_keyring

        to_keyring(account, click.prompt("password, for the keyring", hide_input=True, err=True))
    if account.oauth2:
        from spamnb.imap.oauth2 import Login

        Login(account, account.oauth2).in_browser(
            lambda page, code: click.echo(f"open {page} in a browser and enter the code {code}", err=True)
        )


def other_login(values: dict[str, Any]) -> dict[str, Any]:
    """Ask for user and password anew."""
    kept = without(values, WAYS.values())
    return kept | {"user": ask("--user", "user", values["user"])} | password_source(values)


def other_server(values: dict[str, Any]) -> dict[str, Any]:
    """Ask for the server anew, and how it is reached."""
    from spamnb.imap.accounts import TLS_PORTS

    host = ask("--host", "IMAP server", values["host"])
    security = click.Choice(SECURITY)
    tls = click.prompt("TLS", type=security, default=values.get("tls", "implicit"), err=True)
    port = click.prompt("port", type=click.IntRange(1, 65535), default=TLS_PORTS[tls], err=True)
    return without(values, ("tls", "port")) | {"host": host, "tls": tls, "port": port}


def without(values: dict[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def train_command(config: str | None, account: str | None = None, model: str | None = None) -> str:
    given = {"--config": config, "--account": account, "--model": model}
    return command_to_run(
        "imap", "train", *(word for option, value in given.items() if value for word in (option, value))
    )


@click.command(
    "setup",
    cls=Command,
    examples="""
spamnb imap setup
spamnb imap setup --account work --host imap.example.org --user me@example.org
spamnb imap setup --host imap.example.org --way command --secret 'pass mail'
spamnb imap setup --way browser --provider client_id=ID
""",
)
@click.option("--account", default="home", show_default=True, metavar="NAME", help="Its name in the file.")
@click.option("--host", metavar="NAME", help="IMAP server; asked for by default.")
@click.option(
    "--port", type=Number(1, 65535), metavar="PORT", help="By default 993, or 143 unless TLS is implicit."
)
@click.option(
    "--tls", type=click.Choice(SECURITY), default="implicit", show_default=True, help="How to encrypt."
)
@rare_option("--ca-file", type=path_type, metavar="FILE", help="Certificates to trust, if not the system's.")
@click.option("--user", metavar="NAME", help="User name; asked for by default.")
@click.option("--way", type=click.Choice([*WAYS]), help="Where the password comes from.")
@click.option("--secret", metavar="WHERE", help="The command, or path of the file; not the password itself.")
@click.option(
    "--provider",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --way browser: device_url, token_url, client_id, scope.",
)
@config_option
@click.pass_context
def setup(
    ctx: click.Context,
    account: str,
    host: str | None,
    port: int | None,
    tls: str,
    ca_file: str | None,
    user: str | None,
    way: str | None,
    secret: str | None,
    provider: tuple[str, ...],
    config: str | None,
) -> None:
    """Ask for a server and how to get the password, try them, find the folders, and write the file.

    What does not work is asked for again. Nothing is done to your mail until you say so in the file:
    action = "flag", then "move".
    """
    from spamnb.imap.accounts import default_config
    from spamnb.imap.setup import add_account

    if way in ("keyring", "browser"):
        refuse_without_effect(f"with --way {way}", "secret")
    if way != "browser":
        refuse_without_effect("without --way browser", "provider")
    if tls == "none":
        refuse_without_effect("with --tls none", "ca_file")
    path = config or default_config()
    values: dict[str, Any] = {"host": host or ask("--host", "IMAP server")}
    values |= {"port": port} if port else {}
    values |= {"tls": tls} if tls != "implicit" else {}
    values |= {"ca_file": os.path.abspath(ca_file)} if ca_file else {}
    values["user"] = user or ask("--user", "user")
    values |= password_source(values, way, secret, provider)
    values, facts = tried(account, values)
    show_accounts([{**facts, "model": model_file(model_path())}])
    if agrees("keep a history, for `spamnb review`?"):
        values["history"] = True
    values["action"] = "nothing"
    add_account(path, account, values)
    click.echo(f"written: {printable(path)}")
    for role in ("ham", "junk"):
        if not values[role]:
            click.echo(f"no folder of {role} was found; name it in the file")
    imap = ctx.parent.command if ctx.parent else None
    if isinstance(imap, click.Group) and values["ham"] and values["junk"] and agrees("train now?"):
        train = imap.commands["train"]
        ctx.invoke(train, account=account, config=config, model=None, as_json=False, jobs=None)
    else:
        click.echo(f"next: {train_command(config)}")
