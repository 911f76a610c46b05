"""Many at once at one model."""

from random import Random

from faults import crowds


def test_a_crowd_learns_and_judges_and_some_are_killed(world):
    """The locks they leave block nobody."""
    crowds.at_once(world, 10, 6, Random(1), killed=3)  # how long they may take, `make soak` tells
