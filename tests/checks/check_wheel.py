"""The wheel and the source distribution: what is in them; `make dist` builds all of it twice, and compares.

They are built of a core that does next to nothing: all of it would take a minute.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from helpers.building import hatch_build
from helpers.paths import ROOT
from helpers.programs import needs

NEEDED = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "man", "spamnb", "thunderbird")
CORE = (hatch_build.CORE / "native.pyx").as_posix()
COMPILED = hatch_build.library(Path()).as_posix()


@pytest.fixture
def tree(tmp_path):
    """A copy of the source, with what was compiled in place."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / CORE).write_text("def answer(): return 42\n")
    return tmp_path


def built(folder: Path, kind: str = "wheel", **environment: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", "made"]
    where = os.environ | {"CFLAGS": "-O0"} | environment
    done = subprocess.run(command, cwd=folder, env=where, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (made,) = (folder / "made").iterdir()
    return made


@needs("cc")
def test_a_wheel_holds_the_program_and_nothing_else_and_runs(tree):
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "spamnb").rglob("*") if path.is_file()}
    with zipfile.ZipFile(built(tree)) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
        packed.extractall(tree / "unpacked")
    data = {name.partition(".data/data/share/")[2]: name for name in names if ".data/" in name}
    assert set(data) == {path.relative_to(ROOT).as_posix() for path in ROOT.glob("man/man?/*")}
    sources = {name for name in files if not name.endswith((".so", ".pyc")) and "/." not in name}
    add_on = {f"spamnb/thunderbird/add-on/{path.name}" for path in (ROOT / "thunderbird").iterdir()}
    assert names - set(data.values()) == sources | add_on | {COMPILED}
    command = [
        sys.executable,
        "-P",
        "-c",
        "from spamnb.core import native; print(native.__file__, native.answer())",
    ]
    where = os.environ | {"PYTHONPATH": str(tree / "unpacked")}
    found = subprocess.check_output(command, cwd=tree / "made", env=where, text=True)
    assert found == f"{tree / 'unpacked' / COMPILED} 42\n"


def test_the_source_distribution_holds_sources_only(tree):
    with tarfile.open(built(tree, "sdist")) as packed:
        names = [name.partition("/")[2] for name in packed.getnames()]
    assert {"hatch_build.py", CORE} <= set(names)
    assert not [name for name in names if name.endswith((".so", ".c", ".o", ".pyc"))]
