"""`spamnb merge`."""

from __future__ import annotations

from dataclasses import asdict

import click

from spamnb.cli.options import Command, json_option, path_type
from spamnb.cli.outputs import check_replaceable
from spamnb.cli.progress import progress
from spamnb.cli.render.json_output import print_json
from spamnb.cli.render.notices import model_location
from spamnb.exchange.merging import merge as merge_models
from spamnb.files import shown
from spamnb.mailboxes.sources import total_size

EXAMPLES = """
spamnb merge all.msgpack host1.msgpack host2.msgpack
spamnb merge --base yesterday.msgpack today.msgpack host1.msgpack host2.msgpack
spamnb merge --base sent.msgpack model.msgpack today.msgpack model.msgpack
spamnb merge --fresh --json all.msgpack host*.msgpack
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("out", type=path_type)
@click.argument("models", nargs=-1, required=True, metavar="IN...", type=path_type)
@click.option("--base", type=path_type, metavar="MODEL", help="What all of them began with; it counts once.")
@click.option("--fresh", is_flag=True, help="Replace OUT, should it be there and be none of them.")
@click.option(
    "--twice",
    is_flag=True,
    help="Count what several learned more than once, where no ledger has its words.",
)
@click.option(
    "--forgotten",
    is_flag=True,
    help="What one lacks of the base it forgot, although its ledger does not tell.",
)
@json_option
def merge(
    out: str,
    models: tuple[str, ...],
    base: str | None,
    fresh: bool,
    twice: bool,
    forgotten: bool,
    as_json: bool,
) -> int:
    """Add up models that were trained apart, with their journals: OUT knows what all of them know.

    A message that several have learned counts once, as the first of them named here has it. For that it must
    be known what it added: hosts that merge keep it from `spamnb train --ledger` on.

    Of models that began with the same one, name it as the base: it counts once, and what a host moved or
    forgot since is moved and forgotten in OUT.
    """
    check_replaceable(out)
    paths = [*models, *([base] if base else [])]
    with progress("merging", lambda: 3 * total_size(paths), unit="parts") as step:
        done = merge_models(
            out,
            models,
            base,
            fresh=fresh,
            twice=twice,
            forgotten=forgotten,
            progress=lambda size: step(size, 1),
        )
    changes = dict(zip(models, map(asdict, done.models), strict=True))
    if as_json:
        print_json({"model": out, **asdict(done), "models": changes})
        return 0
    for path, own in changes.items():
        told = [f"{many:,} {what}" for what, many in own.items() if many or what == "learned"]
        click.echo(f"{shown(path)}: {', '.join(told)}{' since the base' if base else ''}")
    if both := done.again + done.torn:
        unlike = f", {done.torn:,} not alike: as the first has them" if done.torn else ""
        click.echo(f"in several: {both:,}{unlike}")
    if done.twice:
        click.echo(f"counted more than once: {done.twice:,}")
    click.echo(f"messages: {done.messages:,}")
    for line in model_location(out):
        click.echo(line)
    return 0
