"""`spamnb config`."""

import os
import sys
from typing import Any

import click

from spamnb.cli.render.terminal import print_json, show, table
from spamnb.cli.shared.options import Command, json_option
from spamnb.configuration import DEFAULTS, Configuration, model_path, read_configuration, stamps
from spamnb.errors import NoModel
from spamnb.files import printable

EXAMPLES = """
spamnb config
spamnb config --json
"""
BY_DEFAULT = "default"


@click.command(cls=Command, examples=EXAMPLES)
@json_option
def config(as_json: bool) -> None:
    """Show the configuration: each key, its value, and the file, variable or default that sets the value.

    spamnb.toml is read from /etc/spamnb and from spamnb/ in the XDG configuration folder (~/.config). The
    user's file overrides the system's, the environment overrides both, and the command line everything.
    """
    found = read_configuration()
    values, origins = values_of(found), origins_of(found)
    if as_json:
        files = [path for path, stamp in found.sources.items() if stamp]  # existing ones
        print_json({"values": values, "from": origins, "files": files})
        return
    rows = [(key, shown(values[key]), origins[key]) for key in DEFAULTS]
    if sys.stdout.isatty():
        show(table(None, ("key", "value", "from"), rows, texts=("value", "from")))
        paths = [path for path in stamps() if path.endswith(".toml")]
        files = [path if os.path.exists(path) else f"{path} (missing)" for path in paths]
        show("files: " + ", ".join(files))
    else:
        for row in rows:
            click.echo("\t".join(map(printable, row)))


def values_of(found: Configuration) -> dict[str, Any]:
    try:
        model = model_path(found)
    except NoModel:
        model = ""
    return found.values | {"model": model}


def origins_of(found: Configuration) -> dict[str, str]:
    origins = {key: found.origins.get(key, BY_DEFAULT) for key in DEFAULTS}
    if os.environ.get("SPAMNB_MODEL"):
        origins["model"] = "$SPAMNB_MODEL"
    return origins


def shown(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value or "-")
