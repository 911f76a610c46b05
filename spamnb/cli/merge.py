"""`spamnb merge`."""

from dataclasses import asdict

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.render.terminal import print_json
from spamnb.cli.shared.options import Command, json_option, path_type
from spamnb.cli.shared.outputs import check_replaceable
from spamnb.cli.shared.progress import progress
from spamnb.files import printable
from spamnb.mailboxes.sources import total_size

EXAMPLES = """
spamnb merge all.msgpack host1.msgpack host2.msgpack
spamnb merge --fresh --json all.msgpack host*.msgpack
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("out", type=path_type)
@click.argument("models", nargs=-1, required=True, metavar="IN...", type=path_type)
@click.option("--fresh", is_flag=True, help="Replace OUT if it exists and is not one of them.")
@json_option
def merge(out: str, models: tuple[str, ...], fresh: bool, as_json: bool) -> int:
    """Add up models that were trained apart, with their journals: OUT knows what all of them know.

    A message learned by several models counts once for each of them, and the number of such messages is
    shown; OUT has it under the label of the first model named.
    """
    from spamnb.exchange.merging import merge as merge_models

    check_replaceable(out)
    with progress("merging", lambda: 3 * total_size(models), unit="parts") as step:
        merged = merge_models(out, models, fresh=fresh, progress=lambda size: step(size, 1))
    learned = dict(zip(models, merged.learned, strict=True))
    if as_json:
        print_json({"model": out, **asdict(merged), "learned": learned})
        return 0
    for path, count in learned.items():
        click.echo(f"{printable(path)}: {count:,} learned")
    if merged.shared:
        click.echo(f"in several models: {merged.shared:,}, counted for each")
    if merged.conflicting:
        click.echo(f"under different labels: {merged.conflicting:,}, known as the first model has them")
    click.echo(f"messages: {merged.messages:,}")
    click.echo(model_location(out))
    return 0
