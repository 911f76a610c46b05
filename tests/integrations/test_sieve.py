"""Pigeonhole's Sieve delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import INBOX, JUNK, UNSURE, Asking, Filtering
from helpers.dovecots import VERSION, Dovecot
from helpers.forwards import REFUSED, forward
from helpers.homes import ON_A_FULL_DISK
from helpers.letters import BIG, PLAIN
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.samples import spam

pytestmark = needs("dovecot with lmtp and sieve")

FILTER = "Filter, and file by the header"
LABELS = "Sort by labels"
TEACHING = "Learn by forwarding"
SPAMTEST = "Leave the filing to the users"


class Sieve:
    filtering = recipe("sieve", FILTER, "sieve")
    asking = recipe("sieve", "File without touching the mail", "sieve")
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


class TestRecipes(Filtering, Asking):
    unsure_folder = INBOX

    def may_defer(self, raw):
        """A program that does not read all of a large message may take Dovecot's process with it."""
        return raw is BIG


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


def test_users_file_by_label(sorted_home, idle, mail):
    sorted_home.write(".dovecot.sieve", recipe("sieve", LABELS, "labels"))
    if VERSION == "2.4":
        idle.dovecot.set_up("sieve", LABELS, "99-personal.conf")
    idle.dovecot.start()
    for message, folder in (("ham", INBOX), ("spam", JUNK), ("work", ".Work")):
        ((where, _),) = idle.deliver(idle.filtering, mail.messages[message])
        assert where == folder


def test_teaching_by_forwarding(home, idle):
    idle.dovecot.write("/etc/dovecot/sieve/spamnb.sieve", recipe("sieve", TEACHING, "learn"))
    idle.dovecot.shell(recipe("sieve", FILTER, "sh"))
    idle.dovecot.start()
    for label in ("ham", "spam"):
        assert idle.dovecot.deliver(forward(spam(70), spam(71)), f"ann+{label}@example.org")
        assert home.taken() == []
        assert [home.label_of(raw) for raw in (spam(70), spam(71))] == [label, label]
    for raw in REFUSED:
        assert idle.dovecot.deliver(raw, "ann+spam@example.org")
        ((folder, _),) = home.taken()
        assert (folder, home.label_of(spam(72))) == (INBOX, None)
    assert idle.dovecot.deliver(forward(spam(72)), "ann@example.org")
    assert len(home.taken()) == 1
    assert home.label_of(spam(72)) is None


def test_a_full_disk_defers(idle):
    idle.dovecot.start(on=ON_A_FULL_DISK)
    assert idle.deliver(idle.filtering, BIG) == []
    ((_, what),) = idle.deliver(idle.filtering, PLAIN)
    assert what.endswith(PLAIN)
