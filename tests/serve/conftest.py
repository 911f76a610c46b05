"""Servers to ask."""

import pytest
from helpers.serving import Serving


@pytest.fixture(scope="module")
def serving(spamnb, tmp_path_factory):
    """Starts servers that end with the tests of a file."""
    started = []

    def start(**options):
        started.append(Serving(spamnb, tmp_path_factory.mktemp("serve"), **options))
        return started[-1]

    yield start
    for server in started:
        server.end()


@pytest.fixture(scope="module")
def server(serving):
    """One that no test changes."""
    return serving()
