"""Teaching by mail to two aliases of Postfix, which pipe it to spamnb, by the text of the page."""

import re

import pytest
from helpers.forwards import REFUSED, forward
from helpers.homes import WITH_OPEN_PYTHON, hand_over
from helpers.postfixes import SMTP, Postfix, as_on_the_wire, needs_postfix
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.samples import spam

pytestmark = [*needs_postfix, needs("spamnb as another user")]
HEADING = "Learn by forwarding"
LOCAL = "local unix - n n - - local -o mailbox_size_limit=0\n"
HOST = "mx.example.org"


class Piping(Postfix):
    on = WITH_OPEN_PYTHON

    def _write(self, name, text):
        """Set nothing twice: postlogd warns itself of that, and waits for ever if its own queue is full."""
        super()._write(name, text.replace("mydestination =", f"mydestination = {HOST}"))


@pytest.fixture
def postfix(home):
    main = recipe("postfix", HEADING, "aliases.cf").replace("hash:/etc/aliases, ", "")
    aliases = recipe("postfix", HEADING, "aliases").replace("/usr/local/bin/spamnb", str(home.program))
    place = home.path.parent / "spamnb" / "aliases"
    place.parent.mkdir()
    place.write_text(aliases.replace("/var/lib/spamnb/model.msgpack", str(home.model)))
    hand_over(home.path.parent)
    postfix = Piping(home, main.replace("/var/lib/spamnb/aliases", str(place)), LOCAL + SMTP)
    postfix.run("postalias", place)  # smtpd looks for it once, when it starts
    with postfix:
        yield postfix


def send(postfix, raw, label, sender="ann@example.org"):
    with postfix.connect() as client:
        client.sendmail(sender, [f"{label}@{HOST}"], as_on_the_wire(raw))


def test_teaching(home, postfix):
    wrong = [spam(70), spam(71)]
    for label in ("ham", "spam"):
        send(postfix, forward(*wrong), label)
        postfix.wait_until(lambda: [home.label_of(raw) for raw in wrong] == [label, label])  # noqa: B023


def test_what_is_not_learned_comes_back_with_the_reason(home, postfix):
    for raw, why in REFUSED.items():
        send(postfix, raw, "spam")
        (bounce,) = postfix.delivered()
        assert why in re.sub(r"\s+", " ", bounce.decode())
        assert home.label_of(spam(72)) is None
