"""Dovecot hands moved mail to rspamc, by the scripts of the page, and the server learns it."""

import re

import pytest
from helpers.dovecots import Dovecot, move_it
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.serving import LOOPBACK, Serving
from helpers.waiting import until

pytestmark = needs("dovecot with lmtp and sieve", "rspamc", "curl")

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
            imap.dovecot = dovecot
            yield imap


def test_docker_mailserver_teaches(home, imap, server):
    """Its Sieve script calls rspamc itself."""
    call = recipe("behind-rspamd", "Learning", "docker-mailserver").replace("localhost:7834", server.http)
    script = f'require ["vnd.dovecot.pipe", "copy"];\n{call}'
    imap.dovecot.write("/etc/dovecot/sieve/learn-spam.sieve", script)
    compiled = recipe("rspamd", HEADING, "sh")
    imap.dovecot.shell(f"ln -s $(command -v rspamc) /usr/local/lib/spamnb/\n{compiled}")
    move_it(imap, "INBOX", "Junk")
    assert home.label_of(NEW) == "spam"


@pytest.mark.parametrize("project", ["mailu", "mailcow"])
def test_other_projects_teach(spamnb, home, tmp_path, project):
    """Their scripts pipe the message on; calls that spamnb does not know do no harm."""
    (socket := home.path / "run").mkdir()
    place = {"mailu": LOOPBACK, "mailcow": f"unix:{socket}/http"}[project]
    (password := tmp_path / "password").write_text("mailu\n")
    options = {"http": (place,), "http_password": str(password), "allow_tell": True}
    server = Serving(spamnb, tmp_path, model=str(home.model), **options)
    try:
        call = recipe("behind-rspamd", "Learning", project).replace("localhost:7834", server.http)
        call = call.replace("/run/spamnb", str(socket))
        for asked in (call, re.sub("learn_?spam", "fuzzy_add", call)):
            home.run("bash", "-c", f"FILE=/dev/stdin; {asked} wait", stdin=NEW)
        until(lambda: home.label_of(NEW) == "spam")
    finally:
        server.end()


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
