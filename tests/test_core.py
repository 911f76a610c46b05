"""The compiled core: which modules it has, and what they may import."""

import ast
from importlib import import_module
from pathlib import Path

from helpers.building import hatch_build
from helpers.program import PROGRAM

import spamnb as library

TOP = Path(library.__path__[0]).parent
SOURCES = hatch_build.core(TOP)
# Each costs a delivery 3 to 100 ms, or prints.
NOT_FOR_THE_CORE = (
    "argparse asyncio click collections contextlib dataclasses email enum functools hashlib html json "
    "logging msgpack pathlib re rich string subprocess tempfile typing"
).split()


def imported_when_loaded(source):
    """The packages that a module imports when it is loaded; not those of its hints or its functions."""
    found, left = set(), list(ast.parse(source.read_text()).body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            left += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return found


def test_it_imports_little():
    for source in SOURCES:
        found = imported_when_loaded(source)
        assert "numpy" in found or found.isdisjoint(NOT_FOR_THE_CORE), (
            source
        )  # with numpy it is for bulk work


def test_every_module_with_types_is_in_the_library():
    assert SOURCES
    for source in SOURCES:
        name = source.relative_to(TOP).with_suffix("").as_posix().replace("/", ".")
        module = import_module(name)
        assert module.__name__ == name
        assert module.__spec__
        assert module.__spec__.origin == module.__file__ == str(hatch_build.library(TOP))


def test_in_one_library_no_two_modules_have_the_same_name():
    assert len({source.stem for source in SOURCES}) == len(SOURCES)


def test_the_version(spamnb):
    said = spamnb("--version").succeeds().out
    assert said.decode() == f"spamnb {library.__version__}\n"
    assert spamnb.run([PROGRAM, "--version"]).out == said
