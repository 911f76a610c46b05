"""A test is skipped where a program that it needs does not start, and the reason says why."""

import pytest
from helpers import programs

pytestmark = pytest.mark.slow
TRIES = {
    "there": ("true", ""),
    "away": ("no-such-program --version", "no-such-program is not installed"),
    "cut": ("sh -c 'echo no such library >&2; exit 127'", "cut does not start: no such library"),
}


@pytest.fixture(autouse=True)
def _tries(monkeypatch):
    monkeypatch.setattr(programs, "STARTS", {name: command for name, (command, _) in TRIES.items()})
    programs.missing.cache_clear()
    yield
    programs.missing.cache_clear()


@pytest.mark.parametrize("name", TRIES)
def test_why_it_does_not_start(name):
    assert programs.missing(name) == TRIES[name][1]


@pytest.mark.parametrize(
    ("name", "may_lack", "forbidden", "outcome"),
    [
        ("away", "away fdm", (), pytest.skip.Exception),
        ("away", "fdm", (), pytest.fail.Exception),
        ("away", "", ("away",), pytest.fail.Exception),  # what a machine forbids must be installed
        ("cut", "", ("cut",), pytest.skip.Exception),
    ],
)
def test_a_test_without_its_program(request, monkeypatch, name, may_lack, forbidden, outcome):
    monkeypatch.setenv("SPAMNB_MAY_LACK", may_lack)
    monkeypatch.setattr(programs, "FORBIDDEN", {*forbidden})
    request.node.add_marker(programs.needs("there", name))
    with pytest.raises(outcome, match=TRIES[name][1]):
        programs.pytest_runtest_setup(request.node)
