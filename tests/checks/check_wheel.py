"""The wheel and the source distribution: what is in them; `make dist` builds all of it twice, and compares.

They are built of a core of one module: all of it would take a minute.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from helpers.building import hatch_build
from helpers.paths import ROOT
from helpers.programs import needs

NEEDED = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "man", "spamnb")
CACHES = shutil.ignore_patterns("__pycache__")
ALONE = [source for source in hatch_build.core() if "spamnb" not in source.with_suffix(".pxd").read_text()]
MODULE = min(ALONE, key=lambda source: source.stat().st_size).relative_to(ROOT)
COMPILED = hatch_build.library(Path()).as_posix()


def copied(folder: Path) -> Path:
    """A copy of the source, with what was compiled in place."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=CACHES)
        else:
            shutil.copy(ROOT / name, folder / name)
    for types in folder.rglob("*.pxd"):
        if types.with_suffix(".py") != folder / MODULE:
            types.unlink()
    return folder


def build(folder: Path, kind: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", "made"]
    usual = {"SOURCE_DATE_EPOCH": "1700000000", "CFLAGS": "-O0", "SPAMNB_COMPILE": ""}
    where = os.environ | usual | environment
    return subprocess.run(command, cwd=folder, env=where, capture_output=True, text=True)


def built(folder: Path, kind: str = "wheel", **environment: str) -> Path:
    done = build(folder, kind, **environment)
    assert done.returncode == 0, done.stderr
    (made,) = (folder / "made").iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(copied(tmp_path_factory.mktemp("wheel")), SPAMNB_COMPILE="require")


@needs("cc")
def test_it_holds_the_program_and_nothing_else(wheel):
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "spamnb").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        assert {time.gmtime(1700000000)[:3]} == {entry.date_time[:3] for entry in packed.infolist()}
    info = {name for name in names if ".dist-info/" in name}
    sources = {name for name in files if not name.endswith((".so", ".pyc", ".pxd"))}
    data = {name.partition(".data/data/share/")[2]: name for name in names if ".data/" in name}
    assert set(data) == {path.relative_to(ROOT).as_posix() for path in ROOT.glob("man/man?/*")}
    assert names - info - set(data.values()) == sources | {COMPILED, MODULE.with_suffix(".pxd").as_posix()}
    assert {name.partition("/")[2] for name in info} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    }


@needs("cc")
def test_it_is_for_this_python_and_machine_and_runs(wheel, tmp_path):
    assert wheel.stem.endswith(sysconfig.get_platform().replace("-", "_"))
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    command = [sys.executable, "-P", "-m", "spamnb", "--version"]
    where = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert subprocess.check_output(command, cwd=tmp_path, env=where, text=True).endswith(" (compiled)\n")


@pytest.mark.parametrize("environment", [{"SPAMNB_COMPILE": "no"}, {"CC": "no-such-compiler"}], ids=str)
def test_one_that_is_not_compiled_is_for_any(tmp_path, environment):
    done = build(copied(tmp_path), "wheel", **environment)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "compile" in line]
    assert len(said) == ("CC" in environment)
    assert all("no C compiler (no-such-compiler)" in line for line in said)
    (made,) = (tmp_path / "made").iterdir()
    assert made.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(made) as packed:
        assert not [name for name in packed.namelist() if name.endswith(".so")]


def test_compiling_can_be_required(tmp_path):
    done = build(copied(tmp_path), "wheel", SPAMNB_COMPILE="require", CC="no-such-compiler")
    assert done.returncode
    assert "cannot be compiled: no C compiler (no-such-compiler)" in done.stderr
    assert not (tmp_path / "made").exists() or not list((tmp_path / "made").iterdir())


@needs("cc")
def test_what_cython_refuses_is_quoted(tmp_path):
    """Who installs a source that Cython refuses gets it interpreted; who works on it sees why."""
    (copied(tmp_path) / MODULE).write_text("def fails(: pass\n")
    assert built(tmp_path).name.endswith("-py3-none-any.whl")
    command = [sys.executable, "hatch_build.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode
    assert f"{MODULE}:1:" in done.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return built(copied(tmp_path_factory.mktemp("source")), "sdist")


def test_the_source_distribution_holds_sources_only(source):
    with tarfile.open(source) as packed:
        names = [name.partition("/")[2] for name in packed.getnames()]
    assert {"hatch_build.py", MODULE.as_posix(), MODULE.with_suffix(".pxd").as_posix()} <= set(names)
    assert not [name for name in names if name.endswith((".so", ".c", ".o", ".pyc"))]


def test_the_source_distribution_is_installed_where_there_is_no_compiler(source, tmp_path):
    """Into a folder, with what is installed here; `make dist-test` makes a whole environment."""
    empty = {"PATH": str(tmp_path), "SPAMNB_COMPILE": "", "PYTHONSAFEPATH": "1", "PYTHONPATH": str(tmp_path)}
    where = os.environ | empty
    options = ["--no-deps", "--no-build-isolation", "--no-compile", "--target", tmp_path]
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", *options, source], env=where, check=True)
    command = [sys.executable, "-m", "spamnb", "--version"]
    assert subprocess.check_output(command, env=where, text=True).endswith(" (interpreted)\n")
