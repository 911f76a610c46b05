"""Postfix, Dovecot and a model for each user, by the text of the page."""

import re
from functools import partial

import pytest
from helpers.dovecots import Dovecot
from helpers.postfixes import SENDER, SMTP, Postfix, as_on_the_wire, needs_postfix
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.samples import ENOUGH, ham, spam, work
from helpers.serving import Serving
from helpers.waiting import until

from spamnb.store.stored_model import StoredModel

pytestmark = [*needs_postfix, needs("spamc", "dovecot with lmtp and sieve")]
PAGE = "many-users"
LMTP = "lmtp unix - - n - - lmtp\n"
LISTENER = "/var/spool/postfix/private/dovecot-lmtp"
RIGHTS = "user = postfix\n    group = postfix\n    mode = 0600"
ANN, BOB = "ann@example.org", "bob@example.org"


class UsersDovecot(Dovecot):
    """With a home for each user."""

    def __init__(self, home):
        super().__init__(home)
        places = home.path / "%u"
        text = self.config.read_text()
        changed = re.sub(rf"(home ?= ?){home.path}\n", rf"\g<1>{places}\n", text)
        assert changed != text
        self.config.write_text(changed)


@pytest.fixture
def server(home, spamnb):
    """As the drop-in says."""
    unit = recipe(PAGE, "The server", "systemd-drop-in")
    (command,) = re.findall(r"^ExecStart=spamnb serve (.*)$", unit, re.MULTILINE)
    place = home.path.parent / "server"
    (place / "users").mkdir(parents=True)
    given = command.replace("/var/lib/spamnb/users", str(place / "users"))
    given = given.replace("/var/lib/spamnb/model.msgpack", spamnb.model)
    options = [*given.split(), "--listen", f"unix:{place}/socket"]
    serving = Serving(spamnb, place, command=[spamnb.program, "serve", *options])
    yield serving
    serving.end()


@pytest.fixture
def dovecot(home, server):
    with UsersDovecot(home) as dovecot:
        dovecot.shell(recipe("sieve", "Sieve", "sh"))
        for name in ("spamnb-judge", "spamnb-learn"):
            text = recipe(PAGE, "Dovecot", name).replace("/run/spamnb.socket", server.address[5:])
            dovecot.write(f"/usr/local/lib/spamnb/{name}", text)
            dovecot.shell(f"chmod 755 /usr/local/lib/spamnb/{name}")
        for name, block in (("spamnb", "sieve"), ("learn-spam", "learn-spam"), ("learn-ham", "learn-ham")):
            dovecot.write(f"/etc/dovecot/sieve/{name}.sieve", recipe(PAGE, "Dovecot", block))
        dovecot.set_up("sieve", "Filter, and file by the header", "99-spamnb.conf")
        dovecot.set_up("dovecot", "Settings", "99-spamnb-learn.conf")
        listener = recipe(PAGE, "Postfix", "dovecot").replace(LISTENER, str(dovecot.folder / "for-postfix"))
        assert RIGHTS in listener  # this one is not started by root
        dovecot.write("/etc/dovecot/conf.d/99-spamnb-lmtp.conf", listener.replace(RIGHTS, "mode = 0666"))
        dovecot.shell(recipe(PAGE, "Dovecot", "sh"))
        dovecot.start()
        yield dovecot


@pytest.fixture
def postfix(home, dovecot):
    main = recipe(PAGE, "Postfix", "main.cf").replace("private/dovecot-lmtp", f"{dovecot.folder}/for-postfix")
    with Postfix(home, main, SMTP + LMTP) as postfix:
        yield postfix


def folder_of(dovecot, postfix, user, raw):
    """Send a message, and find the folder that it is delivered to."""
    (folder,) = folders_of(dovecot, postfix, [user], raw)
    return folder


def folders_of(dovecot, postfix, users, raw):
    """Send a message to some users at once, and find the folder of each that it is delivered to."""
    (subject,) = re.findall(rb"^Subject: .*$", raw, re.MULTILINE)
    with postfix.connect() as client:
        client.sendmail(SENDER, users, as_on_the_wire(raw))

    def found(user):
        maildir = dovecot.home_path / user / "Maildir"
        for path in maildir.glob("**/new/*"):
            if subject in path.read_bytes():
                return "INBOX" if path.parent.parent == maildir else path.parent.parent.name[1:]
        return None

    def log():
        return postfix.log + (dovecot.folder / "log").read_text()

    return [until(partial(found, user), log) for user in users]


def test_mail_is_judged_moved_learned_and_judged_again(dovecot, postfix, server, home, spamnb):
    users, before = home.path.parent / "server" / "users", learned(spamnb.model)
    own = users / BOB / "model.msgpack"
    assert folder_of(dovecot, postfix, BOB, spam(300)) == "Junk"
    assert folder_of(dovecot, postfix, BOB, work(300)) == "INBOX"  # unknown to all so far
    assert [*users.iterdir()] == []
    assert move(dovecot, BOB, "Junk", "INBOX") == 1
    assert learned(own) == [1, 0]  # ham, spam
    assert move(dovecot, BOB, "INBOX", "Junk") == 2
    assert learned(own) == [0, 2]
    for number in range(310, 310 + 2 * ENOUGH):  # what comes in some weeks
        for label, raw in (("ham", ham(number)), ("spam", work(number))):
            assert server.spamc("-u", BOB, "-L", label, stdin=raw)[0] == 0
    spamnb("prune", "--model", own).succeeds()  # as every night, which sets the cutoffs
    # One message for both: each copy is judged by the model of its recipient.
    assert folders_of(dovecot, postfix, [BOB, ANN], work(303)) == ["Junk", "INBOX"]
    assert folder_of(dovecot, postfix, ANN, spam(305)) == "Junk"
    assert learned(own) == [2 * ENOUGH, 2 * ENOUGH + 2]
    assert (learned(spamnb.model), [*users.iterdir()]) == (before, [own.parent])


def learned(model):
    return StoredModel.open(str(model)).messages


def move(dovecot, user, source, target):
    """Do what a mail reader does with all of a folder; returns how many messages there were."""
    with dovecot.imap(user) as imap:
        (count,) = imap.select(source)[1]
        assert imap.uid("MOVE", "1:*", target)[0] == "OK"
        return int(count)
