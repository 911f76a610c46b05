"""hatch_build.py: what is older than its source is compiled anew, and never used."""

import os
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from helpers.building import hatch_build

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
MODULES = {"a": "", "b": "from spamnb.a cimport x", "c": ""}


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
    return tmp_path


STALE = {"a.py": "a", "a.pxd": "ab", "b.py": "b", "b.pxd": "b", "c.py": "c", "c.pxd": "c"}


def newer(path):
    os.utime(path, (2e9 + 1, 2e9 + 1))


AGES: dict[str, Any] = {
    **{f"{name} is newer": lambda tree, name=name: newer(tree / name) for name in STALE},
    "no source": lambda tree: (tree / "a.py").unlink(),
    "no types": lambda tree: (tree / "a.pxd").unlink(),
    "a new module": lambda tree: [write(tree / f"d{suffix}") for suffix in (".py", ".pxd")],
}


@pytest.mark.parametrize("how", AGES)
def test_a_library_that_does_not_fit_its_sources_is_stale(tree, how):
    assert hatch_build.stale(tree) == []
    AGES[how](tree / "spamnb")
    assert hatch_build.stale(tree) == [hatch_build.library(tree)]


@pytest.mark.parametrize("changed", STALE)
def test_only_what_changed_is_compiled_anew(tree, changed, monkeypatch, capsys):
    ran = []

    def run(command, folder, *_):
        if "-o" in command:
            ran.append("linked" if command[-1] == "-lm" else Path(command[-1]).stem)
            Path(folder, command[command.index("-o") + 1]).touch()
        else:
            ran.extend(Path(word).stem for word in command if word.endswith(".py"))

    monkeypatch.setattr(hatch_build, "run", run)
    monkeypatch.setattr(hatch_build, "compiler", lambda: (["compile"], ["link"]))
    newer(tree / "spamnb" / changed)
    hatch_build.compile_core(tree, tree, tree / "objects")
    assert sorted(ran) == sorted([*STALE[changed], *STALE[changed], "linked"])  # to C, to an object
    assert hatch_build.library(tree).stat().st_mtime == 2e9 + 1
    count = len(STALE[changed])
    assert capsys.readouterr().err.splitlines() == [
        f"compiling {count} module{'s' * (count > 1)} of the core",
        f"translated to C: {count} of {count}",
        f"compiled: {count} of {count}",
    ]


def test_a_library_of_one_module_is_stale(tree):
    (tree / "spamnb" / f"a{SUFFIX}").write_text("")
    assert hatch_build.stale(tree) == [tree / "spamnb" / f"a{SUFFIX}"]


@pytest.mark.slow
def test_a_compiler_gets_no_flag_that_it_does_not_know(tmp_path, monkeypatch):
    """As clang, which would compile nothing."""
    clang = tmp_path / "clang"
    clang.write_text(f'#!/bin/sh\ncase "$*" in *{hatch_build.WIDE_LOOPS}*) exit 1 ;; esac\n')
    clang.chmod(0o755)
    monkeypatch.setenv("CC", str(clang))
    assert hatch_build.WIDE_LOOPS not in hatch_build.compiler()[0]


def test_what_is_for_another_python_is_left_alone(tree):
    (tree / "spamnb" / "core.cpython-36m-x86_64-linux-gnu.so").write_text("")
    assert hatch_build.stale(tree) == []
    assert len(hatch_build.compiled(tree)) == 1


@pytest.mark.parametrize("wish", ["no", ""])
def test_without_a_compiler_nothing_old_is_left(tree, monkeypatch, capsys, wish):
    monkeypatch.setenv("SPAMNB_COMPILE", wish)
    monkeypatch.setenv("CC", "no-such-compiler")
    newer(tree / "spamnb" / "c.py")
    hatch_build.compile_in_place(tree)
    assert hatch_build.compiled(tree) == []
    said = capsys.readouterr().err
    assert said.count("\n") == (not wish)
    assert ("no C compiler (no-such-compiler)" in said) == (not wish)


@pytest.mark.parametrize(("wish", "said"), [("require", "no-such-compiler"), ("yes", "SPAMNB_COMPILE=yes")])
def test_a_compiler_can_be_required_but_no_wish_means_nothing(tree, monkeypatch, wish, said):
    monkeypatch.setenv("SPAMNB_COMPILE", wish)
    monkeypatch.setenv("CC", "no-such-compiler")
    hatch_build.library(tree).unlink()
    with pytest.raises(SystemExit, match=said):
        hatch_build.compile_in_place(tree)
