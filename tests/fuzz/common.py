"""What checks share: folders that are gone in the end, a limit of time, and no memory of other mail."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from time import process_time

import spamnb.html
import spamnb.reading

PATIENCE = (
    20.0  # seconds for the smallest input: the slowest takes 1.3 as plain Python, and on a busy machine more
)
A_BYTE = 20e-6  # … and for each byte more
MODULES = [
    import_module(found.name)
    for package in (spamnb.html, spamnb.reading)
    for found in walk_packages(package.__path__, f"{package.__name__}.")
]
# What spamnb remembers of the mail it has read, to save work: it must never change what is read. Each is a
# dictionary of a module, and its name says that it is known.
MEMORIES: list[dict] = [
    value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, dict) and name.lower().startswith(("known", "_known"))
]


def forget() -> None:
    for memory in MEMORIES:
        memory.clear()


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
