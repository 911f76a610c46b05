"""Pigeonhole's Sieve delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import INBOX, JUNK, UNSURE, Contract
from helpers.dovecots import Dovecot
from helpers.faults import every_fault
from helpers.homes import ON_A_FULL_DISK, needs
from helpers.letters import BIG, PLAIN
from helpers.recipes import recipe

pytestmark = needs("dovecot")

FILTER = "Filter, and file by the header"
SPAMTEST = "Leave the filing to the users"
ASK = recipe("sieve", "File without touching the mail", "sieve")


class Sieve:
    filtering = recipe("sieve", FILTER, "sieve")
    plain = ""

    def __init__(self, home, dovecot):
        self.home = home
        self.dovecot = dovecot
        self.rules = None
        dovecot.shell(recipe("sieve", "Sieve", "sh"))
        dovecot.set_up("sieve", FILTER, "99-spamnb.conf")

    def deliver(self, rules, raw):
        """Nothing, if it is to be sent again. Dovecot stores LF, but not everywhere in odd messages."""
        if rules != self.rules:
            self.dovecot.write("/etc/dovecot/sieve/spamnb.sieve", rules)
            self.dovecot.shell(recipe("sieve", FILTER, "sh"))
            self.rules = rules
        taken = self.dovecot.deliver(raw)
        found = [(folder, what.replace(b"\r\n", b"\n")) for folder, what in self.home.taken()]
        assert taken == bool(found)
        return found


@pytest.fixture
def idle(home):
    with Dovecot(home) as dovecot:
        yield Sieve(home, dovecot)


@pytest.fixture
def agent(idle):
    idle.dovecot.start()
    return idle


class TestFilter(Contract):
    def may_defer(self, raw):
        """A program that does not read all of a large message may take Dovecot's process with it."""
        return raw is BIG


def test_asking_changes_no_byte(agent, mail):
    for message, folder in (("ham", INBOX), ("spam", JUNK), ("unsure", INBOX)):
        raw = mail.messages[message]
        assert agent.deliver(ASK, raw) == [(folder, agent.deliver(agent.plain, raw)[0][1])]


@every_fault
def test_asked_in_vain(home, agent, mail, fault):
    fault(home)
    raw = mail.messages["spam"]
    assert agent.deliver(ASK, raw) == agent.deliver(agent.plain, raw)


def test_users_file_by_spamtest(home, idle, mail):
    idle.dovecot.set_up("sieve", SPAMTEST, "99-spamtest.conf")
    home.write(".dovecot.sieve", recipe("sieve", SPAMTEST, "spamtest"))
    idle.dovecot.start()
    for message, folder in (("ham", INBOX), ("spam", JUNK), ("unsure", UNSURE)):
        ((where, _),) = idle.deliver(recipe("sieve", SPAMTEST, "sieve"), mail.messages[message])
        assert where == folder
    home.model.unlink()
    ((where, _),) = idle.deliver(recipe("sieve", SPAMTEST, "sieve"), mail.messages["spam"])
    assert where == INBOX


def test_a_full_disk_defers(idle):
    idle.dovecot.start(on=ON_A_FULL_DISK)
    assert idle.deliver(idle.filtering, BIG) == []
    ((_, what),) = idle.deliver(idle.filtering, PLAIN)
    assert what.endswith(PLAIN)
