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
    ("may_lack", "outcome"),
    [("away fdm", pytest.skip.Exception), ("fdm", pytest.fail.Exception), ("", pytest.fail.Exception)],
)
def test_a_test_without_its_program(monkeypatch, may_lack, outcome):
    monkeypatch.setenv("SPAMNB_MAY_LACK", may_lack)
    programs.require("there")
    with pytest.raises(outcome, match="no-such-program is not installed"):
        programs.require("away")


def test_what_the_machine_forbids_is_skipped_but_must_be_installed(monkeypatch):
    monkeypatch.setenv("SPAMNB_MAY_LACK", "")
    monkeypatch.setattr(programs, "FORBIDDEN", {"cut", "away"})
    with pytest.raises(pytest.skip.Exception, match="cut does not start"):
        programs.require("cut")
    with pytest.raises(pytest.fail.Exception, match="is not installed"):
        programs.require("away")


def test_each_program_is_tried_once(monkeypatch):
    tried = []
    monkeypatch.setitem(programs.STARTS, "there", lambda: tried.append(1))
    for _ in range(2):
        programs.require("there")
    assert tried == [1]


def test_the_marker_skips(request, monkeypatch):
    monkeypatch.delenv("SPAMNB_MAY_LACK", raising=False)
    request.node.add_marker(programs.needs("there", "away"))
    with pytest.raises(pytest.skip.Exception):
        programs.pytest_runtest_setup(request.node)
