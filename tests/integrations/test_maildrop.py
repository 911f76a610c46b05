"""maildrop delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import Filtering, Waiting
from helpers.programs import needs
from helpers.recipes import recipe

pytestmark = needs("maildrop")


class Maildrop:
    filtering = recipe("maildrop", "Filter, and file by the header", "maildrop")
    waiting = recipe("maildrop", "Deliver late rather than unfiltered", "maildrop")
    # Whatever the program, maildrop turns the NULs of a message of 8 KB that it reads back into newlines.
    plain = 'DEFAULT="$HOME/Maildir"\nxfilter "cat"\n'

    def __init__(self, home):
        self.home = home
        home.run("sh", "-ec", recipe("maildrop", "Filter, and file by the header", "sh"))

    def deliver(self, rules, raw, code=0, on=()):
        named = f'HOME="{self.home.path}"\n'  # else it is the one of the password file
        path = self.home.write(".mailfilter", named + rules)
        self.home.run(*on, "maildrop", path, stdin=raw, code=code)
        return self.home.taken()


@pytest.fixture
def agent(home):
    return Maildrop(home)


class TestRecipes(Filtering, Waiting):
    pass
