"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from spamnb.bayes.classifier import EVENTS
from spamnb.cli.option_values import parse_view
from spamnb.errors import UsageError
from spamnb.files import default_model

Decorated = Callable[..., Any]


class Command(click.Command):
    """A command whose help ends with examples, kept as they are written."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in self.examples.strip().splitlines():
                formatter.write(" " * formatter.current_indent + line.strip() + "\n")  # never wrapped


def _check_local(_ctx: click.Context, _option: click.Parameter, path: str) -> str:
    """Refuse a model on a remote store: mail may lie there, but a model is locked and appended to."""
    from spamnb.mailboxes.sources import is_remote

    if is_remote(path):
        raise UsageError(f"{path}: a model is a file on this machine; copy it here")
    return path


path_type = click.Path(readable=False)  # nothing is checked yet, but shells complete it
model_option = click.option(
    "--model",
    type=path_type,
    callback=_check_local,
    metavar="PATH",
    default=default_model,
    show_default="$SPAMNB_MODEL, else spamnb/model.msgpack in the XDG data folder",
    help="The model file.",
)
jobs_option = click.option("--jobs", type=click.IntRange(1, 1024), help="Processes; all cores by default.")
keyed_option = click.option(
    "--keyed",
    is_flag=True,
    help="Of a new model: keep no words, only their hashes by a key (that of $SPAMNB_KEY, else PATH.key).",
)
cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="A Dask cluster's scheduler, tcp://HOST:PORT or its file; local starts workers here.",
)
skip_option = click.option(
    "--skip-unreadable", is_flag=True, help="What cannot be read is told, but is no error."
)
all_folders_option = click.option(
    "--all-folders",
    is_flag=True,
    help="Below a path, also read folders whose names speak against its label: Trash, Drafts, Junk …",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def mail_options(command: Decorated) -> Decorated:
    """Give a command the options that name mail and its labels."""
    return with_options(
        command,
        all_folders_option,
        click.option("--label", multiple=True, metavar="NAME=PATH", help="Mail of any other class."),
        click.option("--spam", multiple=True, type=path_type, metavar="PATH", help="Spam, likewise."),
        click.option(
            "--ham",
            multiple=True,
            type=path_type,
            metavar="PATH",
            help="Ham; again for more. - is one message on standard input.",
        ),
        click.argument("folders", nargs=-1, metavar="[HAM SPAM]", type=path_type),
    )


def cluster_options(command: Decorated) -> Decorated:
    """Give a command the options for a cluster of machines."""
    return cluster_option(skip_option(command))


SETTINGS = ("ngrams", "stem", "stop_language", "headers", "keep_case")


def tokenizer_options(command: Decorated) -> Decorated:
    """Give a command the settings of the tokenizer, as `settings`: a map of those that were given."""

    @wraps(command)
    def called(**options: Any) -> Any:
        given = {name: value for name in SETTINGS if (value := options.pop(name)) is not None}
        return command(settings=given, **options)

    return with_options(
        called,
        click.option("--case", "keep_case", is_flag=True, default=None, help="Keep capital letters apart."),
        click.option(
            "--no-headers", "headers", flag_value=False, type=bool, default=None, help="Read the body only."
        ),
        click.option("--stop-words", "stop_language", metavar="LANG", help="Leave out its common words."),
        click.option("--stem", metavar="LANG", help="Reduce words to their stems, say: english."),
        click.option("--ngrams", type=click.IntRange(1, 5), help="Runs of up to N words as tokens."),
    )


def view_options(command: Decorated) -> Decorated:
    """Give a command the options of how to read the counts, as `view`; None is the default."""

    @wraps(command)
    def called(event: Any, smoothing: Any, prior: Any, tfidf: bool, numbers: bool, **others: Any) -> Any:
        return command(view=parse_view(event, smoothing, prior, tfidf, numbers), **others)

    return with_options(
        called,
        click.option("--numbers", is_flag=True, help="Multiply by the Gaussians of the numeric features."),
        click.option("--tfidf", is_flag=True, help="Weigh words by term frequency and rarity."),
        click.option("--prior", metavar="KIND", help="counts, uniform, or NAME=SHARE,NAME=SHARE."),
        click.option("--smoothing", metavar="ALPHA", help="Added to all counts: a number, or 'global'."),
        click.option("--event", type=click.Choice(EVENTS), help="A textbook's event model."),
    )


def with_options(command: Decorated, *options: Callable[[Decorated], Decorated]) -> Decorated:
    """Give a command some options, shown in the opposite order."""
    for option in options:
        command = option(command)
    return command
