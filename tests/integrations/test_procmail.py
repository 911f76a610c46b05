"""procmail delivers through spamnb, by the recipes of the page."""

import pytest
from helpers.contract import INBOX, JUNK, Asking, Filtering, Waiting
from helpers.forwards import REFUSED, forward
from helpers.homes import ON_A_FULL_DISK, procmail
from helpers.letters import BIG
from helpers.paths import ROOT
from helpers.programs import needs
from helpers.recipes import blocks, recipe
from helpers.samples import spam

pytestmark = needs("procmail")


class Procmail:
    filtering = recipe("procmail", "Filter, and file by the header", "procmail")
    asking = recipe("procmail", "File without touching the mail", "procmail")
    waiting = recipe("procmail", "Deliver late rather than unfiltered", "procmail")
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


def test_teaching_by_forwarding(home, agent, mail):
    """What cannot be learned comes back with the reason; then mail is judged by what was."""
    rules = (
        agent.filtering.partition("\n:0")[0] + "\n" + recipe("procmail", "Learn by forwarding", "procmail")
    )
    rules += agent.filtering.partition("\n:0")[1] + agent.filtering.partition("\n:0")[2]
    wrong = [spam(70), spam(71)]
    for label in ("ham", "spam"):
        assert agent.deliver(rules, forward(*wrong, to=f"ann+{label}@example.org")) == []
        assert [home.label_of(raw) for raw in wrong] == [label, label]
        assert home.label_of(forward(*wrong, to=f"ann+{label}@example.org")) is None
    for raw, why in REFUSED.items():
        ((folder, what),) = agent.deliver(rules, raw)
        assert (folder, home.label_of(spam(72))) == (INBOX, None)
        assert b"\nSubject: spamnb: not learned: " + why.encode() in what.partition(b"\n\n")[0]
    ((folder, _),) = agent.deliver(rules, mail.messages["ham"])
    assert folder == INBOX
    home.program.unlink()
    ((folder, what),) = agent.deliver(rules, forward(spam(72)))
    assert (folder, b"not found" in what) == (INBOX, True)


def test_the_recipe_of_the_readme(home, agent, mail):
    """`Junk` is an mbox there."""
    (rules,) = (block.code for block in blocks(ROOT / "README.md") if block.language == "procmail")
    where = f"PATH={home.program.parent}:/usr/bin:/bin\n" + agent.plain
    ((folder, _),) = agent.deliver(where + rules, mail.messages["ham"])
    assert folder == INBOX
    assert agent.deliver(where + rules, mail.messages["spam"]) == []
    assert (home.maildir / "Junk").read_bytes().startswith(b"X-Spamnb: spam; score=")
