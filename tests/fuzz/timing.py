"""Time against size."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

PATIENCE = 2.0  # seconds for the smallest input: far more than any takes, so that no busy machine is a find
A_BYTE = 20e-6  # … and for each byte more


def in_time(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The same check, which fails if it takes longer than the size of its input allows."""

    def timed(data: bytes) -> None:
        start = process_time()
        check(data)
        took = process_time() - start
        assert took < PATIENCE + A_BYTE * len(data), f"{took:.1f} seconds for {len(data)} bytes"

    return timed
