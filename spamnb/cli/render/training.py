"""What `spamnb train` says: of each message, of all together, and of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.render.terminal import listed, paths_and_reasons
from spamnb.cli.shared.help import is_quiet
from spamnb.delivery.commands import OUTCOME_TEXTS
from spamnb.files import complain, counted, printable
from spamnb.mailboxes.sources import message_name
from spamnb.store.stored_model import StoredModel

if TYPE_CHECKING:
    from spamnb.training.batches import Counted
    from spamnb.training.known_messages import Summary

    Sources = Mapping[str, Sequence[str]]

OUTCOMES = ("learned", "known", "moved", "forgotten", "unknown", "duplicate", "conflicting")
DRY_RUN_TEXTS = {
    "learned": "would learn",
    "moved": "would move here from another label",
    "forgotten": "would forget",
}


def as_map(summary: Summary, sources: Sources) -> dict[str, Any]:
    by_label = {label: summary.outcomes.get(label, {}) for label in sources}
    return {
        **{name: {label: counts.get(name, 0) for label, counts in by_label.items()} for name in OUTCOMES},
        "unreadable": paths_and_reasons(summary.unreadable),
        "passed_over": paths_and_reasons(summary.passed_over),
    }


def print_outcomes(batch: Counted, outcomes: Sequence[str], dry_run: bool) -> None:
    """Print the outcome and the name of each message; of a dry run, what would be done with it."""
    for (path, index), result in zip(batch.whole().names, outcomes, strict=True):
        print_outcome(DRY_RUN_TEXTS.get(result, result) if dry_run else result, message_name(path, index))


def print_outcome(result: str, name: str) -> None:
    click.echo(f"{result}\t{printable(name)}")


def outcome_text(name: str, count: int, dry_run: bool) -> str:
    """Say how many messages were learned, moved and so on, or would be."""
    if dry_run and name in DRY_RUN_TEXTS:
        return f"{DRY_RUN_TEXTS[name]} {count:,}"
    return f"{count:,} {OUTCOME_TEXTS[name]}"


def show_summary(summary: Summary, sources: Sources, model: str, dry_run: bool = False) -> None:
    for label in sources:
        counts = summary.outcomes.get(label, {"learned": 0})
        phrases = [outcome_text(name, counts[name], dry_run) for name in OUTCOME_TEXTS if name in counts]
        click.echo(f"{label}: {', '.join(phrases)}")
    click.echo(f"unreadable: {len(summary.unreadable):,}")
    if dry_run:
        click.echo("dry run: nothing was changed")
        return
    show_model(model)


def print_conflicts(summary: Summary) -> None:
    """Say that messages are under several labels, of which training takes the one that it met first."""
    if summary.conflicts and not is_quiet():
        count = summary.total("conflicting")
        names = listed(summary.conflicts, len(summary.conflicts), count)
        complain(
            f"{counted(count, 'message')} under more than one label, where only the first counts: {names}; "
            "remove the wrong copies, then train with --fresh"
        )


def show_model(model: str) -> None:
    """Say where a model is, and how much spam it catches."""
    click.echo(model_location(model))
    from spamnb.inspection.standing import standing  # which needs numpy

    if where := standing(StoredModel.open(model)):
        click.echo("; ".join(where))
