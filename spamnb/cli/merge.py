"""`spamnb merge`."""

import click

from spamnb.cli.render.notices import model_location
from spamnb.cli.shared.options import Command, path_type
from spamnb.cli.shared.outputs import check_replaceable

EXAMPLES = """
spamnb merge all.msgpack host1.msgpack host2.msgpack
spamnb merge --fresh all.msgpack host*.msgpack
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("out", type=path_type)
@click.argument("models", nargs=-1, required=True, metavar="IN...", type=path_type)
@click.option("--fresh", is_flag=True, help="Replace OUT if it exists and is not an input.")
def merge(out: str, models: tuple[str, ...], fresh: bool) -> None:
    """Add up models that were trained separately, and write the sum to OUT.

    A message that several models learned is added once for each of them; the number of such messages is
    shown. In OUT, such a message has the label that it has in the first of these models.
    """
    from spamnb.exchange.merging import merge as merge_models

    check_replaceable(out)
    merged = merge_models(out, models, fresh=fresh)
    click.echo(f"messages: {merged.messages:,}")
    if merged.shared:
        click.echo(f"learned by several models: {merged.shared:,}; each was added once for each of them")
    click.echo(model_location(out))
