"""`kill -9` in the midst of it: all of a command or nothing of it, and what was acknowledged stays."""

import pytest
from faults import kills
from faults.operations import LESSONS, WRITING
from helpers.programs import needs


def test_killed_while_others_learn(world):
    kills.in_the_middle(world, WRITING["forget many"], LESSONS[:3])


@needs("strace")
@pytest.mark.parametrize(
    ("name", "calls"),
    [("learn", "lock truncate write sync"), ("train more", "rename"), ("fold", "rename unlink")],
)
def test_killed_before_each_call_that_changes_the_disk(world, name, calls):
    for call in calls.split():
        assert kills.at_each_call(world, WRITING[name], call)
