"""`spamnb train`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from spamnb.cli.render.notices import print_unreadable
from spamnb.cli.render.training import print_conflicts, show_model, show_summary
from spamnb.cli.shared.help import rare_option
from spamnb.cli.shared.labelled_mail import LabelledMail
from spamnb.cli.shared.options import (
    Command,
    given_options,
    jobs_option,
    mail_options,
    model_option,
    model_settings_option,
    path_type,
    read_by,
)
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.cli.shared.progress import progress
from spamnb.configuration import load
from spamnb.configuration.quantities import parse_percentage, parse_size
from spamnb.delivery.commands import OUTCOME_TEXTS, LearnCommand, read_stdin
from spamnb.delivery.only_message import read_only_message
from spamnb.errors import DataError, UsageError
from spamnb.files import complain, printable
from spamnb.history.log import append_lessons
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import check, messages, split_number
from spamnb.reading.envelope import read_envelope
from spamnb.senders.list_file import entry_of
from spamnb.store.stored_model import StoredModel

if TYPE_CHECKING:
    from spamnb.evaluation.candidates import ParsedSettings
    from spamnb.mailboxes.sources import Sources

EXAMPLES = """
spamnb train ham/ spam/
spamnb train --ham ~/Maildir --spam ~/Maildir/.Junk
spamnb train --spam - < message
spamnb train --ham inbox.mbox:3
spamnb train --label work=work.mbox --label family=family.mbox.gz
spamnb train --ham-loss 0.05% ham/ spam/
spamnb train --ham-loss 0.5%
spamnb train ~/Maildir ~/Maildir/.Junk --sent ~/Maildir/.Sent
spamnb train s3://bucket/ham/ 's3://bucket/spam*.mbox.gz'
spamnb train --base /var/lib/spamnb/model.msgpack ham/ spam/
spamnb train --ngrams 2 --stem english ham/ spam/
"""
NO_BASE = "none"


@click.command(cls=Command, examples=EXAMPLES)
@mail_options
@model_option
@click.option("--fresh", is_flag=True, help="Replace the model instead of adding to it.")
@click.option(
    "--ham-loss",
    metavar="PERCENT",
    help="Share of ham that may be lost (judged spam); sets the cutoffs. Default: 0.1%.",
)
@rare_option(
    "--base",
    type=path_type,
    metavar="FILE",
    help="Another model to judge with while this one has learned little mail; `none` removes it.",
)
@click.option(
    "--sent",
    multiple=True,
    type=path_type,
    metavar="PATH",
    help="Mail that you sent; it is not learned, but mail from people you wrote to is never lost.",
)
@rare_option(
    "--forwarded-by",
    "forwarders",
    multiple=True,
    metavar="ADDRESS",
    help="Learn the messages attached to the message on standard input, if it is really from ADDRESS.",
)
@model_settings_option
@jobs_option
@rare_option(
    "--memory",
    metavar="SIZE",
    default="300M",
    show_default=True,
    callback=read_by(parse_size, 10**6),
    help="Approximate memory for counts; beyond it, counts are kept on disk until the end.",
)
def train(
    mail: LabelledMail,
    model: str,
    fresh: bool,
    ham_loss: str | None,
    base: str | None,
    sent: tuple[str, ...],
    forwarders: tuple[str, ...],
    chosen: ParsedSettings,
    memory: int,
) -> int:
    """Learn from mailboxes, Maildirs, folders of messages, or standard input.

    Adds to an existing model. Learning a message again changes nothing; under another label, it corrects the
    model. If nearly all mail of a label would move to another, as with swapped folders, nothing is changed.

    A message in a mailbox is named by its number, from 0 on: inbox.mbox:3. Files may be compressed (gzip, xz,
    bzip2, zstd), and may be at any address that fsspec opens (s3://…, sftp://…).

    Subfolders whose names contradict the label (Trash, Drafts, Junk, Unsure …) are left out and listed. A
    folder that you name yourself is always read.

    --ham-loss without mail changes the cutoffs of an existing model.
    """
    settings, view = chosen
    beneath = base and ("" if base == NO_BASE else os.path.realpath(base))
    given = {option.name for option in given_options()} - {"model"}
    if given and given <= {"ham_loss", "base"}:
        return change_without_mail(model, ham_loss, beneath)
    if given == {"sent"}:
        return note_sent(model, sent, {})
    mail.find()
    mail.check()
    check(sent)
    if forwarders:
        if given - {"ham", "spam", "label"} != {"forwarders"} or mail.paths != ["-"]:
            raise UsageError(
                "--forwarded-by needs a message on standard input, as in `--spam - --forwarded-by ADDRESS`"
            )
        return learn_forwarded(mail.labels[0], model, read_stdin(), forwarders)
    if given <= {"ham", "spam", "label", "jobs"} and len(mail.paths) == 1:
        lesson = LearnCommand(mail.labels[0], model)
        if lesson.fits_journal and (raw := only_message(mail.paths[0])):
            return lesson.run(raw)
    if fresh:
        check_replaceable(model)
    from spamnb.training import train as training

    with mail.pool() as pool, progress("training", mail.size) as step:
        summary = training.train(
            model,
            mail.sources,
            settings,
            view=view,
            ham_loss=accepted_loss(ham_loss),
            fresh=fresh,
            base=beneath,
            pool=pool,
            memory=memory,
            progress=lambda batch: step(batch.size, len(batch)),
        )
    append_lessons(model, summary.lessons)
    show_summary(summary, mail.sources, model)
    print_conflicts(summary)
    for name in mail.sources:
        if name not in summary.outcomes:
            complain(f"no {name} found in {', '.join(mail.sources[name])}")
    if sent:
        note_sent(model, sent, mail.sources)
    return print_unreadable([*summary.unreadable, *summary.skipped], say=click.echo)


def learn_forwarded(label: str, model: str, raw: bytes, forwarders: tuple[str, ...]) -> int:
    """Learn the messages attached to the message `raw`, if `raw` is really from one of `forwarders`."""
    from spamnb.mailboxes.attached import attached
    from spamnb.senders.people import People, address_of

    envelope, lesson = read_envelope(raw), LearnCommand(label, model)
    if address_of(envelope) not in map(entry_of, forwarders):
        raise DataError("not learned: the sender is not an address given by --forwarded-by")
    if not People(model).is_genuine(envelope, StoredModel.open(model)):
        raise DataError("not learned: the sender may be forged; log in to your own mail server to forward it")
    outcomes = Counter(lesson.learn_and_note(message) for message in attached(raw))
    if not outcomes:
        raise DataError("not learned: no message is attached; forward mail as an attachment")
    said = ", ".join(f"{times:,} {OUTCOME_TEXTS[outcome]}" for outcome, times in outcomes.items())
    click.echo(f"{label}: {said}")
    return 0


def note_sent(model: str, sent: Sequence[str], sources: Sources) -> int:
    """Add recipients of sent mail to the known senders, and the networks that sent their ham (`sources`)."""
    from spamnb.senders.correspondence import note_people
    from spamnb.senders.people import People

    check(sent)
    StoredModel.open(model)  # raises an error if there is no model
    people = People(model)
    new = note_people(people, sent, sources)
    click.echo(f"{printable(people.path)}: {new:,} known senders added, {len(people.lines):,} lines in all")
    return 0


def change_without_mail(model: str, ham_loss: str | None, base: str | None) -> int:
    """Change a model's base, its cutoffs (computed from the stored scores of its mail), or both."""
    from spamnb.training.train import train as change
    from spamnb.workers import LocalPool

    loss = None if ham_loss is None else parse_percentage(ham_loss)
    StoredModel.open(model)  # raises an error if there is no model
    change(model, {}, pool=LocalPool(1), ham_loss=loss, base=base)
    show_model(model)
    return 0


def accepted_loss(text: str | None) -> float | None:
    """Return the share of ham that may be lost, from the option `text` or configuration; None if neither."""
    found = load()["ham_loss"] if text is None else text
    return parse_percentage(found) if found or text is not None else None


def only_message(path: str) -> bytes | None:
    """Return the message at `path:number`, or the only one at a path; None if there is none or several."""
    if not split_number(path)[0]:
        return read_only_message(path)
    found = next(messages([path]))
    return found.data if isinstance(found, RawMessage) else None
