"""How the time of work grows with its input, which is the same on machines of every speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

TIMES = 16  # as much input: linear work takes 16 times as long, quadratic work 256 times
MOST = 64  # times as long, between the two: caches and a busy machine make less than 4 times of it

Input = TypeVar("Input", bytes, str)
Result = TypeVar("Result")


def in_linear_time(work: Callable[[Input], Result], data: Input, small: Input | None = None) -> Result:
    """Return what work returns; fail if a sixteenth of the data (its beginning or `small`) is far cheaper."""
    small = data[: len(data) // TIMES] if small is None else small
    limit = MOST * min(_timed(work, small)[0] for _ in range(3))
    for _ in range(3):
        seconds, result = _timed(work, data)
        if seconds < limit:
            return result
    raise AssertionError(f"{limit / MOST:.4f} s for a sixteenth, {seconds:.4f} s for all")


def _timed(work: Callable[[Input], Result], data: Input) -> tuple[float, Result]:
    start = time.process_time()
    result = work(data)
    return time.process_time() - start, result
