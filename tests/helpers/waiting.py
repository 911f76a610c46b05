"""Waiting for something to be so, however busy the machine is: a limit that only a failure comes to."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 120  # seconds

T = TypeVar("T")


def until(found: Callable[[], T], say: Callable[[], object] = str) -> T:
    """Wait until something is found; what to say if it never is."""
    deadline = time.monotonic() + PATIENCE
    while not (what := found()):
        assert time.monotonic() < deadline, say()
        time.sleep(0.01)
    return what
