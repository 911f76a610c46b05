"""The wheel: what is in it, and that whoever builds it gets the same bytes."""

import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from helpers.paths import ROOT

NEEDED = ("pyproject.toml", "README.md", "LICENSE", "spamnb")
CACHES = shutil.ignore_patterns("__pycache__")


def built(folder: Path, **environment: str) -> Path:
    """The wheel, made from a copy of the source in a folder."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=CACHES)
        else:
            shutil.copy(ROOT / name, folder / name)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "made"]
    subprocess.run(command, cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True)
    (wheel,) = (folder / "made").iterdir()
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(tmp_path_factory.mktemp("wheel"), SOURCE_DATE_EPOCH="1700000000")


def test_it_is_the_same_wherever_and_whenever_it_is_built(wheel, tmp_path):
    before = os.umask(0o077)
    try:
        (folder := tmp_path / "somewhere else").mkdir()
        again = built(folder, SOURCE_DATE_EPOCH="1700000000", TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7")
    finally:
        os.umask(before)
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_it_holds_the_program_and_nothing_else(wheel):
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "spamnb").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
        assert {time.gmtime(1700000000)[:3]} == {entry.date_time[:3] for entry in packed.infolist()}
    info = {name for name in names if ".dist-info/" in name}
    assert names - info == {name for name in files if "__pycache__" not in name}
    assert {name.partition("/")[2] for name in info} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    }
