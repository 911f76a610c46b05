"""A second spamnb beside the first, in the same process, with no compiled module: what the first must equal.

Its modules are named spamnb_interpreted.reading.words and so on, and import each other by these names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import spamnb

NAME = "spamnb_interpreted"
IMPORTED = re.compile(rb"\bspamnb\b(?=\.[a-z])|(?<=\bimport )spamnb\b|(?<=\bfrom )spamnb\b")


def interpreted(name: str) -> Any:
    """Import a module of spamnb from its source."""
    return import_module(NAME + name.removeprefix("spamnb"))


class RenamingLoader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        """Compile the source whatever __pycache__ has, which is of the first spamnb."""
        return self.source_to_code(IMPORTED.sub(NAME.encode(), self.get_data(self.path)), self.path)


class SourceFinder:
    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top, *names = fullname.split(".")
        if top != NAME:
            return None
        folder = Path(spamnb.__path__[0], *names)
        source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        return spec_from_file_location(fullname, source, loader=RenamingLoader(fullname, str(source)))


sys.meta_path.insert(0, SourceFinder())
