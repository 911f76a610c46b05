"""Tests that the recipes of each page must pass, for every program that delivers mail.

A test class that inherits from a class here has an `agent` with
- `filtering`, `asking` and `waiting`: rules from the page that add a header, only choose a folder, or defer
  the mail if the filter fails; and `plain`, rules without a filter;
- `deliver(rules, raw)`: returns what is then in the mail folders, as pairs of folder and bytes. If mail can
  be deferred, `code` is the expected exit code, and `on` a command that runs the program.
"""

from helpers.faults import every_fault, killed_as_it_writes, some_faults
from helpers.homes import ON_A_FULL_DISK
from helpers.letters import BIG, PLAIN, letters
from helpers.passthrough import FORGED, FORGERIES, check

INBOX, JUNK, UNSURE = ".", ".Junk", ".Unsure"


class Recipes:
    def may_defer(self, raw):  # noqa: ARG002
        """Return whether the program may leave the mail with its sender, to be delivered later."""
        return False


class Filtering(Recipes):
    unsure_folder = UNSURE

    def test_the_verdict_is_in_the_header(self, agent, mail):
        for message, folder in (("ham", INBOX), ("spam", JUNK), ("unsure", self.unsure_folder)):
            ((where, what),) = agent.deliver(agent.filtering, mail.messages[message])
            assert where == folder
            assert what.startswith(b"X-Spamnb: %s; " % message.encode())

    def test_every_byte_but_the_header(self, agent):
        messages = letters(forgeries=3)[
            ::2
        ]  # spamnb keeps them out, whoever delivers: tests of `classify -p`
        plain = [agent.deliver(agent.plain, raw) for raw in messages]
        for raw, [(_, without)] in zip(messages, plain, strict=True):
            ((_, what),) = agent.deliver(agent.filtering, raw)
            check(without, what)

    def test_a_forged_header_deceives_nobody(self, agent, mail):
        ((where, what),) = agent.deliver(agent.filtering, FORGED + b"\n" + mail.messages["spam"])
        assert where == JUNK
        assert what.count(b"X-Spamnb") == 1

    def test_no_forged_header_deceives_the_program(self, agent, mail):
        """Try each form that some program takes for a header; maildrop reads the first 8 KB differently."""
        for forged in FORGERIES[::2]:
            raw = forged.replace(b"ham", b"spam;") + b"\n" + mail.messages["ham"] + b"lunch at noon\n" * 700
            ((where, _),) = agent.deliver(agent.filtering, raw)
            assert where != JUNK, raw[:100]

    @every_fault
    def test_a_fault_leaves_the_mail_as_it_was(self, home, agent, mail, fault):
        fault(home)
        for raw in (mail.messages["spam"], PLAIN, BIG):
            self.check_fault(agent, raw)

    def test_half_an_answer_is_none(self, home, agent):
        killed_as_it_writes(home)
        self.check_fault(agent, BIG)

    def check_fault(self, agent, raw):
        delivered, unfiltered = (agent.deliver(rules, raw) for rules in (agent.filtering, agent.plain))
        assert unfiltered[0][0] == INBOX
        assert unfiltered[0][1].endswith(raw)
        assert delivered == unfiltered or (delivered == [] and self.may_defer(raw))


class Asking(Recipes):
    def test_asking_changes_no_byte(self, agent, mail):
        for message, folder in (("ham", INBOX), ("spam", JUNK), ("unsure", INBOX)):
            raw = mail.messages[message]
            assert agent.deliver(agent.asking, raw) == [(folder, agent.deliver(agent.plain, raw)[0][1])]

    @some_faults
    def test_asked_in_vain(self, home, agent, mail, fault):
        fault(home)
        for raw in (mail.messages["spam"], BIG):
            delivered = agent.deliver(agent.asking, raw)
            assert delivered == agent.deliver(agent.plain, raw) or (delivered == [] and self.may_defer(raw))


class Waiting:
    def test_waiting_is_for_faults_only(self, agent, mail):
        ((where, what),) = agent.deliver(agent.waiting, mail.messages["spam"])
        assert where == JUNK
        check(mail.messages["spam"], what)

    @some_faults
    def test_rather_late_than_unfiltered(self, home, agent, mail, fault):
        fault(home)
        for raw in (mail.messages["spam"], BIG):
            assert agent.deliver(agent.waiting, raw, code=75) == []

    def test_rather_late_than_half(self, home, agent):
        killed_as_it_writes(home)
        assert agent.deliver(agent.waiting, BIG, code=75) == []

    def test_a_full_disk_defers(self, agent):
        for rules in (agent.filtering, agent.waiting):
            assert agent.deliver(rules, BIG, code=75, on=ON_A_FULL_DISK) == []
        ((_, what),) = agent.deliver(agent.filtering, PLAIN, on=ON_A_FULL_DISK)
        check(PLAIN, what)
