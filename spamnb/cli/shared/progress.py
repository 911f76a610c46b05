"""Show progress on a terminal: how much mail is read, how fast, and the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from spamnb.files import printable, write_stderr

if TYPE_CHECKING:
    from rich.progress import Progress

    from spamnb.evaluation.compare import ComparedCandidate

SILENCE = 3.0  # seconds without output, after which `never_silent` prints
PATIENCE = 0.5  # seconds before a bar is shown: importing rich takes 80 ms


last_said = monotonic()  # when the program last showed that it is running


def said() -> None:
    """Record that the program has just written something."""
    global last_said
    last_said = monotonic()


@contextmanager
def never_silent(doing: Callable[[], str]) -> Iterator[None]:
    """On a terminal, whenever nothing was printed for some seconds, print what `doing` returns."""
    over = Event()

    def speak() -> None:
        while not over.wait(0.5):
            if monotonic() - last_said > SILENCE:
                announce(f"{printable(doing())} …")

    said()
    if is_shown():
        Thread(target=speak, daemon=True).start()
    try:
        yield
    finally:
        over.set()


@contextmanager
def progress(
    what: str, total: Callable[[], int], among_lines: bool = False, unit: str = "messages"
) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar. Yield a function; call it with the bytes and messages (or `unit`) of each step.

    `total` returns all bytes; it is called only if a bar is shown, since listing all mail takes time. With
    `among_lines`, results are printed meanwhile; if they go to a terminal, no bar is shown.
    """
    if not is_shown() or (among_lines and sys.stdout.isatty()):
        yield lambda _size, _messages: None
        return
    started, size_done, messages_done = monotonic(), 0, 0
    bar: Progress | None = None

    def step(size: int, messages: int) -> None:
        nonlocal bar, size_done, messages_done
        said()
        size_done += size
        messages_done += messages
        elapsed = monotonic() - started
        if bar is None and elapsed > PATIENCE:
            bar = shown.enter_context(new_bar(unit))
            bar.add_task(what, total=max(1, total()), messages=0, rate=0.0)
        if bar is not None:
            rate = messages_done / max(elapsed, 1e-9)
            bar.update(bar.task_ids[0], completed=size_done, messages=messages_done, rate=rate)

    with ExitStack() as shown:
        step(0, 0)
        yield step


def announce(what: str) -> None:
    """On a terminal, print a line, such as what the program does next."""
    said()
    if is_shown():
        write_stderr(f"{what}\n")


def is_shown() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def new_bar(unit: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn(f"{{task.fields[messages]:,}} {unit}, {{task.fields[rate]:,.0f}}/s"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(file=sys.stderr), transient=True)


def announce_tried(tried: Iterable[ComparedCandidate]) -> Iterator[ComparedCandidate]:
    """Yield each result; on a terminal, also print it at once, because all results take minutes."""
    for result in tried:
        if is_shown():
            loss = result.metrics["one_minus_auc_percent"]
            figure = "" if loss is None else f": 1 - AUC {loss:.4f} %"
            write_stderr(f"tried {result.candidate.name}{figure}\n")
        yield result
