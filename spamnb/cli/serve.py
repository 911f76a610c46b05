"""`spamnb serve`."""

import sys
from typing import Any

import click

from spamnb.cli.shared.help import rare_option
from spamnb.cli.shared.options import (
    Command,
    history_option,
    path_type,
    refuse_without_effect,
    served_model_option,
)
from spamnb.errors import UsageError
from spamnb.serve.options import DEFAULT_ADDRESS, DEFAULT_MILTER_ADDRESS, Options

EXAMPLES = """
spamnb serve
spamc -p 7830 < message
spamnb serve --listen unix:/run/spamnb/socket
spamnb serve --user spamnb --user-models /var/lib/spamnb --allow-tell
spamnb serve --http localhost:11333 --http localhost:11334 --allow-tell
spamnb serve --milter --listen unix:/var/spool/postfix/spamnb/milter
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.option(
    "--listen",
    multiple=True,
    metavar="ADDRESS",
    help="localhost:PORT or unix:PATH; may be repeated. Default: systemd's sockets, else "
    f"{DEFAULT_ADDRESS}, with --milter {DEFAULT_MILTER_ADDRESS}.",
)
@served_model_option
@click.option(
    "--user-models",
    type=path_type,
    metavar="DIR",
    help="Use each user's own model, if it exists: DIR/USER/model.msgpack, or a path with %u for the user.",
)
@click.option(
    "--allow-tell",
    is_flag=True,
    help="Learn mail when a client asks: at a port any client, at a Unix socket the model's owner. "
    "A user without a model gets one.",
)
@rare_option("--allow-tell-all", is_flag=True, help="Like --allow-tell, at a Unix socket also for everyone.")
@click.option(
    "--http",
    multiple=True,
    metavar="ADDRESS",
    help="Also answer rspamc and other clients of rspamd there, and Prometheus at /metrics; may be repeated.",
)
@rare_option(
    "--http-password",
    type=path_type,
    metavar="FILE",
    help="Require the password in the first line of FILE from clients at a port of --http.",
)
@rare_option(
    "--allow-network",
    is_flag=True,
    help="Allow --listen and --http to take addresses that other machines reach. Nothing is encrypted; only "
    "--http can require a password.",
)
@click.option("--milter", is_flag=True, help="Serve as a milter for Postfix instead.")
@click.option(
    "--reject", is_flag=True, help="Reject spam (--milter), or advise clients to reject it (--http)."
)
@click.option("--user", metavar="NAME", help="As root: become this user once the sockets are open.")
@history_option
def serve(**options: Any) -> None:
    """Keep the model in memory and answer spamc and other clients of SpamAssassin's protocol.

    A changed model is loaded automatically. SIGTERM ends the server after all open requests are answered.
    """
    from spamnb.serve.server import Server

    if not options["http"]:
        refuse_without_effect("without --http", "http_password")
        if not options["milter"]:
            refuse_without_effect("without --milter or --http", "reject")
        if not options["listen"]:
            refuse_without_effect("without --listen or --http", "allow_network")
    options["allow_tell"] |= options["allow_tell_all"]
    if options["milter"] and options["allow_tell"] and not options["http"]:
        raise UsageError("--allow-tell needs --http beside --milter, because a milter cannot learn mail")
    sys.stdout.flush()
    sys.exit(Server(Options(**options)).run())
