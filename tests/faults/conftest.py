"""One world for all tests: mail, and models to begin with."""

import pytest
from faults.worlds import World


@pytest.fixture(scope="session")
def world(spamnb, tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), spamnb)
