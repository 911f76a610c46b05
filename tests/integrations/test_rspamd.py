"""Dovecot hands moved mail to rspamc, by the scripts of the page, and the server learns it."""

import pytest
from helpers.dovecots import Dovecot, move_it
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.serving import LOOPBACK, Serving

pytestmark = needs("dovecot with lmtp and sieve", "rspamc")

HEADING = "Dovecot: learn from moved mail"
NEW = b"From: Carl <carl@example.net>\r\nSubject: xyzzy\r\n\r\nplugh, said caf\xe9\r\n"


@pytest.fixture
def server(spamnb, home, tmp_path):
    server = Serving(spamnb, tmp_path, model=str(home.model), http=(LOOPBACK,), allow_tell=True)
    yield server
    server.end()


@pytest.fixture
def imap(home, server):
    """A mail reader, with one message in the inbox."""
    with Dovecot(home) as dovecot:
        dovecot.shell(recipe("dovecot", HEADING, "sh"))
        script = recipe("rspamd", HEADING, "learn").replace("localhost:11334", server.http)
        dovecot.write("/usr/local/lib/spamnb/learn", script)
        for name in ("learn-spam", "learn-ham"):
            dovecot.write(f"/etc/dovecot/sieve/{name}.sieve", recipe("rspamd", HEADING, name))
        dovecot.set_up("dovecot", "Settings", "99-spamnb-learn.conf")
        dovecot.shell(recipe("rspamd", HEADING, "sh"))
        dovecot.start()
        with dovecot.imap() as imap:
            for folder in ("Junk", "Trash"):
                assert imap.create(folder)[0] == "OK"
            assert imap.append("INBOX", None, None, NEW)[0] == "OK"
            yield imap


def test_into_junk_is_spam_and_back_is_ham(home, server, imap):
    move_it(imap, "INBOX", "Junk")
    assert home.label_of(NEW) == "spam"
    server.wait_for("user=bob")
    move_it(imap, "Junk", "INBOX")
    assert home.label_of(NEW) == "ham"
    move_it(imap, "INBOX", "Junk")
    move_it(imap, "Junk", "Trash")
    assert home.label_of(NEW) == "spam"


def test_without_a_server_mail_is_moved_all_the_same(home, server, imap):
    server.end()
    move_it(imap, "INBOX", "Junk")
    assert home.label_of(NEW) is None
