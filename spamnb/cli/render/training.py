"""Print the results of `spamnb train`: outcomes of the mail, and the quality of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.render.terminal import listed, paths_and_reasons
from spamnb.delivery.commands import OUTCOME_TEXTS
from spamnb.files import counted
from spamnb.store.stored_model import StoredModel

if TYPE_CHECKING:
    from spamnb.training.known_messages import Summary

    Sources = Mapping[str, Sequence[str]]

OUTCOMES = ("learned", "known", "moved", "forgotten", "unknown", "duplicate", "conflicting")


def as_map(summary: Summary, sources: Sources) -> dict[str, Any]:
    by_label = {label: summary.outcomes.get(label, {}) for label in sources}
    return {
        **{name: {label: counts.get(name, 0) for label, counts in by_label.items()} for name in OUTCOMES},
        "unreadable": paths_and_reasons(summary.unreadable),
        "skipped": paths_and_reasons(summary.skipped),
    }


def show_outcomes(summary: Summary, sources: Sources, called: Callable[[str], str] = str) -> None:
    """Print what was done with the mail of each label; `called` returns the name shown for a label."""
    for label in sources:
        counts = summary.outcomes.get(label, {"learned": 0})
        phrases = [f"{counts[name]:,} {text}" for name, text in OUTCOME_TEXTS.items() if name in counts]
        click.echo(f"{called(label)}: {', '.join(phrases)}")


def show_summary(summary: Summary, sources: Sources, model: str) -> None:
    show_outcomes(summary, sources)
    for label in summary.new_labels:
        click.echo(f"{label!r} is a new label; if it is mistyped: spamnb labels rename {label} NAME")
    click.echo(f"unreadable: {len(summary.unreadable):,}")
    show_model(model)


def print_conflicts(summary: Summary) -> None:
    """Print which messages were given under several labels; each was learned under the first of them."""
    if summary.conflicts:
        count = summary.total("conflicting")
        names = listed(summary.conflicts, len(summary.conflicts), count)
        click.echo(
            f"{counted(count, 'message')} under several labels, learned under the first: {names}; "
            "remove the wrong copies, then train with --fresh"
        )


def show_model(model: str) -> None:
    """Print the path of a model, and how well it judges mail that it has not learned."""
    click.echo(model_location(model))
    from spamnb.inspection.assessment import assessment  # it imports numpy

    if where := assessment(StoredModel.open(model)):
        click.echo("; ".join(where))
