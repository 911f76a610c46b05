"""`kill -9` at any moment: all of a command or nothing of it, and what was acknowledged stays."""

from random import Random

import pytest
from faults import kills
from faults.lives import Life
from faults.operations import LESSONS, WRITING
from helpers.programs import needs
from helpers.tiers import only_long


@only_long  # at each call that changes the disk they are killed below
@pytest.mark.parametrize("name", WRITING)
def test_killed_at_random_moments(world, name):
    kills.at_random(world, WRITING[name], Random(name))


@pytest.mark.parametrize("whom", [kills.ALL, kills.WORKER])
def test_killed_with_its_workers_or_one_of_them_alone(world, whom):
    kills.in_the_middle(world, WRITING["train more"], whom)


def test_killed_while_others_learn(world):
    kills.in_the_middle(world, WRITING["forget many"], kills.ALL, LESSONS[:3])


@needs("strace")
@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("learn", "lock truncate write sync"),
        pytest.param("move", "write sync", marks=only_long),
        pytest.param("forget", "write sync", marks=only_long),
        ("learn the first", "sync rename"),
        ("train more", "rename"),
        ("fold", "rename unlink"),
    ],
)
def test_killed_before_each_call_that_changes_the_disk(world, name, calls):
    for call in calls.split():
        assert kills.at_each_call(world, WRITING[name], call)


def test_a_life_of_kills(world):
    """One model all along."""
    life = Life(world, Random(7))
    for _ in range(10):
        life.step()
    life.end()
