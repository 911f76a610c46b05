"""Both lists of requirements pin what pyproject.toml asks for, on every Python; `make lock` writes them."""

import re
import tomllib

import pytest
from helpers.paths import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RUNNING, DEVELOPING = "requirements.txt", "requirements-dev.txt"
LOCKS = {name: (ROOT / name).read_text() for name in (RUNNING, DEVELOPING)}
PINS = {
    name: [Requirement(line) for line in re.findall(r"^\S.*?(?= \\$)", lock, re.MULTILINE)]
    for name, lock in LOCKS.items()
}


def requirements() -> list[tuple[str, Requirement]]:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = asked["project"], asked["dependency-groups"]
    lists = {
        RUNNING: [asked["build-system"]["requires"], project["dependencies"], groups["build"]],
        DEVELOPING: [groups["dev"][1:], *project["optional-dependencies"].values()],  # the first is `build`
    }
    return [
        (lock, Requirement(one)) for lock, all_names in lists.items() for names in all_names for one in names
    ]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize(("lock", "asked"), requirements(), ids=str)
def test_one_version_that_satisfies(lock, asked, python):
    environment = {"python_version": python, "python_full_version": f"{python}.0"}

    def applies(one: Requirement) -> bool:
        return one.marker is None or one.marker.evaluate(environment)

    name = canonicalize_name(asked.name)
    pins = [pin for pin in PINS[lock] if canonicalize_name(pin.name) == name and applies(pin)]
    versions = [str(pin.specifier).removeprefix("==") for pin in pins]
    assert len(versions) == applies(asked), "run `make lock`"
    assert all(map(asked.specifier.contains, versions)), "run `make lock`"


def test_who_develops_runs_what_others_run():
    assert {str(pin) for pin in PINS[RUNNING]} <= {str(pin) for pin in PINS[DEVELOPING]}, "run `make lock`"


@pytest.mark.parametrize("lock", LOCKS)
def test_it_holds_pins_and_hashes_only(lock):
    pin = r"[a-z0-9.-]+(\[[a-z0-9,-]+\])?==[a-z0-9.]+( ; [^/\\\n]+)? \\\n"
    sha = r"    --hash=sha256:[0-9a-f]{64}"
    assert re.fullmatch(rf"({pin}({sha} \\\n)*{sha}\n)+", LOCKS[lock])
