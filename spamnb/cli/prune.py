"""`spamnb prune`."""

import click

from spamnb.cli.shared.help import Number
from spamnb.cli.shared.options import Command, model_option, read_by
from spamnb.configuration.quantities import parse_days
from spamnb.training.pruning import OLD_DAYS, RARE_MESSAGES
from spamnb.training.pruning import prune as pruned

EXAMPLES = """
spamnb prune
spamnb prune --older-than 90d --rarer-than 3
spamnb prune --dry-run
"""


@click.command(cls=Command, examples=EXAMPLES)
@model_option
@click.option(
    "--older-than",
    callback=read_by(parse_days, 0),
    default=f"{OLD_DAYS}d",
    show_default=True,
    metavar="DAYS",
    help="Drop only words not seen for this long.",
)
@click.option(
    "--rarer-than",
    type=Number(1),
    default=RARE_MESSAGES + 1,
    show_default=True,
    metavar="N",
    help="Drop only words in fewer than N messages.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be dropped.")
def prune(model: str, older_than: int, rarer_than: int, dry_run: bool) -> None:
    """Drop words that are both old and rare, so that the model does not grow forever.

    Messages learned before can still be forgotten, and dropped words can be learned again.
    """
    result = pruned(model, older_than, rarer_than - 1, try_only=dry_run)
    for name, (before, after) in (("tokens", result.tokens), ("pairs", result.pairs)):
        click.echo(f"{name}: {before - after:,} of {before:,} {'would be dropped' if dry_run else 'dropped'}")
    before, after = result.size
    click.echo(f"size: {before:,} bytes" if dry_run else f"size: {before:,} bytes before, {after:,} now")
