"""A user's home, as the pages in docs/integrations/ suppose it."""

import pytest
from homes import a_home

pytest.register_assert_rewrite("contract")


@pytest.fixture
def home(spamnb):
    with a_home(spamnb) as home:
        yield home
