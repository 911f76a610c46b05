"""Dovecot learns from mail that is moved over IMAP, by the recipes of the page."""

import pytest
from helpers.dovecots import Dovecot, move_it
from helpers.programs import needs
from helpers.recipes import recipe

pytestmark = needs("dovecot with lmtp and sieve")

NEW = b"From: Carl <carl@example.net>\r\nSubject: xyzzy\r\n\r\nplugh, said caf\xe9\r\n"


@pytest.fixture
def idle(home):
    with Dovecot(home) as dovecot:
        dovecot.shell(recipe("dovecot", "Dovecot: learn from moved mail", "sh"))
        for script in ("learn-spam", "learn-ham"):
            dovecot.write(f"/etc/dovecot/sieve/{script}.sieve", recipe("dovecot", "Scripts", script))
        dovecot.set_up("dovecot", "Settings", "99-spamnb-learn.conf")
        dovecot.shell(recipe("dovecot", "Settings", "sh"))
        yield dovecot


@pytest.fixture
def imap(idle):
    """A mail reader, with one message in the inbox."""
    idle.start()
    with idle.imap() as imap:
        for folder in ("Junk", "Trash", "Work"):
            assert imap.create(folder)[0] == "OK"
        assert imap.append("INBOX", None, None, NEW)[0] == "OK"
        yield imap


def test_into_junk_is_spam_and_back_is_ham(home, imap):
    move_it(imap, "INBOX", "Work")
    move_it(imap, "Work", "INBOX")
    assert home.label_of(NEW) is None  # between other folders
    move_it(imap, "INBOX", "Junk")
    assert home.label_of(NEW) == "spam"
    move_it(imap, "Junk", "INBOX")
    assert home.label_of(NEW) == "ham"
    move_it(imap, "INBOX", "Junk")
    assert home.label_of(NEW) == "spam"
    move_it(imap, "Junk", "Trash")
    assert home.label_of(NEW) == "spam"


def test_a_copy_and_an_upload_count(home, imap):
    imap.select("INBOX")
    assert imap.copy("1", "Junk")[0] == "OK"
    assert home.label_of(NEW) == "spam"
    other = NEW.replace(b"plugh", b"plover")
    assert imap.append("Junk", None, None, other)[0] == "OK"
    assert home.label_of(other) == "spam"


def test_a_fault_is_no_fault_of_the_mail_reader(home, imap):
    home.model.write_bytes(b"")
    move_it(imap, "INBOX", "Junk")
    move_it(imap, "Junk", "INBOX")
    ((folder, stored),) = home.taken()
    assert (folder, stored.replace(b"\n", b"\r\n")) == (".", NEW)


def test_together_with_the_page_on_sieve(home, idle, mail):
    """Filed as spam by one page, and taken back by the other."""
    heading, script = "Filter, and file by the header", "/etc/dovecot/sieve/spamnb.sieve"
    idle.set_up("sieve", heading, "99-spamnb.conf")
    idle.write(script, recipe("sieve", heading, "sieve"))
    idle.shell(recipe("sieve", heading, "sh"))
    idle.start()
    assert idle.deliver(mail.messages["spam"])
    with idle.imap() as imap:
        move_it(imap, "Junk", "INBOX")
    assert home.label_of(mail.messages["spam"]) == "ham"
