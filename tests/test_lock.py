"""requirements-dev.txt pins what pyproject.toml asks for, on every Python; `make lock` writes it."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
LOCK = (ROOT / "requirements-dev.txt").read_text()
PINS = [Requirement(line) for line in re.findall(r"^\S.*?(?= \\$)", LOCK, re.MULTILINE)]


def requirements() -> list[Requirement]:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = asked["project"]
    lists = [asked["build-system"]["requires"], project["dependencies"], asked["dependency-groups"]["dev"]]
    return [
        Requirement(one) for names in (*lists, *project["optional-dependencies"].values()) for one in names
    ]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("asked", requirements(), ids=str)
def test_one_version_that_satisfies(asked, python):
    environment = {"python_version": python, "python_full_version": f"{python}.0"}

    def applies(one: Requirement) -> bool:
        return one.marker is None or one.marker.evaluate(environment)

    name = canonicalize_name(asked.name)
    pins = [pin for pin in PINS if canonicalize_name(pin.name) == name and applies(pin)]
    versions = [str(pin.specifier).removeprefix("==") for pin in pins]
    assert len(versions) == applies(asked), "run `make lock`"
    assert all(map(asked.specifier.contains, versions)), "run `make lock`"


def test_it_holds_pins_and_hashes_only():
    pin = r"[a-z0-9.-]+(\[[a-z0-9,-]+\])?==[a-z0-9.]+( ; [^/\\\n]+)? \\\n"
    sha = r"    --hash=sha256:[0-9a-f]{64}"
    assert re.fullmatch(rf"({pin}({sha} \\\n)*{sha}\n)+", LOCK)
