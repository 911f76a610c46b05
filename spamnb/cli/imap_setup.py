"""`spamnb imap setup`: asks for all settings that are needed to filter a mailbox."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.render.imap import EventPrinter, show_learned, show_trial
from spamnb.cli.shared.imap_accounts import connected, for_each, visit
from spamnb.cli.shared.options import Command
from spamnb.cli.shared.progress import announce
from spamnb.errors import SpamnbError, UsageError
from spamnb.files import complain, printable, write_stderr

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.mailbox import Event

INTRODUCTION = """\
You need your mail address, the name of your mail server (IMAP), and a password.
Nothing is changed in your mailbox before you agree to it.
"""
# Where a password may come from: a key of imap.toml, and its description.
TYPED, TOKEN = "password_file", "oauth2_token_command"
WAYS = {
    TYPED: "type it now; it is kept in a file that only you can read",
    "keyring": "type it now; it is kept in the keyring of your desktop",
    "password_command": "a command prints it, like `pass show mail/home`",
    TOKEN: "no password: a command prints a token (OAuth2)",
}
SERVER = ("host", "tls", "port")
WIDTH = 79  # characters in a line of a long text
MAX_TRIED = 500  # latest messages of the inbox, judged as a trial before anything is moved


@click.command(
    "setup",
    cls=Command,
    examples="""
spamnb imap setup
spamnb imap setup --account work host=imap.example.org user=me@example.org
spamnb imap setup host=127.0.0.1 port=1143 tls=starttls ca_file=bridge.pem
""",
)
@click.argument("given", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--account", default="home", show_default=True, metavar="NAME", help="Name of the account.")
@click.pass_context
def setup(ctx: click.Context, given: tuple[str, ...], account: str) -> int:
    """Ask for a server and a password, try them, find the folders, learn, and ask whether to move spam.

    Each KEY=VALUE is written to imap.toml, without a question. A value that does not work is asked for again.
    Your mail is not changed before you agree. If the account exists already, the command continues where its
    last setup ended.
    """
    from spamnb.imap.accounts import default_config
    from spamnb.imap.setup import add_account, has_account

    path = default_config()
    if has_account(path, account):
        if given or not can_ask():
            to_do = "omit KEY=VALUE on a terminal to continue its setup, or give another --account"
            raise UsageError(f"{path}: already has an account {account}; {to_do}")
        click.echo(f"continuing with account {account}; for another mailbox, add: --account NAME")
        return go_on(ctx, path, account)
    answers = dict(read_pair(text) for text in given)
    is_typed = TYPED not in answers
    if can_ask() and "host" not in answers:
        write_stderr(f"{INTRODUCTION}\n")
    values = tried(path, account, answers)
    try:
        if agrees("Keep judged mail for two weeks, so that `spamnb review` can show it?"):
            values["history"] = True
    except click.Abort:
        if is_typed and TYPED in values:
            os.unlink(values[TYPED])
        raise
    add_account(path, account, {"action": "nothing"} | values)
    click.echo(f"written: {printable(path)}, account {account}")
    return go_on(ctx, path, account)


def go_on(ctx: click.Context, path: str, name: str) -> int:
    """Continue the setup: learn the account's mail if that was not done yet, and ask whether to move spam."""
    from spamnb.imap.accounts import read_accounts
    from spamnb.imap.state import State

    if not can_ask():
        click.echo("next, run `spamnb imap train`; then, in a terminal, `spamnb imap setup`")
        return 0
    (account,) = read_accounts(path, name)
    with State(account) as state:
        is_trained = state.is_trained()
    imap = ctx.parent.command if ctx.parent else None
    if not is_trained and isinstance(imap, click.Group):
        if not agrees("Learn this mail now?"):
            click.echo("to go on: spamnb imap setup")
            return 0
        if code := ctx.invoke(imap.commands["train"], account=name, as_json=False):
            return int(code)
    return for_each(name, go_live)


def read_pair(text: str) -> tuple[str, Any]:
    """Split a text KEY=VALUE; a value of digits becomes a number, `true` and `false` a bool."""
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text}: must be KEY=VALUE, e.g. host=imap.example.org")
    if value.isascii() and value.isdecimal():
        return key, int(value)
    return key, {"true": True, "false": False}.get(value, value)


def tried(path: str, name: str, answers: dict[str, Any]) -> dict[str, Any]:
    """Ask for values that are missing or do not work, until logging in works; return values for imap.toml."""
    from spamnb.imap.accounts import parse_account
    from spamnb.imap.errors import Broken, NotLoggedIn, NotTrusted
    from spamnb.imap.setup import proposed_folders, what_is_learned

    again: tuple[str, ...] = ()
    written = ""
    try:
        while True:
            written = ask_all(path, name, answers, again) or written
            try:
                account = parse_account(name, answers)
                fill_keyring(account)
                announce(f"connecting to {printable(account.host)} …")
                with connected(account, looks_only=True) as connection:
                    values = proposed_folders(account, connection) | answers
                    show_learned(*what_is_learned(parse_account(name, values), connection))
                    written = "" if values.get(TYPED) == written else written
                    return values
            except SpamnbError as error:
                if not can_ask():
                    raise
                complain(str(error))
                key, is_typed = getattr(error, "key", ""), TYPED in answers
                if isinstance(error, NotTrusted) or key == "ca_file":
                    again = ("host", "ca_file")
                elif isinstance(error, NotLoggedIn):
                    again = ("password",) if is_typed else ("user", "host", "password")
                else:
                    again = SERVER if isinstance(error, Broken) or key in SERVER else ("password",)
    finally:
        if written:  # the file of a password that is not needed
            with suppress(OSError):
                os.unlink(written)


