"""`spamnb imap setup`: questions, asked again with the last answers until a server lets us in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.render.imap import show_accounts
from spamnb.cli.shared.options import Command
from spamnb.configuration.current import model_path
from spamnb.errors import SpamnbError, UsageError
from spamnb.files import complain, model_file, printable

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account

# Where a password comes from, and what else must be known then; a dot leads into a table.
WAYS = {
    "password_command": {"password_command": "command that prints it, like `pass show mail/home`"},
    "password_file": {"password_file": "path of the file"},
    "keyring": {},
    "oauth2": {
        "oauth2.device_url": "provider's address for the login of a device",
        "oauth2.token_url": "provider's address for tokens",
        "oauth2.client_id": "client ID that the provider gave you for spamnb",
        "oauth2.scope": "scope",
    },
    "oauth2_token_command": {"oauth2_token_command": "command that prints a token"},
}
MICROSOFT = "https://login.microsoftonline.com/common/oauth2/v2.0"
KNOWN = {
    "outlook.office365.com": {
        "oauth2.device_url": f"{MICROSOFT}/devicecode",
        "oauth2.token_url": f"{MICROSOFT}/token",
        "oauth2.scope": "https://outlook.office.com/IMAP.AccessAsUser.All offline_access",
    }
}


@click.command(
    "setup",
    cls=Command,
    examples="""
spamnb imap setup
spamnb imap setup --account work host=imap.example.org user=me@example.org
spamnb imap setup host=127.0.0.1 port=1143 tls=starttls ca_file=bridge.pem
spamnb imap setup host=outlook.office365.com oauth2.client_id=ID
""",
)
@click.argument("given", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--account", default="home", show_default=True, metavar="NAME", help="Its name in the file.")
@click.pass_context
def setup(ctx: click.Context, given: tuple[str, ...], account: str) -> None:
    """Ask for a server and how to get the password, try them, find the folders, and write the file.

    Each KEY=VALUE goes into the file, and is not asked for; a dot leads into a table. What does not work is
    asked for again. Nothing is done to your mail until you say so in the file: action = "flag", then "move".
    """
    from spamnb.imap.accounts import default_config
    from spamnb.imap.setup import add_account

    answers = dict(read_pair(text) for text in given)
    values, facts = tried(account, answers)
    show_accounts([{**facts, "model": model_file(model_path())}])
    if agrees("keep a history, for `spamnb review`?"):
        values["history"] = True
    path = default_config()
    add_account(path, account, {"action": "nothing"} | values)
    click.echo(f"written: {printable(path)}")
    imap = ctx.parent.command if ctx.parent else None
    if isinstance(imap, click.Group) and values["ham"] and values["junk"] and agrees("train now?"):
        ctx.invoke(imap.commands["train"], account=account, as_json=False)
    else:
        click.echo("next: spamnb imap train")


def read_pair(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE, as the file has it but for the quotes."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text}: not KEY=VALUE, e.g. host=imap.example.org")
    if value.isascii() and value.isdecimal():
        return key, int(value)
    return key, {"true": True, "false": False}.get(value, value)


def tried(name: str, answers: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask for what is missing, log in and look, until it works; return the values, and what there is."""
    from spamnb.imap.accounts import parse_account
    from spamnb.imap.connection import ImapConnection
    from spamnb.imap.setup import look_at, proposed_folders

    is_asked_again = False
    while True:
        ask_all(answers, is_asked_again)
        try:
            account = parse_account(name, nested(answers))
            fill_keyring(account)
            connection = ImapConnection(account, looks_only=True)
            try:
                values = proposed_folders(connection) | nested(answers)
                return values, look_at(parse_account(name, values), connection)
            finally:
                connection.close()
        except SpamnbError as error:
            if not can_ask():
                raise
            complain(str(error))
            is_asked_again = True


def ask_all(answers: dict[str, Any], again: bool) -> None:
    """Ask for what is not answered yet; or for all again, with the last answers as defaults."""

    def ask(key: str, what: str, default: Any = None) -> None:
        if again or key not in answers:
            if not can_ask():
                raise UsageError(f"{key}=… is missing, and there is no terminal to ask on")
            answers[key] = click.prompt(what, default=answers.get(key, default), err=True)

    ask("host", "IMAP server")
    if again:
        ask("tls", "TLS: implicit, starttls or none", "implicit")
        ask("port", "port", 993 if answers["tls"] == "implicit" else 143)
    ask("user", "user")
    way = next((way for way in WAYS if any(key.partition(".")[0] == way for key in answers)), None)
    if way is None or again:
        if not can_ask():
            raise UsageError(f"one of {', '.join(WAYS)} is missing; e.g. password_file=PATH")
        if not again:
            click.echo("The password itself is not written into the file. Where does it come from?", err=True)
        chosen = click.prompt(
            "one of", type=click.Choice([*WAYS]), default=way or "password_command", err=True
        )
        if chosen != way:
            for key in [key for key in answers if key.partition(".")[0] == way]:
                del answers[key]
        way = str(chosen)
    if way == "keyring":
        answers[way] = True
    for key, value in KNOWN.get(answers["host"], {}).items():
        if way == "oauth2":
            answers.setdefault(key, value)
    for key, what in WAYS[way].items():
        ask(key, what)


def nested(answers: dict[str, Any]) -> dict[str, Any]:
    """Make the table of an account, with a table in it for keys that have a dot."""
    table: dict[str, Any] = {}
    for key, value in answers.items():
        above, dot, below = key.partition(".")
        (table.setdefault(above, {}) if dot else table)[below or above] = value
    return table


def can_ask() -> bool:
    return sys.stdin.isatty()


def agrees(question: str) -> bool:
    return can_ask() and click.confirm(question, default=True, err=True)


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
