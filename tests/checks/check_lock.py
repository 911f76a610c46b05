"""Both lists of requirements pin what pyproject.toml asks for, on every Python; `make lock` writes them."""

import re
import tomllib

import pytest
from helpers.paths import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RUNNING, DEVELOPING = "requirements.txt", "requirements-dev.txt"
PINS = {
    name: [
        Requirement(line) for line in re.findall(r"^\S.*?(?= \\$)", (ROOT / name).read_text(), re.MULTILINE)
    ]
    for name in (RUNNING, DEVELOPING)
}


def asked() -> list[tuple[str, str]]:
    """Each requirement, and the list that has to pin it."""
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = asked["project"], asked["dependency-groups"]
    running = [*asked["build-system"]["requires"], *project["dependencies"], *groups["build"]]
    others = [groups["dev"][1:], *project["optional-dependencies"].values()]  # the first is `build`
    return [*((RUNNING, one) for one in running), *((DEVELOPING, one) for many in others for one in many)]


@pytest.mark.parametrize("python", ["3.11", "3.14"])
@pytest.mark.parametrize(("lock", "line"), asked())
def test_one_version_that_satisfies(lock, line, python):
    wanted, environment = Requirement(line), {"python_version": python, "python_full_version": f"{python}.0"}

    def applies(one: Requirement) -> bool:
        return one.marker is None or one.marker.evaluate(environment)

    name = canonicalize_name(wanted.name)
    pins = [pin for pin in PINS[lock] if canonicalize_name(pin.name) == name and applies(pin)]
    assert len(pins) == applies(wanted), "run `make lock`"
    assert all(wanted.specifier.contains(str(pin.specifier).removeprefix("==")) for pin in pins)


def test_who_develops_runs_what_others_run():
    assert {str(pin) for pin in PINS[RUNNING]} <= {str(pin) for pin in PINS[DEVELOPING]}, "run `make lock`"
