"""Import slow modules only where they are used: not in each process that collects the tests."""

from importlib import import_module
from typing import Any


class Late:
    """A module that is imported when it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks each name of a module for these: that is no use of it
            raise AttributeError(name)
        return getattr(import_module(self._name), name)
