"""`spamnb serve`."""

import os
import sys
from typing import Any

import click

from spamnb.cli.options import Command, history_options, model_option, path_type, read_by
from spamnb.configuration.current import HEADER_STYLES, load
from spamnb.configuration.quantities import parse_size
from spamnb.delivery import open_history
from spamnb.errors import UsageError
from spamnb.serve.options import DEFAULT_ADDRESS, DEFAULT_MILTER_ADDRESS, MILTER_TIMEOUT, Options

EXAMPLES = """
spamnb serve
spamc -p 7830 < message
spamnb serve --listen unix:/run/spamnb/socket --metrics localhost:7831
spamnb serve --user spamnb --user-models /var/lib/spamnb --allow-tell
spamnb serve --milter --listen unix:/var/spool/postfix/spamnb/milter
"""
OWN_PROCESS = (sys.executable, "-P", "-m", "spamnb.serve")


@click.command(cls=Command, examples=EXAMPLES)
@click.option(
    "--listen",
    multiple=True,
    metavar="ADDRESS",
    show_default=f"{DEFAULT_ADDRESS}, of a milter {DEFAULT_MILTER_ADDRESS}",
    help="localhost:PORT or unix:PATH; again for more. Without it, what systemd hands over.",
)
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes; all cores by default.")
@model_option
@click.option(
    "--user-models", type=path_type, metavar="DIR", help="DIR/USER/model.msgpack, where there is one."
)
@click.option("--allow-tell", is_flag=True, help="Let clients teach: whoever can connect.")
@click.option(
    "--header-style",
    type=click.Choice(HEADER_STYLES),
    show_default=Options.header_style,
    help="The header of a message that is passed on.",
)
@click.option("--metrics", metavar="ADDRESS", help="Prometheus text at http://ADDRESS/metrics.")
@click.option(
    "--max-size",
    callback=read_by(parse_size, 1),
    metavar="SIZE",
    default=f"{Options.max_size // 10**6}MB",
    show_default=True,
    help="Larger messages are refused.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    show_default=f"{Options.timeout:g}, of a milter {MILTER_TIMEOUT:g}",
    help="To send a request.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(1),
    metavar="N",
    default=Options.max_connections,
    show_default=True,
    help="Of a worker.",
)
@click.option("--user", metavar="NAME", help="Whom to become, started as root, once the sockets are open.")
@click.option("--milter", is_flag=True, help="Be a milter of Postfix instead.")
@click.option(
    "--milter-failure",
    type=click.Choice(("accept", "tempfail")),
    default=Options.milter_failure,
    show_default=True,
    help="What becomes of a message that cannot be judged.",
)
@click.option("--reject", is_flag=True, help="As a milter, refuse spam.")
@history_options
@click.option("--quiet", is_flag=True, help="No line a message on standard error.")
def serve(**options: Any) -> None:
    """Keep the model in memory and answer spamc, and whatever else speaks SpamAssassin's spamd protocol.

    A changed model is noticed by itself. SIGTERM ends the server once the requests under way are answered.
    """
    from spamnb.workers.processes import all_cores

    milter = options["milter"]
    if options["reject"] and not milter:
        raise UsageError("--reject needs --milter")
    if milter and (options["allow_tell"] or options["user_models"]):
        raise UsageError("--user-models and --allow-tell are not for --milter")
    configuration = load()
    open_history(options["history"], options["history_days"], options["history_size"], configuration)
    options["header_style"] = options["header_style"] or configuration["header_style"]
    options |= {key: configuration[key] for key in ("header", "subject_tag")}
    options["workers"] = options["workers"] or all_cores()
    options["timeout"] = options["timeout"] or (MILTER_TIMEOUT if milter else Options.timeout)
    sys.stdout.flush()
    os.execv(OWN_PROCESS[0], [*OWN_PROCESS, Options(**options).as_json()])  # noqa: S606