def ask_all(path: str, name: str, answers: dict[str, Any], again: tuple[str, ...]) -> str:
    """Ask for missing values, and again for the keys in `again`; store the values in `answers`.

    Returns the path of the file to which a typed password was written; "" if none was typed.
    """
    from spamnb.imap.accounts import is_local_host
    from spamnb.imap.providers import host_of, provider_of
    from spamnb.imap.secrets import write_password
    from spamnb.imap.setup import check_new

    def ask(key: str, what: str, default: Any = None) -> None:
        if key in again or key not in answers:
            if not can_ask():
                raise UsageError(f"cannot ask for {key} without a terminal; add {key}=…")
            answers[key] = click.prompt(
                what, default=answers.get(key, default), err=True, show_default=default != ""
            )

    way = next((way for way in WAYS if way in answers), None)
    password = ""
    if again == ("password",) and way == TYPED:
        password = typed_password(" (empty: change the address)", default="")
        again = again if password else ("user", "host", *again)
    if "host" in again and answers["host"] == host_of(answers["user"]):  # it was guessed from the address
        again = ("user", *again)
        del answers["host"]
    ask("user", "your mail address, or your user name at the server")
    ask("host", "IMAP server", host_of(answers["user"]) or None)
    host, _, port = str(answers["host"]).rpartition(":")
    if port.isdecimal() and host and ":" not in host:
        answers.update(host=host, port=int(port))
    elif "port" in again:
        unsafe = ", starttls or none" if is_local_host(answers["host"]) else " or starttls"
        ask("tls", f"TLS: implicit (most servers){unsafe}", "implicit")
        ask("port", "port", 993 if answers["tls"] == "implicit" else 143)
    check_new(path, answers["host"], answers["user"])
    if "ca_file" in again:
        ask("ca_file", "file of the certificate to trust (empty: none)", "")
        if not answers["ca_file"]:
            del answers["ca_file"]
    if way is None or "password" in again:
        if not can_ask():
            raise UsageError("cannot ask for a password without a terminal; add password_file=PATH")
        if way and way != TYPED:
            del answers[way]
        if found := provider_of(answers["host"]):
            write_stderr(f"{fill(found.hint, WIDTH, break_on_hyphens=False)}\n")
        if way != TYPED:  # a typed password was mistyped
            way = ask_way(way or (TYPED if found is None or found.takes_password else TOKEN))
        if way == TYPED:
            answers[way] = write_password(name, password or typed_password())
            return str(answers[way])
        if way == "keyring":
            answers[way] = True
        else:
            ask(way, "command")
    return ""


def typed_password(hint: str = "", default: str | None = None) -> str:
    text = f"password (it is not shown){hint}"
    return str(click.prompt(text, default, hide_input=True, err=True, show_default=False))


def ask_way(last: str) -> str:
    """Ask where the password comes from, with `last` as the default; return the key for imap.toml."""
    ways = [*WAYS]
    for number, description in enumerate(WAYS.values(), 1):
        write_stderr(f"  {number}  {description}\n")
    default = 1 + ways.index(last)
    chosen = click.prompt(
        "Where does the password come from?", type=click.IntRange(1, len(ways)), default=default, err=True
    )
    return ways[chosen - 1]


def can_ask() -> bool:
    return sys.stdin.isatty()


def agrees(question: str, default: bool = True) -> bool:
    return can_ask() and click.confirm(question, default=default, err=True)


def fill_keyring(account: Account) -> None:
    """Ask for the password and store it in the keyring, if the account is set up to use the keyring."""
    if account.keyring and can_ask():
        from spamnb.imap.secrets import ask_keyring

        ask_keyring(
            "set_password", account, click.prompt("password, for the keyring", hide_input=True, err=True)
        )


def go_live(account: Account) -> None:
    """Judge the inbox without changing it, show the verdicts, and ask whether to move spam from now on."""
    from spamnb.imap.accounts import MOVE, default_config, read_accounts
    from spamnb.imap.service import install
    from spamnb.imap.setup import change_action

    path, name = default_config(), account.name
    events: list[Event] = []
    announce(f"judging the latest mail of {printable(', '.join(account.inbox))} …")
    visit(account, events.append, dry_run=True, again=True, most=MAX_TRIED)
    found = [event for event in events if event.verdict]
    for event in events:
        if event.failed:
            complain(f"{event.account}/{event.folder}: {event.what}")
    show_trial(found)
    moved = sum(bool(event.target) for event in found)
    first = f", beginning with {'this one' if moved == 1 else f'these {moved:,}'}" if moved else ""
    if account.action == MOVE:
        click.echo(f"{name}: spam is moved already")
    elif agrees(f"Move spam to {printable(account.junk or 'Junk')} from now on{first}?", default=False):
        change_action(path, name, MOVE)
        (account,) = read_accounts(path, name)
        printer = EventPrinter(as_json=False, private=False, is_brief=True)
        visit(account, printer, dry_run=False, again=True, most=MAX_TRIED)
        printer.end_visit(name)
        click.echo("If a verdict is wrong, move the message to where it belongs: that corrects the model.")
        if len(found) == MAX_TRIED:
            click.echo("Older mail stays where it is; `spamnb imap run --again` judges it, too.")
    else:
        click.echo("Nothing was moved. `spamnb imap setup` asks again.")
        return
    if agrees("Judge mail in the background from now on, whenever some arrives?"):
        for line in install():
            click.echo(printable(line))
    else:
        click.echo("next: spamnb imap watch; or, in the background from now on: spamnb imap service install")
    if account.history:
        click.echo("To see the reasons for verdicts, and to correct verdicts: spamnb review")
