"""procmail and spamc with a server, by the text of the page."""

import pytest
from helpers.contract import INBOX, JUNK, UNSURE
from helpers.letters import BIG, PLAIN, letters
from helpers.passthrough import FORGED, check_behind_envelope
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.serving import Serving

pytestmark = needs("procmail", "spamc")

RULES = recipe("spamc", "procmail", "procmail")
PLAIN_RULES = "MAILDIR=$HOME/Maildir\nDEFAULT=$MAILDIR/\n"


@pytest.fixture
def server(spamnb, home, tmp_path):
    command = [str(home.program), "serve", "--listen", "127.0.0.1:0", "--model", str(home.model)]
    server = Serving(spamnb, tmp_path, command)
    yield server
    server.end()


def deliver(home, server, raw, rules=RULES):
    """At the server's own port, and on the one address it has."""
    port = server.address.rpartition(":")[2]
    rules = rules.replace("spamc -p 7830", f"spamc -d 127.0.0.1 -p {port}")
    path = home.write(".procmailrc", rules)
    home.maildir.mkdir(exist_ok=True)
    home.run("procmail", "-t", f"HOME={home.path}", f"ORGMAIL={home.maildir}/", path, stdin=raw)
    return home.taken()


def test_filed_by_the_header(home, server, mail):
    for message, folder in (("ham", INBOX), ("spam", JUNK), ("unsure", UNSURE)):
        ((where, what),) = deliver(home, server, mail.messages[message])
        assert where == folder
        assert what.startswith(b"X-Spamnb: %s; " % message.encode())
    ((where, what),) = deliver(home, server, FORGED + b"\n" + mail.messages["spam"])
    assert where == JUNK
    assert what.count(b"X-Spamnb") == 1


def test_every_byte_but_the_header(home, server):
    for raw in letters():
        ((_, without),) = deliver(home, server, raw, PLAIN_RULES)
        ((_, what),) = deliver(home, server, raw)
        check_behind_envelope(without, what)


def test_without_a_server_mail_is_delivered_as_it_came(home, server):
    server.end()
    for raw in (PLAIN, BIG):
        assert deliver(home, server, raw) == [(INBOX, raw)]


def test_a_server_killed_in_the_middle(home, server):
    server.end_when_asked()
    assert deliver(home, server, PLAIN) == [(INBOX, PLAIN)]
