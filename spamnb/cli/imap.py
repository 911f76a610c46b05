"""`spamnb imap`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.imap_setup import setup
from spamnb.cli.render.imap import EventPrinter, show_accounts, show_doubted, show_training
from spamnb.cli.render.terminal import print_json_lines
from spamnb.cli.shared.help import Group, Number
from spamnb.cli.shared.imap_accounts import connected, for_each, model_of, visit
from spamnb.cli.shared.options import Decorated, json_option
from spamnb.cli.shared.progress import announce, progress
from spamnb.errors import DataError, SpamnbError, UsageError
from spamnb.files import complain, counted, printable, write_stderr

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.mailbox import Event


account_option = click.option("--account", metavar="NAME", help="Only this account.")


def account_options(function: Decorated) -> Decorated:
    """Add the options that most commands of `spamnb imap` have: --account and --json."""
    return account_option(json_option(function))


@click.group("imap", cls=Group, invoke_without_command=True)
@click.pass_context
def imap(ctx: click.Context) -> None:
    """Filter mail that lives on an IMAP server.

    \b
    spamnb imap setup     asks for the server, learns, shows what it would do
    spamnb imap check     connects, shows what the server can do; changes nothing
    spamnb imap train     learns new mail that you keep, and new mail in Junk
    spamnb imap run       judges new mail and learns from mail you moved
    spamnb imap watch     like `run`, continuously, as mail arrives
    spamnb imap service   runs `watch` in the background from now on
    spamnb imap digest    lists new mail in Junk, in a message to you

    Begin with `spamnb imap setup`. Accounts are in spamnb/imap.toml in the XDG configuration folder.
    """
    if ctx.invoked_subcommand is None:
        write_stderr(ctx.get_help() + "\n")
        ctx.exit(UsageError.exit_code)


@imap.command(examples="spamnb imap check\nspamnb imap check --account home --json")
@account_options
def check(account: str | None, as_json: bool) -> int:
    """Connect and show what the server can do, the purpose of each folder, and what would be done.

    Nothing is changed, neither on the server nor on this machine.
    """
    from spamnb.imap.setup import look_at

    found: list[dict[str, Any]] = []

    def look(one: Account) -> None:
        with connected(one, looks_only=True) as connection:
            found.append({**look_at(one, connection), "model": model_of(one)})

    code = for_each(account, look)
    (print_json_lines if as_json else show_accounts)(found)
    for facts in found:
        for why in facts["missing"]:
            complain(f"{facts['account']}: {why}")
            code = code or DataError.exit_code
    return code


@imap.command(examples="spamnb imap train\nspamnb imap train --account home")
@account_options
def train(account: str | None, as_json: bool) -> int:
    """Learn the mail that is new since the last run, from the folders of mail you keep and from Junk.

    The first time, all mail in Junk is learned, except messages that surely are not spam, which are listed.
    Later, only messages that you moved to Junk are learned, not those that spamnb or your provider put there.
    """
    from spamnb.cli.render.notices import print_unreadable
    from spamnb.cli.render.training import as_map
    from spamnb.imap.state import State

    unreadable = []

    def learn(one: Account) -> None:
        from spamnb.imap.training import MailboxTraining

        path = model_of(one)
        with State(one) as state, connected(one) as connection:
            mail = MailboxTraining(one, connection, state)
            with progress(f"training on {one.name}", lambda: len(mail)) as step:
                summary = mail.run(path, step)
        sources = {label: [folder.name] for label, folder, _ in mail.wanted}
        if as_json:
            print_json_lines([{"account": one.name, "model": path, **as_map(summary, sources)}])
        else:
            names = ", ".join(printable(folder.name) for _, folder, _ in mail.wanted)
            print(f"{one.name}: {counted(len(mail), 'message')} in {names}", flush=True)
            show_training(summary, sources, path)
            show_doubted(mail.doubted, mail.roles.junk)
        unreadable.extend(summary.unreadable)

    code = for_each(account, learn)
    return code or print_unreadable(unreadable)


@imap.command(
    examples="""
spamnb imap run --dry-run
spamnb imap run
spamnb imap run --again --dry-run
spamnb imap run --json
"""
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; change nothing, learn nothing.")
@click.option("--again", is_flag=True, help="Also judge mail that was judged before or that you have read.")
@account_options
def run(account: str | None, as_json: bool, dry_run: bool, again: bool) -> int:
    """Judge new mail in the inboxes, and learn from mail that you moved or flagged.

    New mail is mail that came since the last run; in the first run, unread mail. Messages that you moved to
    Junk are learned as spam; messages that spamnb put there and you moved back, as not spam.
    """
    printer, failed = EventPrinter(as_json, private=False), False

    def report(event: Event) -> None:
        nonlocal failed
        failed = failed or event.failed
        printer(event)

    def visit_one(one: Account) -> None:
        visit(one, report, dry_run, again)
        printer.end_visit(one.name)

    code = for_each(account, visit_one)
    return code or (SpamnbError.exit_code if failed else 0)


@imap.command(examples="spamnb imap watch\nspamnb imap service install")
@click.option(
    "--poll",
    type=Number(1, 1740, whole=False),
    default=240.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two visits, if the server does not report new mail.",
)
@account_options
def watch(account: str | None, as_json: bool, poll: float) -> None:
    """Do what `run` does whenever mail arrives, until SIGTERM. After SIGHUP, read the accounts again.

    Each account is watched separately. Senders and subjects are printed on a terminal only, so that they
    are in no log.
    """
    from spamnb.imap.accounts import default_config, read_accounts
    from spamnb.imap.watch import watch as watch_all

    def read() -> list[tuple[Account, str]]:
        return [(one, model_of(one)) for one in read_accounts(default_config(), account)]

    printer = EventPrinter(as_json, private=not sys.stdout.isatty())
    announce(f"watching {', '.join(one.name for one, _ in read())} …")
    watch_all(read, printer, lambda name: printer.end_visit(name, always=False), poll)


@imap.command(examples="spamnb imap service install\nspamnb imap service remove")
@click.argument("action", type=click.Choice(["install", "remove"]))
def service(action: str) -> None:
    """Run `spamnb imap watch` from now on, whenever you are logged in.

    `install` writes a unit of systemd, or an agent of macOS' launchd, for this user, and starts it. An older
    file is replaced, and its service restarted. On other systems, the command to run is printed. `remove`
    stops the service and deletes its file.
    """
    from spamnb.imap.service import install, remove

    for line in install() if action == "install" else remove():
        click.echo(printable(line))


@imap.command(examples="spamnb imap digest\nspamnb imap digest --account home")
@account_options
def digest(account: str | None, as_json: bool) -> int:
    """Put a message into the inbox with a list of the mail that came into Junk since the last such message.

    The list begins with messages that your provider put into Junk, but that look like mail you keep. Messages
    that spamnb moved to Junk follow, the least certain first. Move those that are not spam to the inbox.
    """
    from spamnb.imap.digest import send_digest
    from spamnb.imap.state import State

    def send(one: Account) -> None:
        with State(one) as state, connected(one) as connection:
            sent, junk = send_digest(one, connection, state, model_of(one))
        if as_json:
            print_json_lines([{"account": one.name, "listed": sent}])
        else:
            listed = f"{counted(sent, 'message')} listed, in a new message in your inbox"
            print(f"{one.name}: {listed if sent else f'nothing new in {printable(junk)}'}")

    return for_each(account, send)


imap.add_command(setup)
