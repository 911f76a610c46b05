"""What a person sees: tables in a terminal, plain text in a pipe, JSON on demand."""

from __future__ import annotations

import json
import os
import stat
import sys
from math import isfinite
from typing import TYPE_CHECKING, Any

from spamnb.cli.streams import drawable
from spamnb.files import complain, printable
from spamnb.key import key_path
from spamnb.mailboxes.not_mail import ARCHIVE
from spamnb.mailboxes.skipped import LeftOut, failures, passed_over
from spamnb.store.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from spamnb.cli.grid import Grid
    from spamnb.mailboxes.skipped import Unreadable

PIPE_WIDTH = 120
FILES, FOLDERS = 3, 10  # that are named of those passed over and left out


def print_json(value: Any) -> None:
    print(json.dumps(finite(value), indent=2, allow_nan=False))


def finite(value: Any) -> Any:
    """JSON has no infinity: a cutoff that no score reaches is null."""
    if isinstance(value, dict):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def tell_unreadable(found: Iterable[Unreadable], skip: bool = False) -> int:
    """Print a line for each failure, one for all files passed over, and one for all folders left out.

    Returns the exit code: that of the failures, the lowest if they differ, unless such mail is skipped.
    """
    all_found = list(found)
    failed = failures(all_found)
    for failure in failed:
        complain(f"{failure.path}: {failure.why}")
    folders = [one.path for one in all_found if isinstance(one, LeftOut)]
    files = [one for one in passed_over(all_found) if not isinstance(one, LeftOut)]
    if files:
        many = f"{len(files):,} file" + ("" if len(files) == 1 else "s")
        todo = "; to read archives, unpack them" if any(ARCHIVE in one.why for one in files) else ""
        complain(f"passed over {many} without mail: {listed([one.path for one in files], FILES)}{todo}")
    if folders:
        complain(f"left out, by their names: {listed(folders, FOLDERS)}; --all-folders takes them, too")
    return 0 if skip else min((failure.error.exit_code for failure in failed), default=0)


def described(found: Iterable[Unreadable]) -> list[dict[str, str]]:
    """Paths and reasons, for JSON."""
    return [{"path": one.path, "why": one.why} for one in found]


def console() -> Console:
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)  # text is what it is


def show(*things: RenderableType) -> None:
    screen = console()
    for thing in things:
        if isinstance(thing, str):
            screen.print(drawable(thing), soft_wrap=True)  # a path stays whole
        else:
            screen.print(thing)


def wrapped(*lines: str) -> Sequence[RenderableType]:
    """Lines without a path in them: on a terminal no word of them is broken."""
    from rich.text import Text

    return [Text(drawable(line)) for line in lines] if sys.stdout.isatty() else lines


def table(
    title: str | None,
    columns: Sequence[str | Text],
    rows: Iterable[Sequence[Any]],
    texts: Sequence[str] = (),
    picture: bool = False,
) -> Grid:
    """The first column is a name, the others are figures, but for `texts` and a picture in the last.

    A Text is shown as it is.
    """
    from spamnb.cli.grid import Grid

    named = [place for place, name in enumerate(columns) if not place or str(name) in texts]
    return Grid(
        title and drawable(title),
        [as_cell(name) for name in columns],
        [[as_cell(cell) for cell in row] for row in rows],
        frozenset(named),
        picture,
    )


def as_cell(content: Any) -> Text:
    from rich.text import Text

    if not isinstance(content, Text):
        lines = str(content).split("\n")
        return Text("\n".join(drawable(printable(line)) for line in lines))
    drawn = content.copy()
    drawn.plain = drawable(content.plain)
    return drawn


def number(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def signed(value: float, digits: int) -> str:
    return f"{value:+.{digits}f}" if isfinite(value) else "+∞" if value > 0 else "−∞"


def listed(things: Sequence[str], most: int, of: int | None = None) -> str:
    """Some of many, on one line that a terminal can be sent."""
    more = (len(things) if of is None else of) - min(most, len(things))
    return printable(", ".join(things[:most])) + (f" and {more:,} more" if more > 0 else "")


def places(model: str) -> list[str]:
    """Where a model is, and its key, if it has one."""
    return [f"model: {printable(model)}", *([f"key: {key_place(model)}"] if Stored.open(model).keyed else [])]


def key_place(model: str) -> str:
    path = key_path(model)
    if not os.path.exists(path):
        return f"{printable(path)} (not there yet: the model needs a copy of the one it was made with)"
    everybodys = os.stat(path).st_mode & stat.S_IROTH
    advice = "everybody can read it: chmod 600" if everybodys else "without it the model is of no use"
    return f"{printable(path)} ({advice})"


def percent(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f} %"


def bar(weight: float, largest: float, style: str = "", width: int = 20) -> Text:
    """A bar to the left for ham, to the right for spam."""
    half = width // 2
    size = round(half * min(1.0, abs(weight) / largest)) if largest else 0
    left, right = ("█" * size, "") if weight < 0 else ("", "█" * size)
    return as_it_is(f"{left:>{half}}│{right:<{half}}", style)


def sides(left: str, right: str, width: int = 20) -> Text:
    """What the bars point at."""
    room = width // 2 - 1
    return as_it_is(printable(f"{left[:room]:>{room}} │ {right[:room]}"))


def as_it_is(text: str, style: str = "") -> Text:
    """Not moved to the right, as figures are."""
    from rich.text import Text

    return Text(text, style, justify="left", no_wrap=True)
