"""Roundcube's buttons teach spamnb, set up as the page says."""

import pytest
from helpers.dovecots import Dovecot
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.reviewing import Eyes, shared_browser
from helpers.roundcubes import roundcube
from helpers.serving import LOOPBACK, Serving
from helpers.waiting import until

pytestmark = needs("roundcube", "chromedriver", "dovecot with lmtp and sieve", "spamc")

NEW = b"From: Carl <carl@example.net>\r\nSubject: xyzzy\r\n\r\nplugh, said caf\xe9\r\n"
SHOWN = "return !rcmail.busy && frames.messagecontframe?.rcmail?.env.uid"
BUTTONS = recipe("roundcube", "Roundcube", "php")
TEACHING = recipe("roundcube", "Have the server learn", "php")


@pytest.fixture
def dovecot(home):
    """A mail server with one message in the inbox."""
    with Dovecot(home) as dovecot:
        dovecot.listen()
        yield dovecot


@pytest.fixture
def server(spamnb, home, tmp_path):
    server = Serving(spamnb, tmp_path, model=str(home.model), listen=(LOOPBACK,), allow_tell=True)
    yield server
    server.end()


class Reader:
    """A user of Roundcube, logged in."""

    def __init__(self, dovecot, address):
        dovecot.start()
        with dovecot.imap() as imap:
            imap.create("Junk")
            imap.append("INBOX", None, None, NEW)
        self.dovecot, self.address, self.eyes = dovecot, address, Eyes(shared_browser())
        self.eyes.open(address)
        until(lambda: self.eyes.all("#rcmloginuser"), self.eyes.text)[0].send_keys("bob")
        self.eyes.find("#rcmloginpwd").send_keys("any")
        self.eyes.click("#rcmloginsubmit")
        self.eyes.wait(lambda: self.eyes.find("#messagelist"))

    def click(self, button, folder, target):
        """Select the only message of a folder and click a button; wait until it is in another folder."""
        self.eyes.open(f"{self.address}/?_task=mail&_mbox={folder}")
        self.eyes.wait(lambda: self.eyes.find("#messagelist tbody tr .subject"))
        self.eyes.click("#messagelist tbody tr .subject")
        self.eyes.wait(lambda: self.eyes.run(SHOWN) and self.eyes.find(f"a.{button}:not(.disabled)"))
        self.eyes.click(f"a.{button}")
        with self.dovecot.imap() as imap:
            until(lambda: imap.select(target) == ("OK", [b"1"]))


def test_buttons_teach_the_server(home, dovecot, server, tmp_path):
    port = server.address.partition(" ")[0].rpartition(":")[2]
    settings = BUTTONS + TEACHING.replace("localhost", "127.0.0.1").replace("7830", port)
    with roundcube(tmp_path, dovecot.port, settings) as address:
        reader = Reader(dovecot, address)
        reader.click("junk", "INBOX", "Junk")
        assert home.label_of(NEW) == "spam"
        server.wait_for("user=bob")
        reader.click("notjunk", "Junk", "INBOX")
        assert home.label_of(NEW) == "ham"
        server.end()
        reader.click("junk", "INBOX", "Junk")
        assert home.label_of(NEW) == "ham"


def test_buttons_move_mail_from_which_dovecot_learns(home, dovecot, tmp_path):
    dovecot.shell(recipe("dovecot", "Dovecot: learn from moved mail", "sh"))
    for script in ("learn-spam", "learn-ham"):
        dovecot.write(f"/etc/dovecot/sieve/{script}.sieve", recipe("dovecot", "Scripts", script))
    dovecot.set_up("dovecot", "Settings", "99-spamnb-learn.conf")
    dovecot.shell(recipe("dovecot", "Settings", "sh"))
    with roundcube(tmp_path, dovecot.port, BUTTONS) as address:
        reader = Reader(dovecot, address)
        reader.click("junk", "INBOX", "Junk")
        until(lambda: home.label_of(NEW) == "spam")  # Dovecot shows a message before its script ends
        reader.click("notjunk", "Junk", "INBOX")
        until(lambda: home.label_of(NEW) == "ham")
