"""fdm fetches and delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import INBOX, Asking, Filtering
from helpers.homes import AS_A_USER, hand_over
from helpers.programs import needs
from helpers.recipes import recipe

pytestmark = needs("fdm", "setpriv")

ACCOUNT = 'set no-received\naccount "away" maildir "%h/away"\n'


class Fdm:
    filtering = recipe("fdm", "Filter, and file by the header", "fdm")
    asking = recipe("fdm", "File without touching the mail", "fdm")
    # Whatever the program, fdm ends what it reads back with LF, and each line at a NUL.
    plain = 'match all action rewrite "cat" continue\nmatch all action maildir "%h/Maildir"\n'

    def __init__(self, home):
        self.home = home
        self.away = home.path / "away"
        for part in ("new", "cur", "tmp"):
            (self.away / part).mkdir(parents=True)

    def deliver(self, rules, raw):
        """Fetched from another Maildir; %h would be the home in the password file."""
        conf = self.home.write(".fdm.conf", (ACCOUNT + rules).replace("%h", str(self.home.path)))
        (self.away / "new" / "1").write_bytes(raw)
        hand_over(self.home.path)
        self.home.run(*AS_A_USER, "fdm", "-hqf", conf, "fetch")
        return self.home.taken()


@pytest.fixture
def agent(home):
    return Fdm(home)


class TestRecipes(Filtering, Asking):
    def check_fault(self, agent, raw):
        """The message stays where it is, and is fetched when all is well again."""
        assert agent.deliver(agent.filtering, raw) == []
        assert (agent.away / "new" / "1").read_bytes() == raw
        assert agent.deliver(agent.plain, raw) == [(INBOX, raw)]
