"""procmail delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import INBOX, JUNK, UNSURE, Contract
from helpers.faults import every_fault, killed_as_it_writes
from helpers.homes import ON_A_FULL_DISK, needs
from helpers.letters import BIG, PLAIN
from helpers.passthrough import check
from helpers.paths import ROOT
from helpers.recipes import blocks, recipe

pytestmark = needs("procmail")

ASK = recipe("procmail", "File without touching the mail", "procmail")
WAIT = recipe("procmail", "Rather late than unfiltered", "procmail")


class Procmail:
    filtering = recipe("procmail", "Filter, and file by the header", "procmail")
    plain = "MAILDIR=$HOME/Maildir\nDEFAULT=$MAILDIR/\n"

    def __init__(self, home):
        self.home = home
        home.maildir.mkdir()

    def deliver(self, rules, raw, code=0, on=()):
        settings = (f"HOME={self.home.path}", f"ORGMAIL={self.home.maildir}/")  # not those of the tests' user
        path = self.home.write(".procmailrc", rules)
        self.home.run(*on, "procmail", "-tm", *settings, path, stdin=raw, code=code)
        return self.home.taken()


@pytest.fixture
def agent(home):
    return Procmail(home)


class TestFilter(Contract):
    pass


def test_unsure_has_a_folder(agent, mail):
    ((where, _),) = agent.deliver(agent.filtering, mail.messages["unsure"])
    assert where == UNSURE


def test_filing_by_exit_code_changes_no_byte(agent, mail):
    for message, folder in (("ham", INBOX), ("spam", JUNK), ("unsure", INBOX)):
        raw = mail.messages[message]
        assert agent.deliver(ASK, raw) == [(folder, raw)]


@every_fault
def test_asked_in_vain(home, agent, mail, fault):
    fault(home)
    for raw in (mail.messages["spam"], BIG):
        assert agent.deliver(ASK, raw) == [(INBOX, raw)]


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
    for rules in (agent.filtering, ASK, WAIT):
        assert agent.deliver(rules, BIG, code=75, on=ON_A_FULL_DISK) == []
    ((_, what),) = agent.deliver(agent.filtering, PLAIN, on=ON_A_FULL_DISK)
    check(PLAIN, what)


def test_the_recipe_of_the_readme(home, agent, mail):
    """`Junk` is an mbox there."""
    (rules,) = (block.code for block in blocks(ROOT / "README.md") if block.language == "procmail")
    where = f"PATH={home.program.parent}:/usr/bin:/bin\n" + agent.plain
    ((folder, _),) = agent.deliver(where + rules, mail.messages["ham"])
    assert folder == INBOX
    assert agent.deliver(where + rules, mail.messages["spam"]) == []
    assert (home.maildir / "Junk").read_bytes().startswith(b"X-Spamnb: spam; score=")
