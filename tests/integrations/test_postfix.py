"""Postfix with a content filter that asks spamnb serve, by the text of the page."""

import pytest
from helpers.homes import ON_A_FULL_DISK, a_home
from helpers.letters import BIG, PLAIN, letters
from helpers.postfixes import Postfix, check, check_unfiltered, needs_postfix
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.serving import Serving

pytestmark = [*needs_postfix, needs("spamc", "mounts")]

MASTER = recipe("postfix", "Set up", "master.cf")
SCRIPT = recipe("postfix", "Set up", "bash")
PLACE = "/usr/local/lib/spamnb/postfix-filter"


class Filtered(Postfix):
    """With a server to ask, and the script where others may run it."""

    in_place = True

    def __init__(self, home, server):
        self.server = server
        self.script = home.path.parent / "postfix-filter"
        self.write(SCRIPT)
        master = MASTER.replace(PLACE, str(self.script)).replace("user=spamnb", "user=nobody")
        super().__init__(home, master=master)

    def write(self, script):
        port = self.server.address.rpartition(":")[2]
        assert "spamc -p 7830" in script
        self.script.write_text(script.replace("spamc -p 7830", f"spamc -d 127.0.0.1 -p {port}"))
        self.script.chmod(0o755)


def serve(home):
    command = [str(home.program), "serve", "--listen", "127.0.0.1:0", "--model", str(home.model)]
    return Serving(home.spamnb, home.path, command)


@pytest.fixture(scope="module")
def postfix(spamnb):
    """One that no test changes."""
    with a_home(spamnb) as home:
        server = serve(home)
        with Filtered(home, server) as postfix:
            yield postfix
        server.end()


@pytest.fixture
def own_postfix(home):
    server = serve(home)
    with Filtered(home, server) as postfix:
        yield postfix
    server.end()


def test_every_byte_but_the_header(postfix):
    messages = letters()
    plain = postfix.deliver_unfiltered(*messages)
    for without, what in zip(plain, postfix.deliver_all(messages), strict=True):
        check(without, what)


def test_without_a_server(own_postfix, mail):
    own_postfix.server.end()
    messages = [mail.messages["spam"], PLAIN, BIG]
    plain = own_postfix.deliver_unfiltered(*messages)
    for without, what in zip(plain, own_postfix.deliver_all(messages), strict=True):
        check_unfiltered(without, what)


def test_a_server_killed_in_the_middle(own_postfix, mail):
    (without,) = own_postfix.deliver_unfiltered(mail.messages["spam"])
    own_postfix.server.end_when_asked()
    check_unfiltered(without, own_postfix.deliver(mail.messages["spam"]))


def test_rather_late_than_unfiltered(own_postfix, mail):
    own_postfix.write(SCRIPT.replace("spamc -p 7830", "spamc -p 7830 -x --connect-retries=1"))
    own_postfix.server.end()
    own_postfix.send(mail.messages["spam"])
    own_postfix.wait_until(own_postfix.waiting)


def test_a_full_disk_defers(home, postfix):
    """Nothing of a message that could not be kept is handed on."""
    script = postfix.script.read_text().replace("/usr/sbin/sendmail -G -i", "tee handed-on")
    home.write("filter", script)
    home.run(*ON_A_FULL_DISK, "bash", "./filter", stdin=BIG, code=75)
    assert not (home.path / "handed-on").exists()
    home.run(*ON_A_FULL_DISK, "bash", "./filter", stdin=PLAIN)
    assert (home.path / "handed-on").read_bytes().endswith(PLAIN)
