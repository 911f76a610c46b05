"""Progress on a terminal: how much of the mail is read, how fast, and for how long still. Else nothing."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spamnb.files import write_stderr

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from spamnb.evaluation.compare import ComparedCandidate


@contextmanager
def progress(
    what: str,
    total: Callable[[], int],
    among_lines: bool = False,
    unit: str = "messages",
    note: Callable[[], str] = str,
) -> Iterator[Callable[[int, int], None]]:
    """Show progress; yields a function to call with the bytes and the messages (or what `unit` names) done.

    `total` is called only if progress is shown: to list a store takes long.
    `note` is called for a text to show behind the figures.
    `among_lines`: the answer is printed meanwhile; on the same terminal, that is progress enough.
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


def announce_tried(tried: Iterable[ComparedCandidate]) -> Iterator[ComparedCandidate]:
    """Name settings on a terminal as they are tried: one takes seconds, all take minutes."""
    for result in tried:
        if sys.stderr is not None and sys.stderr.isatty():
            loss = result.metrics["one_minus_auc_percent"]
            figure = "" if loss is None else f": 1 - AUC {loss:.4f} %"
            write_stderr(f"tried {result.candidate.name}{figure}\n")
        yield result
