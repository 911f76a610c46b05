"""The compiled core: each module with C types is in the one library."""

from importlib import import_module
from pathlib import Path

from helpers.building import hatch_build
from helpers.program import PROGRAM

import spamnb as library

TOP = Path(library.__path__[0]).parent
SOURCES = hatch_build.core(TOP)


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
