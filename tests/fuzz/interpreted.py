"""The package once more, from its sources alone, beside the one that is compiled: `spamnb_interpreted`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

import spamnb

NAME, COPY = "spamnb", "spamnb_interpreted"


class Renamed(ast.NodeTransformer):
    """Imports of the package become imports of its copy."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        if node.module and node.module.split(".")[0] == NAME:
            node.module = COPY + node.module.removeprefix(NAME)
        return node


class SourceLoader(SourceFileLoader):
    def get_code(self, _fullname: str) -> CodeType:
        """Compile the source, renamed; what Python keeps of a source in its cache is not."""
        return compile(
            Renamed().visit(ast.parse(self.get_data(self.path))), self.path, "exec", dont_inherit=True
        )


class SourceFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        first, *rest = fullname.split(".")
        if first != COPY:
            return None
        place = Path(spamnb.__file__).parent.joinpath(*rest)
        package, module = place / "__init__.py", place.with_suffix(".py")
        path = package if package.is_file() else module
        found = [str(place)] if path is package else None
        return spec_from_file_location(
            fullname, path, loader=SourceLoader(fullname, str(path)), submodule_search_locations=found
        )


sys.meta_path.insert(0, SourceFinder())
