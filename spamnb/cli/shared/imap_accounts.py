"""Common parts of the commands of `spamnb imap`: accounts, their models, connections and visits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING

from spamnb.cli.shared.progress import never_silent
from spamnb.configuration import model_path
from spamnb.errors import NoModel, SetAside, SpamnbError
from spamnb.files import complain, counted, model_file

if TYPE_CHECKING:
    from spamnb.imap.accounts import Account
    from spamnb.imap.connection import ImapConnection
    from spamnb.imap.mailbox import Report


def model_of(account: Account) -> str:
    return model_file(os.path.expanduser(account.model) or model_path())


@contextmanager
def connected(account: Account, looks_only: bool = False) -> Iterator[ImapConnection]:
    """Yield a connection to an account's server; on a terminal, say what it is doing if that takes long."""
    from spamnb.imap.connection import ImapConnection

    opened: list[ImapConnection] = []

    def doing() -> str:
        if not opened:
            return f"{account.name}: connecting to {account.host}"
        read = f"; {counted(opened[0].fetched, 'message')} so far" if opened[0].fetched else ""
        return f"{account.name}: still working: {opened[0].doing}{read}"

    with never_silent(doing):
        opened.append(ImapConnection(account, looks_only))
        with closing(opened[0]):
            yield opened[0]


def visit(account: Account, report: Report, dry_run: bool, again: bool = False, most: int = 0) -> None:
    """Judge new mail (with `again`, old mail, too), learn moved mail; `most`: messages to judge (0: all)."""
    from spamnb.imap.mailbox import VisitedMailbox
    from spamnb.imap.state import State
    from spamnb.imap.visit import Visit

    with State(account) as state, nullcontext() if dry_run else state.lock():
        if dry_run:
            state.copy_to_memory()
        with connected(account, looks_only=dry_run) as connection:
            mailbox = VisitedMailbox(account, connection, state, model_of(account), report, dry_run)
            Visit(mailbox, again, most).run()


def for_each(wanted: str | None, do: Callable[[Account], None]) -> int:
    """Call `do` with each account, or only `wanted`; go on after errors; return the first one's exit code."""
    from spamnb.imap.accounts import default_config, read_accounts
    from spamnb.imap.visit import not_trained

    code = 0
    for account in read_accounts(default_config(), wanted):
        try:
            try:
                do(account)
            except SetAside:
                do(account)
        except NoModel:
            complain(f"{account.name}: {not_trained(account)}")
            code = code or NoModel.exit_code
        except SpamnbError as error:
            complain(f"{account.name}: {error}")
            code = code or error.exit_code
    return code
