"""`spamnb train`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from spamnb.bayes.view import View
from spamnb.cli.render.notices import (
    print_unreadable,
    telling_slowness,
)
from spamnb.cli.render.terminal import print_json
from spamnb.cli.render.training import (
    as_map,
    print_conflicts,
    print_outcome,
    print_outcomes,
    show_model,
    show_summary,
)
from spamnb.cli.shared.help import Number, is_quiet, rare_option
from spamnb.cli.shared.labelled_mail import LabelledMail
from spamnb.cli.shared.options import (
    Command,
    cluster_options,
    given_options,
    jobs_option,
    json_option,
    mail_options,
    model_option,
    path_type,
    refuse_without_effect,
    tokenizer_options,
)
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.cli.shared.progress import progress
from spamnb.cli.shared.user_models import for_every_model
from spamnb.configuration.current import load
from spamnb.configuration.quantities import parse_percentage
from spamnb.delivery.commands import ANY_LABEL, LearnCommand
from spamnb.delivery.only_message import read_only_message
from spamnb.errors import DataError, UsageError
from spamnb.files import complain, printable
from spamnb.history.log import append_lessons
from spamnb.labels import is_label
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages, split_number
from spamnb.model import settings_of
from spamnb.rights import others
from spamnb.store.stored_model import StoredModel
from spamnb.training.labels import contradicting_names, new_labels, refuse_swapped_names

if TYPE_CHECKING:
    from spamnb.cli.render.training import Sources

EXAMPLES = """
spamnb train ham/ spam/
spamnb train --ham ~/Maildir --spam ~/Maildir/.Junk
spamnb train --spam - < message
spamnb train --label work=work.mbox --label family=family.mbox.gz --fresh
spamnb train --label bills=bills.mbox --new-label bills
spamnb train --ham inbox.mbox:3
spamnb train --forget message archive.mbox
spamnb train --ham-loss 0.05% ham/ spam/
spamnb train --ham-loss 0.5%
spamnb train s3://bucket/ham/ 's3://bucket/spam*.mbox.gz'
spamnb train --base /var/lib/spamnb/model.msgpack ham/ spam/
spamnb train --dry-run --verbose ham/ spam/
spamnb train --user-models users --ham /home/%u/Maildir
"""


@click.command(cls=Command, examples=EXAMPLES)
@for_every_model
@mail_options
@model_option
@click.option("--fresh", is_flag=True, help="Replace the model instead of adding to it.")
@click.option("--forget", is_flag=True, help="Unlearn messages, whatever their label: --forget PATH...")
@click.option(
    "--ham-loss", metavar="PERCENT", help="How much ham may be lost; sets the cutoffs. Default: 0.1%."
)
@tokenizer_options
@rare_option(
    "--view",
    "view_settings",
    metavar="SETTINGS",
    help="How counts are read, NAME=VALUE,… (spamnb tune finds them).",
)
@rare_option(
    "--base",
    type=path_type,
    metavar="FILE",
    help="A model whose counts this one's are added to, while it has little mail.",
)
@rare_option("--no-base", is_flag=True, help="Let the model stand by itself again.")
@rare_option(
    "--drop-rare",
    "rare",
    type=Number(0),
    default=0,
    metavar="N",
    help="Drop tokens found in N or fewer messages.",
)
@click.option(
    "--new-label", "agreed", multiple=True, metavar="NAME", help="Let --label add NAME to an existing model."
)
@rare_option("--rename-label", "renaming", metavar="OLD=NEW", help="Rename a label, or add its mail to NEW.")
@rare_option("--remove-label", "removed", metavar="NAME", help="Forget a label and all its mail.")
@click.option(
    "--yes", is_flag=True, help="Go on without asking: folders seem swapped, a label is new or goes."
)
@click.option("--dry-run", is_flag=True, help="Show what would be learned; change nothing.")
@click.option("-v", "--verbose", is_flag=True, help="Also print what happened to each message.")
@jobs_option
@cluster_options
@json_option
def train(
    mail: LabelledMail,
    model: str,
    fresh: bool,
    forget: bool,
    ham_loss: str | None,
    view_settings: str | None,
    base: str | None,
    no_base: bool,
    rare: int,
    agreed: tuple[str, ...],
    renaming: str | None,
    removed: str | None,
    yes: bool,
    dry_run: bool,
    verbose: bool,
    as_json: bool,
    settings: dict[str, Any],
) -> int:
    """Learn from mailboxes, Maildirs, folders of messages, or standard input.

    One message of a mailbox is named as classify names it: inbox.mbox:3.

    Subfolders whose names contradict the label (Trash, Drafts, Junk, Unsure …) are left out and listed;
    --all-folders reads them, too. A folder that you name yourself is always read.

    Adds to an existing model. A message learned before changes nothing; learned under another label, it
    moves. If nearly all mail of a label would move, or the name of a folder contradicts its label, as when
    folders are swapped, nothing is changed without --yes. A label that the model does not have, which may
    be a mistyped one, needs --new-label (on a terminal you are asked); ham and spam do not.

    Any file may be compressed (gzip, xz, bzip2, zstd), and may be on any store that fsspec reaches.

    --ham-loss without mail sets the cutoffs of an existing model anew. --view needs half of its mail to set
    them, unless it names a textbook event model, which has none.
    """
    given = {option.name for option in given_options()} - {"model", "user_models", "as_json", "quiet"}
    if renaming is not None or removed is not None:
        if len(given - {"yes"}) > 1:
            raise UsageError("--rename-label and --remove-label go alone: nothing is learned with them")
        return change_label(model, renaming, removed, yes, as_json)
    view = parse_view(view_settings)
    if base and no_base:
        raise UsageError("--base and --no-base cannot be combined")
    base = os.path.realpath(base) if base else "" if no_base else None
    special = fresh or settings or view or rare or mail.cluster or mail.skip_unreadable or dry_run
    special = special or base is not None
    if given and given <= {"ham_loss", "view_settings", "no_base"}:
        return change_without_mail(model, view, ham_loss, as_json, base)
    mail.find(ANY_LABEL if forget else None)
    sources = mail.sources
    if fresh and forget:
        raise UsageError("--fresh and --forget cannot be combined: a new model has nothing to forget")
    if fresh or "label" not in given:
        refuse_without_effect("with --fresh" if fresh else "without --label", "agreed")
    if forget:
        refuse_without_effect("with --forget", "agreed", "view_settings", "base", "no_base", "yes")
    if verbose and (as_json or is_quiet()):
        raise UsageError("--verbose cannot be combined with --json or --quiet")
    message = LearnCommand(next(iter(sources)), model, forget, is_quiet())
    mail.check()
    alone = None
    if len(mail.paths) == 1 and not (special or ham_loss) and message.fits_journal:
        with others():
            alone = only_message(mail.paths[0])
    if alone:
        if not as_json and not verbose:
            return message.run(alone)
        from spamnb.training.known_messages import Summary

        result = message.teach(alone)
        summary = Summary({message.label: {result: 1}})
        if verbose:
            print_outcome(result, mail.paths[0])
    else:
        if fresh and not dry_run:
            check_replaceable(model)
        if forget:
            StoredModel.open(model)  # raises an error that says what to do
        if not (forget or yes):
            confirm_names(sources)
        if not (fresh or forget or yes):
            agreed = ask_for_new_labels(model, sources, agreed)
        from spamnb.training import train as training

        doing = "forgetting" if forget else "training"
        with mail.pool() as pool, progress(doing, mail.size, verbose, note=pool.status) as step:
            counted_step = telling_slowness(step)
            summary = training.train(
                model,
                sources,
                settings,
                view=view,
                ham_loss=accepted_loss(ham_loss),
                fresh=fresh,
                forget=forget,
                rare=rare,
                all_folders=mail.all_folders,
                yes=yes,
                new_labels=agreed,
                dry_run=dry_run,
                base=base,
                pool=pool,
                progress=lambda batch: counted_step(batch.size, len(batch)),
                tell=partial(print_outcomes, dry_run=dry_run) if verbose else lambda *_: None,
            )
        if not dry_run:
            append_lessons(model, summary.lessons)
    if as_json:
        print_json({"model": model, **({"dry_run": True} if dry_run else {}), **as_map(summary, sources)})
    elif not is_quiet():
        show_summary(summary, sources, model, dry_run)
    print_conflicts(summary)
    code = print_unreadable([*summary.unreadable, *summary.passed_over], mail.skip_unreadable)
    for name in sources:
        if name not in summary.outcomes:
            complain(f"no {name} found in {', '.join(sources[name])}")
    return code


def change_without_mail(
    model: str, view: View | None, ham_loss: str | None, as_json: bool, base: str | None
) -> int:
    """Set the cutoffs of a model anew, by the scores that it keeps of its mail; or a view without cutoffs."""
    from spamnb.training.known_messages import Summary
    from spamnb.training.train import train as change
    from spamnb.workers.local import LocalPool

    loss = None if ham_loss is None else parse_percentage(ham_loss)
    if settings_of(StoredModel.open(model)).closed and loss is not None:
        raise DataError(f"{model}: imported, so it keeps no scores to set cutoffs by")
    change(model, {}, pool=LocalPool(1), view=view, ham_loss=loss, base=base)
    if as_json:
        print_json(
            {"model": model, "ham_loss": StoredModel.open(model).head["ham_loss"], **as_map(Summary(), {})}
        )
    elif not is_quiet():
        show_model(model)
        if view and not view.has_cutoffs:
            click.echo("view: the likeliest label decides; for cutoffs again: --view default, with the mail")
    return 0


def accepted_loss(text: str | None) -> float | None:
    """Read how much ham may be lost, asked for here or configured; None for as much as the model has it."""
    found = load()["ham_loss"] if text is None else text
    return parse_percentage(found) if found or text is not None else None


def only_message(path: str) -> bytes | None:
    """Read the only message at a path, also if it is one of a mailbox, named by its number."""
    if not split_number(path)[0]:
        return read_only_message(path)
    found = next(messages([path]))
    return found.data if isinstance(found, RawMessage) else None


def ask_for_new_labels(model: str, sources: Sources, agreed: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that may be added to a model: those agreed to, here or on a terminal."""
    if not can_ask(sources) or not os.path.exists(model):
        return tuple(agreed)
    stored = StoredModel.open(model)
    new = [label for label in new_labels(stored, sources) if label not in agreed]
    known = ", ".join(stored.labels)
    return (
        *agreed,
        *(name for name in new if click.confirm(f"{name!r} is new; there are: {known}. Add it?", err=True)),
    )


