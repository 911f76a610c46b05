"""Options that several commands share."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import wraps
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import click

from spamnb.bayes.verdict import UNSURE, Cutoffs
from spamnb.bayes.view import EVENTS, GLOBAL, View
from spamnb.errors import CannotCreate, UsageError
from spamnb.files import default_model
from spamnb.mailboxes.sources import is_remote, split_number
from spamnb.model import DEFAULT_VIEW, Model
from spamnb.store.stored import FORMAT
from spamnb.workers.local import LocalPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from spamnb.workers.cluster.pool import ClusterPool

    Decorated = Callable[..., Any]

MODEL_START = b"\xa6format\xa6" + FORMAT.encode()  # behind the first bytes of a map


class Command(click.Command):
    """A command whose help ends with examples, kept as they are written."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in self.examples.strip().splitlines():
                formatter.write(" " * formatter.current_indent + line.strip() + "\n")  # never wrapped


def _here(_ctx: click.Context, _option: click.Parameter, path: str) -> str:
    """Mail may lie elsewhere, but a model is mapped, locked and appended to."""
    if is_remote(path):
        raise UsageError(f"{path}: a model is a file on this machine; copy it here")
    return path


path_type = click.Path(readable=False)  # nothing is checked here; but shells complete it
model_option = click.option(
    "--model",
    type=path_type,
    callback=_here,
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
    """Mail and its labels."""
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
    """Machines to do the work."""
    return cluster_option(skip_option(command))


@contextmanager
def working(
    paths: Sequence[str], cluster: str | None, jobs: int | None, skip_unreadable: bool
) -> Iterator[LocalPool | ClusterPool]:
    """Who does the work on some mail: this machine, or a cluster."""
    if cluster is None:
        yield LocalPool(jobs)
        return
    from spamnb.workers.cluster import connected

    with connected(cluster, paths, jobs, skip_unreadable) as pool:
        yield pool


SETTINGS = ("ngrams", "stem", "stop_language", "headers", "keep_case")


def tokenizer_options(command: Decorated) -> Decorated:
    """Settings of the tokenizer; the command is called with `settings`, a map of those that were given."""

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
    """How to read the counts; the command is called with `view`, None for the default and its cutoffs."""

    @wraps(command)
    def called(event: Any, smoothing: Any, prior: Any, tfidf: bool, numbers: bool, **others: Any) -> Any:
        return command(view=chosen_view(event, smoothing, prior, tfidf, numbers), **others)

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


def chosen_view(
    event: str | None, smoothing: str | None, prior: str | None, tfidf: bool, numbers: bool
) -> View | None:
    """The view asked for; None for the default."""
    if event is None and smoothing is None and prior is None and not tfidf and not numbers:
        return None
    if prior is not None and event is None and not tfidf:
        raise UsageError("--prior needs --event: the default takes the mean of the evidence, and no prior")
    textbook = View() if event or tfidf else DEFAULT_VIEW
    return View(
        event=event or textbook.event,
        smoothing=textbook.smoothing if smoothing is None else _smoothing(smoothing),
        prior="counts" if prior is None else _prior(prior),
        tfidf=tfidf,
        numbers=numbers,
        pairs=textbook.pairs,
        least_evidence=textbook.least_evidence,
        silent=textbook.silent,
        apart=textbook.apart,
    )


def _smoothing(text: str) -> float | str:
    if text == GLOBAL:
        return GLOBAL
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise UsageError(f"--smoothing takes a number from 0 on, or 'global', not {text!r}")
    return value


def _prior(text: str) -> str | dict[str, float]:
    if text in ("counts", "uniform"):
        return text
    try:
        shares = {name: float(share) for name, _, share in (item.partition("=") for item in text.split(","))}
    except ValueError:
        shares = {}
    if not shares or min(shares.values()) < 0 or not 0 < sum(shares.values()) < inf:
        raise UsageError(f"--prior takes counts, uniform, or shares like ham=0.7,spam=0.3, not {text!r}")
    return shares


def checked_prior(view: View | None, labels: Iterable[str]) -> None:
    """A prior for labels that there are not is a slip of the pen."""
    given = view.prior if view else ""
    for name in given if not isinstance(given, str) else ():
        if name not in labels:
            raise UsageError(f"--prior: there is no label {name!r}; there are: {', '.join(labels)}")


def opened(model: str, view: View | None, cutoff: str | None = None) -> Model:
    """The model, to be seen through a view."""
    found = Model.open(model, view, chosen_cutoffs(cutoff))
    checked_prior(view, found.labels)
    return found


def chosen_cutoffs(text: str | None) -> Cutoffs | None:
    """`SPAM` or `HAM,SPAM`: scores from which on a message is spam, up to which it is ham."""
    if text is None:
        return None
    try:
        values = [float(value) for value in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (1, 2) or values != sorted(values) or not all(map(isfinite, values)):
        raise UsageError(f"--cutoff takes a score, or two: HAM,SPAM, the lower first; not {text!r}")
    return Cutoffs(values[0], values[-1])


def check_replaceable(path: str) -> None:
    """A slip of the finger must not cost a mailbox: only a model, or an empty file, is replaced."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
    except OSError:
        return  # nothing there, or nothing that can be written: the one who writes will tell
    if head and MODEL_START not in head:
        raise CannotCreate(f"{path}: is no model; remove it first, or name another file with --model")


def labelled(
    folders: Sequence[str],
    ham: Sequence[str],
    spam: Sequence[str],
    label: Sequence[str],
    any_label: str | None = None,
) -> dict[str, list[str]]:
    """The paths of each label, from `HAM SPAM`, `--ham PATH`, `--spam PATH` and `--label NAME=PATH`.

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
    _check_once(sources)
    return sources


def _check_once(sources: dict[str, list[str]]) -> None:
    """Standard input has one message, and a folder one label."""
    names: dict[str, str] = {}
    for name, paths in sources.items():
        for path in paths:
            before = names.setdefault(_place(path), name)
            if before != name:
                raise UsageError(f"{path}: named as {before} and as {name}; once is right")
    for name, paths in sources.items():
        for path in paths:
            box = split_number(path)[0]
            if box and names.get(_place(box), name) != name:
                raise UsageError(
                    f"{path}: named as {name}, and all of {box} as {names[_place(box)]}; once is right"
                )
    if sum(paths.count("-") for paths in sources.values()) > 1:
        raise UsageError("-: named twice, and standard input has one message")


def _place(path: str) -> str:
    return path if path == "-" else os.path.realpath(path)
