"""What the first recipe of every page holds to, whatever the program that delivers.

A test class that inherits this has an `agent` with
- `filtering` and `plain`: its rules as on the page, and such without a filter;
- `deliver(rules, raw)`: what is then in the home's mail folders, as pairs of folder and bytes.
"""

from helpers.faults import every_fault, killed_as_it_writes
from helpers.letters import BIG, PLAIN, letters
from helpers.passthrough import FORGED, check

INBOX, JUNK, UNSURE = ".", ".Junk", ".Unsure"


class Contract:
    def test_the_verdict_is_in_the_header(self, agent, mail):
        for message, folder in (("ham", INBOX), ("spam", JUNK)):
            ((where, what),) = agent.deliver(agent.filtering, mail.messages[message])
            assert where == folder
            assert what.startswith(b"X-Spamnb: %s; " % message.encode())

    def test_every_byte_but_the_header(self, agent):
        messages = letters()
        plain = [agent.deliver(agent.plain, raw) for raw in messages]
        for raw, [(_, without)] in zip(messages, plain, strict=True):
            ((_, what),) = agent.deliver(agent.filtering, raw)
            check(without, what)

    def test_a_forged_header_deceives_nobody(self, agent, mail):
        ((where, what),) = agent.deliver(agent.filtering, FORGED + b"\n" + mail.messages["spam"])
        assert where == JUNK
        assert what.count(b"X-Spamnb") == 1

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

    def may_defer(self, raw):  # noqa: ARG002
        """Whether the mail may stay with who sent it, to be delivered later."""
        return False
