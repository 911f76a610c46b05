"""Progress on a terminal: how much of the mail is read, how fast, and for how long still. Else nothing."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spamnb.files import write_stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spamnb.evaluation.compare import Compared


@contextmanager
def progress(
    what: str,
    total: Callable[[], int],
    among_lines: bool = False,
    unit: str = "messages",
    note: Callable[[], str] = str,
) -> Iterator[Callable[[int, int], None]]:
    """Yields a function of (bytes, messages) done, or of bytes and something else.

    `total` is asked for only if it is shown: to list a store takes long.
    `note` tells more, each time.
    `among_lines`: an answer comes out meanwhile; on the same terminal, that is progress enough.
    """
    if sys.stderr is None or not sys.stderr.isatty() or (among_lines and sys.stdout.isatty()):
        yield lambda _size, _messages: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn(f"{{task.fields[messages]:,}} {unit}, {{task.fields[rate]:,.0f}}/s{{task.fields[note]}}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=max(1, total()), messages=0, rate=0.0, note="")
        done = 0

        def step(size: int, messages: int) -> None:
            nonlocal done
            done += messages
            elapsed = bar.tasks[0].elapsed or 1e-9
            bar.update(task, advance=size, messages=done, rate=done / elapsed, note=note())

        yield step


def telling(tried: Iterable[Compared]) -> Iterator[Compared]:
    """Settings as they are tried, each named on a terminal: one takes seconds, all take minutes."""
    for one in tried:
        if sys.stderr is not None and sys.stderr.isatty():
            loss = one.metrics["one_minus_auc_percent"]
            write_stderr(
                f"tried {one.candidate.name}" + ("" if loss is None else f": 1 - AUC {loss:.4f} %") + "\n"
            )
        yield one
