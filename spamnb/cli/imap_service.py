"""`spamnb imap service`: have the system run `spamnb imap watch`."""

from __future__ import annotations

import click

from spamnb.cli.shared.help import Group
from spamnb.files import printable


@click.group("service", cls=Group)
def service() -> None:
    """Have the system run `spamnb imap watch` from now on, whenever you are logged in.

    \b
    spamnb imap service install    writes the service of this user, and starts it
    """


@service.command(examples="spamnb imap service install")
def install() -> None:
    """Write a service for this user, and start it: a unit of systemd, or an agent of macOS' launchd.

    A service that is there is written anew, and started again. Elsewhere, it is said what to run.
    """
    install_service()


def install_service() -> None:
    from spamnb.imap.service import install

    for line in install():
        click.echo(printable(line))
