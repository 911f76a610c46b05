"""`spamnb forget`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from spamnb.cli.history import parse_since
from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.render.training import show_summary
from spamnb.cli.shared.labelled_mail import LabelledMail
from spamnb.cli.shared.options import Command, is_meant, jobs_option, model_option, path_type, yes_option
from spamnb.cli.shared.progress import progress
from spamnb.cli.train import only_message
from spamnb.core.native import hash_of_message, read, sender_address
from spamnb.delivery.commands import ANY_LABEL, LearnCommand, has_history
from spamnb.errors import NoInput, UsageError
from spamnb.files import counted, printable
from spamnb.history.log import append_lessons
from spamnb.history.queries import History
from spamnb.senders.list_file import entry_of
from spamnb.senders.lists import candidates
from spamnb.store.stored_model import StoredModel

if TYPE_CHECKING:
    from spamnb.history.schema import Entry

EXAMPLES = """
spamnb forget message archive.mbox
spamnb forget inbox.mbox:3
spamnb forget - < message
spamnb forget --from casino.example
spamnb forget --from news@example.org --since 7d
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=path_type)
@click.option(
    "--from",
    "sender",
    metavar="SENDER",
    help="Forget mail from this address or domain that is in the history.",
)
@click.option(
    "--since", metavar="TIME", help="Forget mail judged since a time: 12h, 7d or 2w ago, or a date."
)
@yes_option
@model_option
@jobs_option
def forget(
    paths: tuple[str, ...],
    sender: str | None,
    since: str | None,
    yes: bool,
    model: str,
    jobs: int | str | None,
) -> int:
    """Take messages out of the model again, whatever their label. Messages not in it change nothing.

    Instead of PATHs, --from and --since select mail that the history still has. The command shows how many
    messages are selected, and asks before it forgets them.
    """
    if bool(paths) == bool(sender or since):
        raise UsageError("name messages, or select them with --from SENDER, --since TIME or both")
    if paths:
        return forget_mail(paths, model, jobs)
    if not has_history():
        raise NoInput("there is no history to find mail in; see: spamnb history --help")
    with TemporaryDirectory() as folder, History.open() as history:
        Path(folder, "cur").mkdir()
        history.gather()
        found, gone = Counter[str](), 0
        for entry, label in learned_entries(history, model, sender, parse_since(since) if since else None):
            raw = history.message(entry.id)
            if raw and hash_of_message(read(raw)) == entry.digest:  # of a large one, only the start is stored
                Path(folder, "cur", f"{entry.id}:2,").write_bytes(raw)
                found[label] += 1
            else:
                gone += 1
        labels = ", ".join(f"{times:,} {printable(label)}" for label, times in sorted(found.items()))
        what = f"{counted(found.total(), 'message')} to forget{f' ({labels})' if labels else ''}"
        what += f"; the history no longer has the text of {gone:,} more learned messages" if gone else ""
        if not found and not gone:
            what += ": no learned message in the history matches"
        if not found or yes:
            click.echo(what)
        return forget_mail((folder,), model, jobs) if found and is_meant(what, yes) else 0


def learned_entries(
    history: History, model: str, sender: str | None, since: float | None
) -> Iterator[tuple[Entry, str]]:
    """Yield (entry, label) of learned messages in the history, from `sender` since `since` (None: any)."""
    stored, met = StoredModel.open(model), set[int]()
    listed = entry_of(sender) if sender else ""
    if listed is None:
        raise UsageError(f"--from takes an address or domain, not {sender!r}")
    for entry in history.entries("time", limit=-1, since=since):
        label = stored.label_of(entry.digest) if entry.digest not in met else None
        met.add(entry.digest)
        if label and (not listed or listed in candidates(sender_address(entry.sender))):
            yield entry, label


def forget_mail(paths: tuple[str, ...], model: str, jobs: int | str | None) -> int:
    mail = LabelledMail((), (), (), jobs=jobs, sources={ANY_LABEL: list(paths)})
    mail.check()
    StoredModel.open(model)  # raises an error if there is no model
    if len(paths) == 1 and (raw := only_message(paths[0])):
        return LearnCommand(ANY_LABEL, model, forget=True).run(raw)
    from spamnb.training import train as training

    with mail.pool() as pool, progress("forgetting", mail.size) as step:
        summary = training.train(
            model, mail.sources, forget=True, pool=pool, progress=lambda batch: step(batch.size, len(batch))
        )
    append_lessons(model, summary.lessons)
    show_summary(summary, mail.sources, model)
    return print_unreadable([*summary.unreadable, *summary.skipped], say=click.echo)
