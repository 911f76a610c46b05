"""`spamnb merge`."""

from dataclasses import asdict

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.render.terminal import print_json
from spamnb.cli.shared.help import is_quiet
from spamnb.cli.shared.options import Command, json_option, path_type
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.cli.shared.progress import progress
from spamnb.files import printable
from spamnb.mailboxes.sources import total_size

EXAMPLES = """
spamnb merge all.msgpack host1.msgpack host2.msgpack
spamnb merge --base old.msgpack new.msgpack host1.msgpack host2.msgpack
spamnb merge --base sent.msgpack model.msgpack today.msgpack model.msgpack
spamnb merge --fresh --json all.msgpack host*.msgpack
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("out", type=path_type)
@click.argument("models", nargs=-1, required=True, metavar="IN...", type=path_type)
@click.option("--base", type=path_type, metavar="MODEL", help="What all of them started from; counted once.")
@click.option("--fresh", is_flag=True, help="Replace OUT if it exists and is not one of them.")
@json_option
def merge(out: str, models: tuple[str, ...], base: str | None, fresh: bool, as_json: bool) -> int:
    """Add up models that were trained apart, with their journals: OUT knows what all of them know.

    If the models started from the same one, name it with --base: it counts once, and what a host moved or
    forgot since then is moved and forgotten in OUT.

    A message learned by several models counts once for each of them, and the number of such messages is
    shown; OUT has it under the label of the first model named.
    """
    from spamnb.exchange.merging import merge as merge_models

    check_replaceable(out)
    paths = [*models, *([base] if base else [])]
    with progress("merging", lambda: 3 * total_size(paths), unit="parts") as step:
        merged = merge_models(out, models, base, fresh=fresh, progress=lambda size: step(size, 1))
    changes = dict(zip(models, map(asdict, merged.models), strict=True))
    if as_json:
        print_json({"model": out, **asdict(merged), "models": changes})
        return 0
    if is_quiet():
        return 0
    for path, own in changes.items():
        counts = [f"{count:,} {what}" for what, count in own.items() if count or what == "learned"]
        click.echo(f"{printable(path)}: {', '.join(counts)}{' since the base' if base else ''}")
    if merged.shared:
        advice = "" if base else "; if the models started from the same one, name it with --base"
        click.echo(f"in several models: {merged.shared:,}, counted for each{advice}")
    if merged.conflicting:
        click.echo(f"under different labels: {merged.conflicting:,}, known as the first model has them")
    click.echo(f"messages: {merged.messages:,}")
    click.echo(model_location(out))
    return 0
