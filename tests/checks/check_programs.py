"""A test is skipped where a program that it needs does not start, and the reason says why."""

import pytest
from helpers import programs

AWAY, CUT = "no-such-program --version", "sh -c 'echo no such library >&2; exit 127'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "may_lack", "outcome", "why"),
    [
        (AWAY, "it", pytest.skip.Exception, "no-such-program is not installed"),
        (AWAY, "", pytest.fail.Exception, "no-such-program is not installed"),
        (CUT, "it", pytest.skip.Exception, "it does not start: no such library"),
    ],
)
def test_a_test_without_its_program(request, monkeypatch, start, may_lack, outcome, why):
    monkeypatch.setattr(programs, "STARTS", {"it": start})
    monkeypatch.setenv("SPAMNB_MAY_LACK", may_lack)
    programs.missing.cache_clear()
    request.node.add_marker(programs.needs("it"))
    with pytest.raises(outcome, match=why):
        programs.pytest_runtest_setup(request.node)
    programs.missing.cache_clear()
