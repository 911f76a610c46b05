"""What checks share: folders that are gone in the end, and a limit of time."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

PATIENCE = 5.0  # seconds of CPU for the smallest input: the slowest takes 0.2, and more with sanitizers
A_BYTE = 20e-6  # … and for each byte more


def new_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="spamnb-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def in_time(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """The same check, which fails if it takes longer than the size of its input allows."""

    def timed(data: bytes) -> None:
        start = process_time()
        check(data)
        took = process_time() - start
        assert took < PATIENCE + A_BYTE * len(data), f"{took:.1f} seconds for {len(data)} bytes"

    return timed
