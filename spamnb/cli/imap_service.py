"""`spamnb imap service`: run `spamnb imap watch` as a service of the user."""

from __future__ import annotations

import click

from spamnb.cli.shared.help import Group
from spamnb.files import printable


@click.group("service", cls=Group)
def service() -> None:
    """Run `spamnb imap watch` as a service, whenever you are logged in.

    \b
    spamnb imap service install    installs the service of this user and starts it
    """


@service.command(examples="spamnb imap service install")
def install() -> None:
    """Install a service for this user and start it: a unit of systemd, or an agent of macOS' launchd.

    An existing service is replaced and restarted. On other systems, this prints the command to run.
    """
    install_service()


def install_service() -> None:
    from spamnb.imap.service import install

    for line in install():
        click.echo(printable(line))
