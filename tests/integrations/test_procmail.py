"""procmail delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import INBOX, JUNK, Asking, Filtering, Waiting
from helpers.homes import ON_A_FULL_DISK, procmail
from helpers.letters import BIG
from helpers.paths import ROOT
from helpers.programs import needs
from helpers.recipes import blocks, recipe

pytestmark = needs("procmail")


class Procmail:
    filtering = recipe("procmail", "Filter, and file by the header", "procmail")
    asking = recipe("procmail", "File without touching the mail", "procmail")
    waiting = recipe("procmail", "Rather late than unfiltered", "procmail")
    plain = "MAILDIR=$HOME/Maildir\nDEFAULT=$MAILDIR/\n"

    def __init__(self, home):
        self.home = home
        home.maildir.mkdir(exist_ok=True)

    def deliver(self, rules, raw, code=0, on=()):
        command = procmail(self.home.path, self.home.write(".procmailrc", rules))
        self.home.run(*on, *command, stdin=raw, code=code)
        return self.home.taken()


@pytest.fixture
def agent(home):
    return Procmail(home)


class TestRecipes(Filtering, Asking, Waiting):
    pass


def test_a_full_disk_defers_what_is_only_filed(agent):
    assert agent.deliver(agent.asking, BIG, code=75, on=ON_A_FULL_DISK) == []


def test_labels_are_filed(sorted_home, mail):
    rules = recipe("procmail", "Sort by labels", "procmail")
    agent = Procmail(sorted_home)
    for message, folder in (("ham", INBOX), ("spam", JUNK), ("work", ".Work")):
        ((where, _),) = agent.deliver(rules, mail.messages[message])
        assert where == folder


def test_the_recipe_of_the_readme(home, agent, mail):
    """`Junk` is an mbox there."""
    (rules,) = (block.code for block in blocks(ROOT / "README.md") if block.language == "procmail")
    where = f"PATH={home.program.parent}:/usr/bin:/bin\n" + agent.plain
    ((folder, _),) = agent.deliver(where + rules, mail.messages["ham"])
    assert folder == INBOX
    assert agent.deliver(where + rules, mail.messages["spam"]) == []
    assert (home.maildir / "Junk").read_bytes().startswith(b"X-Spamnb: spam; score=")
