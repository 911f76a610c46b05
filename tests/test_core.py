"""The compiled core: which modules it has, and what they may import."""

import ast
import sys
from pathlib import Path

import pytest
from helpers.building import hatch_build
from helpers.program import PROGRAM

import spamnb as library
from spamnb.cli.version import core, form_of_core

TOP = Path(library.__path__[0]).parent
SOURCES = hatch_build.core(TOP)
FORM = form_of_core()
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


@pytest.mark.skipif(FORM == "interpreted", reason="the core is not compiled")
def test_every_module_with_types_is_compiled_and_no_other():
    assert SOURCES
    assert hatch_build.compiled(TOP) == [hatch_build.library(TOP)]
    for name in core():
        __import__(name)
        module = sys.modules[name]
        assert module.__name__ == name
        assert module.__spec__
        assert module.__spec__.origin == module.__file__ == str(hatch_build.library(TOP))


def test_in_one_library_no_two_modules_have_the_same_name():
    assert len({source.stem for source in SOURCES}) == len(SOURCES)


def test_the_version_says_whether_it_is_compiled(spamnb):
    said = spamnb("--version").succeeds().out
    form = "compiled" if hatch_build.compiled(TOP) else "interpreted"
    assert said.decode() == f"spamnb {library.__version__} ({form})\n"
    assert spamnb.run([PROGRAM, "--version"]).out == said
