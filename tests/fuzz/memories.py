"""What spamnb remembers of the mail it has read, to save work: it must never change what is read.

Each memory is a dictionary of a module of spamnb.reading, and its name says that it is known.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

import spamnb.reading

MODULES = [import_module(found.name) for found in walk_packages(spamnb.reading.__path__, "spamnb.reading.")]
MEMORIES: list[dict] = [
    value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, dict) and name.lower().startswith(("known", "_known"))
]


def forget() -> None:
    for memory in MEMORIES:
        memory.clear()
