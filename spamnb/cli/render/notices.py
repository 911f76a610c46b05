"""The last lines that several commands print: mail that was not read, and the path of the model."""

from collections.abc import Callable, Iterable

from spamnb.cli.render.terminal import listed
from spamnb.files import complain, counted, printable
from spamnb.mailboxes.not_mail import ARCHIVE
from spamnb.mailboxes.skipped import Deleted, LeftOutFolder, Unreadable, failures, skipped_mail

MAX_NAMED = 10  # paths named in a line


def print_unreadable(found: Iterable[Unreadable], say: Callable[[str], object] = complain) -> int:
    """Print a line for each failure, and a line for each kind of skipped mail: files, messages, folders.

    `say` prints the lines about skipped mail. Returns the lowest exit code of the failures; 0 without any.
    """
    all_found = list(found)
    failed = failures(all_found)
    for failure in failed:
        complain(f"{failure.path}: {failure.why}")
    skipped = skipped_mail(all_found)
    folders = [item.path for item in skipped if isinstance(item, LeftOutFolder)]
    deleted = sum(item.count for item in skipped if isinstance(item, Deleted))
    files = [item for item in skipped if not isinstance(item, LeftOutFolder | Deleted)]
    if files:
        advice = "; to read archives, unpack them" if any(ARCHIVE in file.why for file in files) else ""
        names = listed([file.path for file in files], MAX_NAMED)
        say(f"skipped {counted(len(files), 'file')} without mail: {names}{advice}")
    if deleted:
        say(
            f"skipped {counted(deleted, 'message')} that you deleted or moved, but that the mailbox still has"
        )
    if folders:
        names = listed(folders, MAX_NAMED)
        say(f"skipped folders because of their names: {names}; to read one, name it as a PATH")
    return min((failure.error.exit_code for failure in failed), default=0)


def model_location(model: str) -> str:
    """Return a line with the path of a model."""
    return f"model: {printable(model)}"
