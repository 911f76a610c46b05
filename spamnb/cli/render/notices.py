"""Lines that end the output of several commands: mail that was not read, and where the model is."""

from collections.abc import Callable, Iterable
from contextlib import suppress

import click

from spamnb.cli.render.terminal import listed
from spamnb.cli.shared.help import is_quiet
from spamnb.cli.version import form_of_core
from spamnb.files import complain, counted, printable
from spamnb.mailboxes.not_mail import ARCHIVE
from spamnb.mailboxes.skipped import Deleted, LeftOutFolder, Unreadable, failures, passed_over

MOST_NAMED = 10  # paths named in a line
MANY = 3000  # messages: interpreted code takes a minute to read them
INTERPRETED = "not compiled, so training takes over 30 times as long; docs/installation.md has the remedy"


def print_unreadable(found: Iterable[Unreadable], skip: bool = False) -> int:
    """Print a line for each failure, and one for each kind of what was left out: files, messages, folders.

    If quiet, only the failures are printed. Returns the exit code: that of the failures, the lowest if they
    differ, unless such mail is skipped.
    """
    all_found = list(found)
    failed = failures(all_found)
    for failure in failed:
        complain(f"{failure.path}: {failure.why}")
    skipped = [] if is_quiet() else passed_over(all_found)
    folders = [item.path for item in skipped if isinstance(item, LeftOutFolder)]
    deleted = sum(item.count for item in skipped if isinstance(item, Deleted))
    files = [item for item in skipped if not isinstance(item, LeftOutFolder | Deleted)]
    if files:
        advice = "; to read archives, unpack them" if any(ARCHIVE in file.why for file in files) else ""
        names = listed([file.path for file in files], MOST_NAMED)
        complain(f"passed over {counted(len(files), 'file')} without mail: {names}{advice}")
    if deleted:
        complain(
            f"{counted(deleted, 'deleted message')} skipped (deleted or moved, but still in the mailbox)"
        )
    if folders:
        names = listed(folders, MOST_NAMED)
        complain(f"left out because of their names: {names}; --all-folders reads them, too")
    return 0 if skip else min((failure.error.exit_code for failure in failed), default=0)


def telling_slowness(step: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Return a function that also says, once and unless quiet, that much mail is read by interpreted code."""
    met = 0

    def tell(size: int, messages: int) -> None:
        nonlocal met
        step(size, messages)
        before, met = met, met + messages
        if before <= MANY < met and not is_quiet() and form_of_core() == "interpreted":
            with suppress(OSError):  # by way of sys.stderr: a bar that is drawn there makes room
                click.echo(f"spamnb: {INTERPRETED}", err=True)

    return tell


def model_location(model: str) -> str:
    """Say in a line where a model is."""
    return f"model: {printable(model)}"
