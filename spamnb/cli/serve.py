"""`spamnb serve`."""

import os
import sys
from typing import Any

import click

from spamnb.cli.shared.help import Number, rare_option
from spamnb.cli.shared.options import (
    Command,
    history_options,
    path_type,
    read_by,
    refuse_without_effect,
    served_model_option,
)
from spamnb.configuration.current import load
from spamnb.configuration.quantities import parse_size
from spamnb.delivery.commands import open_history
from spamnb.errors import UsageError
from spamnb.files import STDIN, write_all
from spamnb.passthrough import STYLES
from spamnb.serve.options import DEFAULT_ADDRESS, DEFAULT_MILTER_ADDRESS, MILTER_TIMEOUT, Options

EXAMPLES = """
spamnb serve
spamc -p 7830 < message
spamnb serve --listen unix:/run/spamnb/socket --metrics localhost:7831
spamnb serve --user spamnb --user-models /var/lib/spamnb --allow-tell
spamnb serve --http localhost:11333 --http localhost:11334 --allow-tell
spamnb serve --milter --listen unix:/var/spool/postfix/spamnb/milter
"""
OWN_PROCESS = (sys.executable, "-P", "-m", "spamnb.serve")


@click.command(cls=Command, examples=EXAMPLES)
@click.option(
    "--listen",
    multiple=True,
    metavar="ADDRESS",
    help="localhost:PORT or unix:PATH; may be repeated. Default: systemd's sockets, else "
    f"{DEFAULT_ADDRESS}, with --milter {DEFAULT_MILTER_ADDRESS}.",
)
@rare_option("--workers", type=Number(1, 1024), help="Number of processes; by default one for each core.")
@served_model_option
@click.option(
    "--user-models",
    type=path_type,
    metavar="DIR",
    help="Use DIR/USER/model.msgpack if it exists, or a path in which %u is the user.",
)
@click.option(
    "--allow-tell",
    is_flag=True,
    help="Let anyone who can connect to a port teach the model; at a Unix socket its owner only.",
)
@click.option(
    "--create-user-models", is_flag=True, help="Make a model for a user without one at the first lesson."
)
@rare_option("--teach-shared", is_flag=True, help="Let users without a model teach the shared one.")
@rare_option("--allow-tell-all", is_flag=True, help="Let anyone who can connect to a Unix socket teach, too.")
@rare_option(
    "--allow-network",
    is_flag=True,
    help="Let --listen, --http and --metrics take addresses that others reach. Nothing is encrypted; "
    "only --http asks for a password.",
)
@click.option(
    "--header-style",
    type=click.Choice(list(STYLES)),
    help="Header added to messages: ours, or another filter's.",
)
@click.option(
    "--http",
    multiple=True,
    metavar="ADDRESS",
    help="Answer rspamc and other clients of rspamd there, too; may be repeated.",
)
@rare_option(
    "--http-password",
    type=path_type,
    metavar="FILE",
    help="Ask who connects to a port of --http for the password in the first line of FILE.",
)
@rare_option("--metrics", metavar="ADDRESS", help="Serve Prometheus metrics at http://ADDRESS/metrics.")
@rare_option(
    "--max-size",
    callback=read_by(parse_size, 1),
    metavar="SIZE",
    default=f"{Options.max_size // 10**6}MB",
    show_default=True,
    help="Refuse larger messages.",
)
@rare_option(
    "--timeout",
    type=Number(0.1, whole=False),
    metavar="SECONDS",
    help="How long a client may take to send a request; by default "
    f"{Options.timeout:g}, with --milter {MILTER_TIMEOUT:g}.",
)
@rare_option(
    "--max-connections",
    type=Number(1),
    metavar="N",
    default=Options.max_connections,
    show_default=True,
    help="For each worker.",
)
@click.option("--user", metavar="NAME", help="As root: become this user once the sockets are open.")
@click.option("--milter", is_flag=True, help="Be a milter for Postfix instead.")
@rare_option(
    "--milter-failure",
    type=click.Choice(("accept", "tempfail")),
    default=Options.milter_failure,
    show_default=True,
    help="What to do with a message that cannot be judged.",
)
@click.option("--reject", is_flag=True, help="With --milter: refuse spam; with --http: say so.")
@history_options
def serve(**options: Any) -> None:
    """Keep the model in memory and answer spamc, or anything else that speaks SpamAssassin's protocol.

    A changed model is picked up by itself. SIGTERM ends the server once all open requests are answered.
    """
    from spamnb.workers.processes import all_cores

    milter = options["milter"]
    if not milter:
        refuse_without_effect("without --milter", "milter_failure")
        if not options["http"]:
            refuse_without_effect("without --milter or --http", "reject")
    if not options["http"]:
        refuse_without_effect("without --http", "http_password")
    options["allow_tell"] |= options["allow_tell_all"]
    if not (options["listen"] or options["http"] or options["metrics"]):
        refuse_without_effect("without --listen, --http or --metrics", "allow_network")
    if not (options["user_models"] and options["allow_tell"]):
        only = "without --user-models and --allow-tell"
        refuse_without_effect(only, "create_user_models", "teach_shared")
    if milter and (options["allow_tell"] or options["http"]):
        raise UsageError("--allow-tell and --http cannot be combined with --milter")
    open_history(options["history"], options["history_days"], options["history_size"], load())
    options["workers"] = options["workers"] or all_cores()
    options["timeout"] = options["timeout"] or (MILTER_TIMEOUT if milter else Options.timeout)
    sys.stdout.flush()
    reader, writer = os.pipe()
    write_all(writer, Options(**options).as_json().encode())
    os.close(writer)
    os.dup2(reader, STDIN)
    os.execv(OWN_PROCESS[0], [*OWN_PROCESS, *sys.argv[2:]])  # noqa: S606 (what was asked for, as ps shows it)
