"""Options that several commands share, and their values, of which a wrong one is a UsageError."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, wraps
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spamnb.bayes.verdict import Cutoffs
from spamnb.bayes.view import EVENTS, View
from spamnb.cli.shared.help import Command as Command
from spamnb.cli.shared.help import Number, rare_option
from spamnb.configuration.current import model_path
from spamnb.errors import UsageError
from spamnb.files import model_file
from spamnb.history.log import DAYS, SIZE

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
        raise UsageError("--prior needs --event: the default method has no prior")
    textbook = View() if event or tfidf else DEFAULT_VIEW
    asked = {
        "event": event or textbook.event,
        "smoothing": textbook.smoothing if smoothing is None else _parse_smoothing(smoothing),
        "prior": "counts" if prior is None else _parse_prior(prior),
        "tfidf": tfidf,
        "numbers": numbers,
    }
    return View(**textbook.as_map() | asked)


def _parse_smoothing(text: str) -> float | str:
    from spamnb.evaluation.candidates import read_smoothing

    try:
        return read_smoothing(text)
    except ValueError:
        why = f"--smoothing takes a number of 0 or more, or 'global', not {text!r}"
        raise UsageError(why) from None


def _parse_prior(text: str) -> str | dict[str, float]:
    if text in ("counts", "uniform"):
        return text
    try:
        shares = {name: float(share) for name, _, share in (item.partition("=") for item in text.split(","))}
    except ValueError:
        shares = {}
    if not shares or min(shares.values()) < 0 or not 0 < sum(shares.values()) < inf:
        raise UsageError(f"--prior takes counts, uniform, or shares such as ham=0.7,spam=0.3, not {text!r}")
    if sum(shares.values()) > 1 + 1e-9:
        raise UsageError(f"--prior: the shares of {text!r} add up to more than 1")
    return shares


def check_prior(view: View | None, labels: Iterable[str]) -> None:
    """Refuse a prior for a label that there is not."""
    given = view.prior if view else ""
    for name in given if not isinstance(given, str) else ():
        if name not in labels:
            raise UsageError(f"--prior: unknown label {name!r}; the labels are: {', '.join(labels)}")


def open_model(path: str, view: View | None, cutoff: str | None = None, layered: bool = True) -> Model:
    """Open a model, to be read through a view; with its base, if it has one and is to be `layered`."""
    from spamnb.model import Model

    model = Model.open(path, view, parse_cutoffs(cutoff), layered)
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
        raise UsageError(f"--cutoff takes one score, or two as HAM,SPAM with the lower first, not {text!r}")
    return Cutoffs(values[0], values[-1], contradiction=inf)  # they alone decide


def refuse_without_effect(when: str, *names: str) -> None:
    """Refuse options that were given to a command, and have no effect `when`, say, "without --online"."""
    for option in given_options():
        if option.name in names:
            name = option.opts[-1] if isinstance(option, click.Option) else option.human_readable_name
            raise UsageError(f"{name} has no effect {when}")


def given_options() -> list[click.Parameter]:
    """List the options and arguments that were given to the command that runs."""
    context = click.get_current_context()
    return [
        option
        for option in context.command.params
        if context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    ]


Decorated = Callable[..., Any]


def _check_local(_ctx: click.Context, _option: click.Parameter, path: str) -> str:
    """Refuse a model on a remote store: mail may lie there, but a model is locked and appended to."""
    from spamnb.mailboxes.sources import is_remote

    if is_remote(path):
        raise UsageError(f"{path}: a model must be a local file; copy it here")
    return path


def _resolved(ctx: click.Context, option: click.Parameter, path: str) -> str:
    return model_file(_check_local(ctx, option, path))


def read_by(parse: Callable[..., int], least: int) -> Callable[..., int]:
    """Make the callback of an option whose value is a text, to be read by a function of quantities."""
    return lambda _ctx, option, text: parse(text, option.opts[-1], least)


path_type = click.Path(readable=False)  # nothing is checked yet, but shells complete it
_model_option = partial(
    click.option,
    "--model",
    type=path_type,
    metavar="PATH",
    default=model_path,
    help="Model file, if not $SPAMNB_MODEL or the configured one.",
)
model_option = _model_option(callback=_resolved)
served_model_option = _model_option(callback=_check_local)  # a link may lead elsewhere while a server runs


class Jobs(click.ParamType):  # type: ignore[type-arg]  # Debian 12 has click 8.1, not generic
    """A number of processes, or a cluster."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """An address has a colon, a file a slash."""
        is_cluster = isinstance(value, str) and (value == "local" or ":" in value or "/" in value)
        return value if is_cluster else Number(1, 1024).convert(value, param, ctx)


jobs_option = rare_option(
    "--jobs",
    type=Jobs(),
    metavar="N|CLUSTER",
    help="Number of processes, one for each core by default; or the address or file of a Dask scheduler.",
)
local_jobs_option = rare_option(
    "--jobs", type=Number(1, 1024), help="Number of processes, one for each core by default."
)
no_base_option = rare_option("--no-base", is_flag=True, help="Judge without the model's base, if it has one.")
history_days_option = rare_option(
    "--history-days", metavar="DAYS", help=f"How long the history keeps messages; {DAYS} by default."
)
history_size_option = rare_option(
    "--history-size", metavar="SIZE", help=f"Space for the history, e.g. 2GB; {SIZE} by default."
)
history_folder_option = click.option(
    "--history-folder",
    type=path_type,
    metavar="PATH",
    help="Folder of the history, if not spamnb/history in the XDG state folder.",
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
            help="Keep each verdict, and the message for some days; see: spamnb history.",
        ),
    )


MAIL = ("folders", "ham", "spam", "label", "jobs")


def mail_options(
    command: Decorated, label: bool = True, ham: str = "Ham; may be repeated. - is standard input."
) -> Decorated:
    """Give a command the options that name mail and its labels, as `mail`, with those of who reads it."""

    @wraps(command)
    def called(**options: Any) -> Any:
        from spamnb.cli.shared.labelled_mail import LabelledMail

        named = {name: options.pop(name) for name in MAIL if name in options}
        return command(mail=LabelledMail(**named), **options)

    path_option = partial(click.option, multiple=True, type=path_type, metavar="PATH")
    label_option = click.option(
        "--label", multiple=True, metavar="NAME=PATH", help="Mail with any other label."
    )
    return with_options(
        called,
        *([label_option] if label else []),
        path_option("--spam", help="Spam; may be repeated."),
        path_option("--ham", help=ham),
        click.argument("folders", nargs=-1, metavar="[HAM SPAM]", type=path_type),
    )


SETTINGS = ("ngrams", "stem", "stop_language", "headers")


def tokenizer_options(command: Decorated) -> Decorated:
    """Give a command the settings of the tokenizer, as `settings`: a map of those that were given."""

    @wraps(command)
    def called(**options: Any) -> Any:
        given = {name: value for name in SETTINGS if (value := options.pop(name)) is not None}
        return command(settings=given, **options)

    return with_options(
        called,
        rare_option(
            "--no-headers", "headers", flag_value=False, type=bool, default=None, help="Ignore headers."
        ),
        rare_option(
            "--stop-words", "stop_language", metavar="LANG", help="Ignore this language's common words."
        ),
        rare_option("--stem", metavar="LANG", help="Reduce words to their stems, e.g. english."),
        rare_option("--ngrams", type=Number(1, 5), help="Also count runs of up to N words; N is 1 to 5."),
    )


def view_options(command: Decorated) -> Decorated:
    """Give a command the options of how to read the counts, as `view`; None is the default."""

    @wraps(command)
    def called(event: Any, smoothing: Any, prior: Any, tfidf: bool, numbers: bool, **others: Any) -> Any:
        return command(view=parse_view(event, smoothing, prior, tfidf, numbers), **others)

    return with_options(
        called,
        rare_option("--numbers", is_flag=True, help="Also use numeric features, as Gaussians."),
        rare_option("--tfidf", is_flag=True, help="Weight words by TF-IDF."),
        rare_option("--prior", metavar="KIND", help="counts, uniform, or shares: NAME=SHARE,…"),
        rare_option("--smoothing", metavar="ALPHA", help="Added to all counts: a number, or 'global'."),
        rare_option("--event", type=click.Choice(EVENTS), help="Use a textbook event model."),
    )


def with_options(command: Decorated, *options: Callable[[Decorated], Decorated]) -> Decorated:
    """Give a command some options, shown in the opposite order."""
    for option in options:
        command = option(command)
    return command
