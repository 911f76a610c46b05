"""Wait until a condition holds, however slow the machine is; the time limit is only for failures."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import BinaryIO, TypeVar

PATIENCE = 120  # seconds

T = TypeVar("T")


def until(found: Callable[[], T], say: Callable[[], object] = str) -> T:
    """Wait until `found` returns a true value, and return that; after PATIENCE, fail with `say()`."""
    deadline = time.monotonic() + PATIENCE
    while not (what := found()):
        assert time.monotonic() < deadline, say()
        time.sleep(0.01)
    return what


def stand_still(process: int) -> None:
    """Pause a process, and wait until it is paused: a signal sent before that could be handled at once."""
    os.kill(process, signal.SIGSTOP)

    def stands() -> bool:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"T"

    until(stands)


def pipe_to_reader(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a named pipe for writing, as soon as a process has opened it for reading."""

    def opened() -> int | None:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    handle = until(opened)
    assert handle
    os.set_blocking(handle, True)
    return open(handle, "wb")
