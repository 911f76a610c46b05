"""maildrop delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import JUNK, UNSURE, Contract
from helpers.faults import every_fault, killed_as_it_writes
from helpers.homes import ON_A_FULL_DISK, needs
from helpers.letters import BIG, PLAIN
from helpers.passthrough import check
from helpers.recipes import recipe

pytestmark = needs("maildrop")

WAIT = recipe("maildrop", "Rather late than unfiltered", "maildrop")


class Maildrop:
    filtering = recipe("maildrop", "Filter, and file by the header", "maildrop")
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


class TestFilter(Contract):
    pass


def test_unsure_has_a_folder(agent, mail):
    ((where, _),) = agent.deliver(agent.filtering, mail.messages["unsure"])
    assert where == UNSURE


def test_waiting_is_for_faults_only(agent, mail):
    ((where, what),) = agent.deliver(WAIT, mail.messages["spam"])
    assert where == JUNK
    check(mail.messages["spam"], what)


@every_fault
def test_rather_late_than_unfiltered(home, agent, mail, fault):
    fault(home)
    for raw in (mail.messages["spam"], BIG):
        assert agent.deliver(WAIT, raw, code=75) == []


def test_rather_late_than_half(home, agent):
    killed_as_it_writes(home)
    assert agent.deliver(WAIT, BIG, code=75) == []


def test_a_full_disk_defers(agent):
    for rules in (agent.filtering, WAIT):
        assert agent.deliver(rules, BIG, code=75, on=ON_A_FULL_DISK) == []
    ((_, what),) = agent.deliver(agent.filtering, PLAIN, on=ON_A_FULL_DISK)
    check(PLAIN, what)
