"""Options that several commands share, and their values, of which a wrong one is a UsageError."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import click

from spamnb import UNSURE
from spamnb.bayes.classifier import EVENTS, GLOBAL, View
from spamnb.bayes.verdict import Cutoffs
from spamnb.configuration.current import model_path
from spamnb.delivery.history_log import DAYS, SIZE
from spamnb.errors import UsageError

if TYPE_CHECKING:
    from spamnb.model import Model


def parse_view(
    event: str | None, smoothing: str | None, prior: str | None, tfidf: bool, numbers: bool
) -> View | None:
    """Make the view asked for; None stands for the default."""
    if event is None and smoothing is None and prior is None and not tfidf and not numbers:
        return None
    from spamnb.model import DEFAULT_VIEW

    if prior is not None and event is None and not tfidf:
        raise UsageError("--prior needs --event: the default takes the mean of the evidence, and no prior")
    textbook = View() if event or tfidf else DEFAULT_VIEW
    return View(
        event=event or textbook.event,
        smoothing=textbook.smoothing if smoothing is None else _parse_smoothing(smoothing),
        prior="counts" if prior is None else _parse_prior(prior),
        tfidf=tfidf,
        numbers=numbers,
        pairs=textbook.pairs,
        least_evidence=textbook.least_evidence,
        damping=textbook.damping,
        split_head_body=textbook.split_head_body,
    )


def _parse_smoothing(text: str) -> float | str:
    if text == GLOBAL:
        return GLOBAL
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise UsageError(f"--smoothing takes a number from 0 on, or 'global', not {text!r}")
    return value


def _parse_prior(text: str) -> str | dict[str, float]:
    if text in ("counts", "uniform"):
        return text
    try:
        shares = {name: float(share) for name, _, share in (item.partition("=") for item in text.split(","))}
    except ValueError:
        shares = {}
    if not shares or min(shares.values()) < 0 or not 0 < sum(shares.values()) < inf:
        raise UsageError(f"--prior takes counts, uniform, or shares like ham=0.7,spam=0.3, not {text!r}")
    return shares


def check_prior(view: View | None, labels: Iterable[str]) -> None:
    """Refuse a prior for a label that there is not."""
    given = view.prior if view else ""
    for name in given if not isinstance(given, str) else ():
        if name not in labels:
            raise UsageError(f"--prior: there is no label {name!r}; there are: {', '.join(labels)}")


def open_model(path: str, view: View | None, cutoff: str | None = None) -> Model:
    """Open a model, to be read through a view."""
    from spamnb.model import Model

    model = Model.open(path, view, parse_cutoffs(cutoff))
    check_prior(view, model.labels)
    return model


def parse_cutoffs(text: str | None) -> Cutoffs | None:
    """Read `SPAM` or `HAM,SPAM`: the scores from which on a message is spam, and up to which it is ham."""
    if text is None:
        return None
    try:
        values = [float(value) for value in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (1, 2) or values != sorted(values) or not all(map(isfinite, values)):
        raise UsageError(f"--cutoff takes a score, or two: HAM,SPAM, the lower first; not {text!r}")
    return Cutoffs(values[0], values[-1], contradiction=inf)  # they alone decide


def sources_by_label(
    folders: Sequence[str],
    ham: Sequence[str],
    spam: Sequence[str],
    label: Sequence[str],
    any_label: str | None = None,
) -> dict[str, list[str]]:
    """List the paths of each label, from `HAM SPAM`, `--ham PATH`, `--spam PATH` and `--label NAME=PATH`.

    Where mail needs no label, all that is named without one goes under `any_label`.
    """
    sources: dict[str, list[str]] = {}
    if folders and any_label:
        sources = {any_label: [*folders]}
    elif folders:
        if len(folders) != 2:
            raise UsageError("two folders or mailboxes, ham first; for more use --ham PATH and --spam PATH")
        sources = {"ham": [folders[0]], "spam": [folders[1]]}
    for name, paths in (("ham", ham), ("spam", spam)):
        if paths:
            sources.setdefault(name, []).extend(paths)
    for item in label:
        name, equals, path = item.partition("=")
        if not (name and equals and path) or not name.isprintable() or name == UNSURE or len(name) > 100:
            raise UsageError(f"--label takes NAME=PATH, not {item!r}")
        sources.setdefault(name, []).append(path)
    if not sources and any_label:
        raise UsageError("nothing to read; name the mail, for instance: spamnb train --forget message")
    if not sources:
        raise UsageError("nothing to read; name ham and spam, for instance: spamnb train ham/ spam/")
    _check_named_once(sources)
    return sources


def _check_named_once(sources: dict[str, list[str]]) -> None:
    """Refuse standard input named twice, as it has one message, and a folder named under two labels."""
    from spamnb.mailboxes.sources import split_number

    label_of: dict[str, str] = {}
    for name, paths in sources.items():
        for path in paths:
            before = label_of.setdefault(_real_path(path), name)
            if before != name:
                raise UsageError(f"{path}: named as {before} and as {name}; once is right")
    for name, paths in sources.items():
        for path in paths:
            box = split_number(path)[0]
            if box and label_of.get(_real_path(box), name) != name:
                raise UsageError(
                    f"{path}: named as {name}, and all of {box} as {label_of[_real_path(box)]}; once is right"
                )
    if sum(paths.count("-") for paths in sources.values()) > 1:
        raise UsageError("-: named twice, and standard input has one message")


def _real_path(path: str) -> str:
    return path if path == "-" else os.path.realpath(path)


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


def read_by(parse: Callable[..., int], least: int) -> Callable[..., int]:
    """Make the callback of an option whose value is a text, to be read by a function of quantities."""
    return lambda _ctx, option, text: parse(text, option.opts[-1], least)


path_type = click.Path(readable=False)  # nothing is checked yet, but shells complete it
model_option = click.option(
    "--model",
    type=path_type,
    callback=_check_local,
    metavar="PATH",
    default=model_path,
    show_default="$SPAMNB_MODEL, else as configured, else spamnb/model.msgpack in the XDG data folder",
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
history_days_option = click.option(
    "--history-days", metavar="DAYS", show_default=DAYS, help="How long messages stay in the history."
)
history_size_option = click.option(
    "--history-size", metavar="SIZE", show_default=SIZE, help="How much it may take, as 200MB or 2GB."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def history_options(command: Decorated) -> Decorated:
    """Give a command the options of what it leaves in the history."""
    return with_options(
        command,
        history_size_option,
        history_days_option,
        click.option(
            "--history",
            is_flag=True,
            help="Leave each verdict, and for some days its message, to be looked at: spamnb history.",
        ),
    )


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