def confirm_names(sources: Sources) -> None:
    """Ask about folders whose names contradict their labels; refuse them where nobody can answer."""
    wrong = contradicting_names(sources)
    if not (wrong and can_ask(sources) and click.confirm(f"{printable(wrong)}: swapped? Go on?", err=True)):
        refuse_swapped_names(sources)


def can_ask(sources: Sources) -> bool:
    """Tell whether there is a terminal to ask on, from which no mail is read."""
    return sys.stdin.isatty() and sys.stderr.isatty() and ["-"] not in sources.values()


def change_label(model: str, renaming: str | None, removed: str | None, yes: bool, as_json: bool) -> int:
    """Rename a label, as OLD=NEW says, or remove one."""
    old, equals, new = (removed or "", "", "") if renaming is None else renaming.partition("=")
    if renaming is not None and not (old and equals and is_label(new) and new != old):
        raise UsageError(f"--rename-label takes OLD=NEW, not {renaming!r}")
    from spamnb.training.relabel import check_relabel, relabel

    stored = check_relabel(model, old, new or None)
    if not yes and (not new or new in stored.labels):
        count = stored.messages[stored.labels.index(old)]
        what = (
            f"this makes {count:,} {old} {new}" if new else f"this forgets all of {old}, {count:,} messages"
        )
        if not (can_ask({}) and click.confirm(f"{what}, and cannot be undone. Go on?", err=True)):
            raise UsageError(f"{what}, and cannot be undone. Nothing was changed; if you mean it, add --yes")
    count = relabel(model, old, new or None)
    if as_json:
        print_json({"model": model, "label": old, "renamed_to": new or None, "messages": count})
    elif not is_quiet():
        click.echo(f"{old}: {count:,} " + (f"now {new}" if new else "forgotten"))
    return 0


def parse_view(text: str | None) -> View | None:
    """Read `NAME=VALUE,…`; the tokenizer's settings have options of their own."""
    if text is None:
        return None
    from spamnb.evaluation.candidates import VIEW_NAMES, parse_candidate

    return parse_candidate(text, VIEW_NAMES).view
