"""A user's home, as the pages in docs/integrations/ suppose it."""

import pytest
from helpers.homes import a_home
from helpers.mailboxes import maildir
from helpers.recipes import recipe
from helpers.samples import ENOUGH, ham, spam, work


@pytest.fixture
def home(spamnb):
    with a_home(spamnb) as home:
        yield home


@pytest.fixture
def sorted_home(home):
    """A home whose model has a label beside ham and spam, trained as the page says."""
    for folder, make in ((".", ham), (".Junk", spam), (".Work", work)):
        place = maildir(home.maildir / folder)
        for n in range(2 * ENOUGH):
            (place / "cur" / f"{n}.host:2,S").write_bytes(make(n))
    home.run("sh", "-ec", recipe("README", "More labels than ham and spam", "sh"))
    home.taken()
    return home
