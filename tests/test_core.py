"""The compiled core: one extension, of all its sources."""

import re

from helpers.building import hatch_build
from helpers.paths import ROOT
from helpers.program import PROGRAM

import spamnb as library
from spamnb.core import native


def test_every_source_is_in_the_extension_once():
    source = (ROOT / hatch_build.CORE / "native.pyx").read_text()
    names = {path.name for path in hatch_build.sources()} - {"native.pyx"}
    assert sorted(re.findall('^include "(.+)"$', source, re.MULTILINE)) == sorted(names)


def test_what_is_imported_is_the_extension():
    """And knows where it is, whoever names its classes in a message or a traceback."""
    assert native.__file__ == str(hatch_build.library())
    assert native.Tokenizer.__module__ == native.__name__


def test_the_version(spamnb):
    said = spamnb("--version").succeeds().out
    assert said.decode() == f"spamnb {library.__version__}\n"
    assert spamnb.run([PROGRAM, "--version"]).out == said
