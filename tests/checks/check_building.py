"""hatch_build.py: what is older than its source is compiled again, and never used."""

import os
from pathlib import Path

import pytest
from helpers.building import hatch_build

MODULES = {"a": "", "b": "from spamnb.a cimport x", "c": ""}
STALE = {"a.py": "a", "a.pxd": "ab", "b.py": "b", "c.pxd": "c"}  # what is to be compiled when one is newer


def write(path, text=""):
    """Always in the same second."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    os.utime(path, (2e9, 2e9))


@pytest.fixture
def tree(tmp_path):
    """Three modules, compiled in the same second as they were written; one takes types of another."""
    for name, types in MODULES.items():
        write(tmp_path / "spamnb" / f"{name}.py")
        write(tmp_path / "spamnb" / f"{name}.pxd", types)
        write(tmp_path / "objects" / f"{name}.o")
    write(hatch_build.library(tmp_path), "\0PyInit_a\0PyInit_b\0PyInit_c\0")
    assert hatch_build.is_compiled(tmp_path)
    return tmp_path


@pytest.mark.parametrize("changed", STALE)
def test_only_what_changed_is_compiled_anew(tree, changed, monkeypatch):
    ran = []

    def run(command, folder, *_):
        if "-o" in command:
            ran.append("linked" if command[-1] == "-lm" else Path(command[-1]).stem)
            Path(folder, command[command.index("-o") + 1]).touch()
        else:
            ran.extend(Path(word).stem for word in command if word.endswith(".py"))

    monkeypatch.setattr(hatch_build, "run", run)
    monkeypatch.setattr(hatch_build, "compiler", lambda: (["compile"], ["link"]))
    os.utime(tree / "spamnb" / changed, (2e9 + 1, 2e9 + 1))
    assert not hatch_build.is_compiled(tree)
    hatch_build.compile_core(tree, tree, tree / "objects")
    assert sorted(ran) == sorted([*STALE[changed], *STALE[changed], "linked"])  # to C, to an object
    assert hatch_build.library(tree).stat().st_mtime == 2e9 + 1


def test_a_library_of_other_modules_is_stale(tree):
    (tree / "spamnb" / "a.pxd").unlink()
    assert not hatch_build.is_compiled(tree)


def test_without_a_compiler_nothing_old_is_left(tree, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    (tree / "spamnb" / "a.pxd").unlink()
    with pytest.raises(SystemExit, match="no C compiler"):
        hatch_build.compile_in_place(tree)
    assert not hatch_build.library(tree).exists()
