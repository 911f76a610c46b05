"""Options that several commands share, and the checks of their values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spamnb.bayes.verdict import Cutoffs
from spamnb.bayes.view import View
from spamnb.cli.shared.help import Command as Command
from spamnb.cli.shared.help import Number, rare_option
from spamnb.configuration import model_path
from spamnb.delivery.commands import HAM_HELP, MODEL_HELP, SPAM_HELP
from spamnb.errors import UsageError
from spamnb.files import model_file

if TYPE_CHECKING:
    from spamnb.evaluation.candidates import ParsedSettings
    from spamnb.model import Model


def check_prior(view: View | None, labels: Iterable[str]) -> None:
    """Raise UsageError if the prior of `view` has a label that is not in `labels`."""
    given = view.prior if view else ""
    for name in given if not isinstance(given, str) else ():
        if name not in labels:
            raise UsageError(f"prior: unknown label {name!r}; the labels are: {', '.join(labels)}")


def open_model(path: str, view: View | None, cutoff: str | None = None) -> Model:
    """Open a model with the settings of `view` and the cutoffs of `cutoff`, if these are given."""
    from spamnb.model import Model

    model = Model.open(path, view, parse_cutoffs(cutoff))
    check_prior(view, model.labels)
    return model


def parse_cutoffs(text: str | None) -> Cutoffs | None:
    """Read `HAM,SPAM`, or one score for both: scores from SPAM on are spam, lower ones up to HAM are ham."""
    if text is None:
        return None
    try:
        values = [float(value) for value in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (1, 2) or values != sorted(values) or not all(map(isfinite, values)):
        raise UsageError(f"--cutoff takes one score, or two as HAM,SPAM with the lower first, not {text!r}")
    return Cutoffs(values[0], values[-1], contradiction=inf)  # the score alone decides


def refuse_without_effect(when: str, *names: str) -> None:
    """Raise UsageError if an option in `names` was given; `when` says in which case it has no effect."""
    for option in given_options():
        if option.name in names:
            name = option.opts[-1] if isinstance(option, click.Option) else option.human_readable_name
            raise UsageError(f"{name} has no effect {when}")


def check_modes(modes: Mapping[str, Sequence[str]], *more: str) -> str:
    """Return the mode that was chosen, by an option that is a key of `modes` or by `more`; "" if none was.
    Raise UsageError for two modes, or if an option was given that has no effect in the mode (`modes[mode]`).
    """
    asked = [option.opts[0] for option in given_options() if option.opts[0] in modes]
    asked += more
    if len(asked) > 1:
        raise UsageError(f"{asked[0]} and {asked[1]} cannot be combined")
    for mode in asked:
        refuse_without_effect(f"with {mode}", *modes[mode])
    return asked[0] if asked else ""


def given_options() -> list[click.Parameter]:
    """List the options and arguments that were given to the running command."""
    context = click.get_current_context()
    return [
        option
        for option in context.command.params
        if context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    ]


def is_meant(what: str, yes: bool) -> bool:
    """Return True if `yes`, or if the user agrees to the change `what`; to ask, a terminal is needed."""
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{what}: nothing was changed; to do it, add --yes")
    is_so = yes or click.confirm(f"{what}. Continue?", err=True)
    if not is_so:
        click.echo("nothing was changed")
    return is_so


Decorated = Callable[..., Any]


def read_by(parse: Callable[..., int], least: int) -> Callable[..., int]:
    """Return a callback that reads an option's value with `parse`; `least` is the lowest value allowed."""
    return lambda _ctx, option, text: parse(text, option.opts[-1], least)


path_type = click.Path(readable=False)  # shells complete it
_model_option = partial(
    click.option, "--model", type=path_type, metavar="PATH", default=model_path, help=MODEL_HELP
)
model_option = _model_option(callback=lambda _ctx, _option, path: model_file(path))
served_model_option = _model_option()  # links are not followed: a link may be changed while the server runs


class Jobs(click.ParamType):  # type: ignore[type-arg]  # Debian 12 has click 8.1, not generic
    """The type of an option's value: a number of threads, or a Dask cluster."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Read a number of threads, or the address (with a colon) or file (with a slash) of a cluster."""
        is_cluster = isinstance(value, str) and (":" in value or "/" in value)
        return value if is_cluster else Number(1, 1024).convert(value, param, ctx)


jobs_option = rare_option(
    "--jobs",
    type=Jobs(),
    metavar="N|CLUSTER",
    help="Number of threads, one for each core by default; or the address or file of a Dask scheduler.",
)
local_jobs_option = rare_option(
    "--jobs", type=Number(1, 1024), help="Number of threads, one for each core by default."
)
history_folder_option = click.option(
    "--history-folder",
    type=path_type,
    metavar="PATH",
    help="Folder of the history, if not spamnb/history in the XDG state folder.",
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask before a change that cannot be undone.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
settings_option = partial(rare_option, "--settings", metavar="NAME=VALUE,…")


def _parse_settings(_ctx: click.Context, _option: click.Parameter, text: str | None) -> ParsedSettings:
    """Parse settings of how mail is read and judged; without `text`, return ({}, None): as in the model."""
    from spamnb.evaluation.candidates import parse_settings

    return ({}, None) if text is None else parse_settings(text)


def _parse_view(_ctx: click.Context, _option: click.Parameter, text: str | None) -> View | None:
    """Parse settings of how mail is judged; refuse those of how it is read, which training has fixed."""
    from spamnb.evaluation.candidates import VIEW_NAMES, parse_settings

    return None if text is None else parse_settings(text, VIEW_NAMES)[1]


model_settings_option = settings_option(
    "chosen",
    callback=_parse_settings,
    help="How a new model reads and judges mail: stem=english …; or --stem english ….",
)
view_option = settings_option(
    "view", callback=_parse_view, help="Judge with other settings: event=bernoulli …; or --event bernoulli …."
)


history_option = click.option(
    "--history", is_flag=True, help="Keep each verdict, and the message for some days; see: spamnb history."
)


MAIL = ("folders", "ham", "spam", "label", "jobs")


def mail_options(command: Decorated, label: bool = True, ham: str = HAM_HELP) -> Decorated:
    """Add the options that name mail and its labels; the command gets all as one LabelledMail, `mail`."""

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
        path_option("--spam", help=SPAM_HELP),
        path_option("--ham", help=ham),
        click.argument("folders", nargs=-1, metavar="[HAM SPAM]", type=path_type),
    )


def with_options(command: Decorated, *options: Callable[[Decorated], Decorated]) -> Decorated:
    """Add `options` to a command; its help shows the last one first."""
    for option in options:
        command = option(command)
    return command
