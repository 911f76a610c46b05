"""`spamnb thunderbird`."""

from __future__ import annotations

import sys

import click

from spamnb.cli.shared.help import Group
from spamnb.cli.shared.options import path_type
from spamnb.errors import UsageError
from spamnb.files import printable


@click.group(cls=Group, invoke_without_command=True)
@click.pass_context
def thunderbird(ctx: click.Context) -> None:
    """Answer the add-on for Thunderbird, which starts this command by itself.

    \b
    spamnb thunderbird install    write the add-on, register spamnb
    """
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty():
            raise UsageError("Thunderbird starts this command itself; first run `spamnb thunderbird install`")
        from spamnb.thunderbird.host import run

        run()


@thunderbird.command(examples="spamnb thunderbird install\nspamnb thunderbird install ~/Downloads/spamnb.xpi")
@click.argument("xpi", default="spamnb.xpi", metavar="[FILE]", type=path_type)
def install(xpi: str) -> None:
    """Write the add-on to FILE, by default spamnb.xpi in this folder, and register spamnb with Thunderbird.

    Only this user's files are written. Run this again when spamnb has moved or was updated.
    """
    from spamnb.thunderbird.installation import install as write

    *_, add_on = written = write(xpi)
    for path in written:
        click.echo(f"written: {printable(path)}")
    click.echo(
        "In Thunderbird, open Add-ons and Themes, click the gear, then Install Add-on From File, "
        f"and choose {printable(add_on)}"
    )
