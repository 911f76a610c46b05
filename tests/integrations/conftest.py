"""A user's home, as the pages in docs/integrations/ suppose it."""

import pytest
from helpers.homes import a_home


@pytest.fixture
def home(spamnb):
    with a_home(spamnb) as home:
        yield home
