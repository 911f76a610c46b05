"""A day with one mailbox, as a person has it: from setup to the list of what went to Junk."""

from helpers.imap_accounts import folders, move, near, places
from helpers.imap_mailbox import GMAIL, HOST, digest
from helpers.imap_watching import ready
from helpers.samples import ENOUGH, ham, spam
from helpers.screens import on_a_terminal
from helpers.waiting import until

LONG_AGO = 1_600_000_000
JUNK, ALL = "[Gmail]/Spam", "[Gmail]/All Mail"


def test_a_day(dovecot_with, home):
    server = dovecot_with(folders=GMAIL)
    for n in range(2 * ENOUGH):
        server.append(ALL, ham(n), when=LONG_AGO)
    server.fill(JUNK, [spam(n) for n in range(2 * ENOUGH)])
    learned = places(server)

    def new():
        return {key: name for key, name in places(server).items() if key not in learned}

    morning = {spam(99): JUNK, ham(99): "INBOX", near(1): "INBOX"}  # what is like nothing learned stays, too
    for raw in morning:
        server.append("INBOX", raw)
    asked = ["mail address", "IMAP server", "password come from?", "password (it", "Keep judged mail"]
    asked += ["Learn this", "from now on, beginning with this one?", "Judge mail in the background"]
    typed = [server.user, HOST, "1", server.password, "y", "y", "y", "n"]
    where = (f"port={server.port}", "tls=none", "model=~/own.msgpack")
    answers = list(zip(asked, typed, strict=True))
    seen, code = on_a_terminal(home.spamnb, "imap", "setup", *where, answers=answers, **home.environment)
    assert (code, "home: 3 judged: 2 stay, 1 to [Gmail]/Spam" in seen) == (0, True), seen
    assert new() == {digest(raw): folder for raw, folder in morning.items()}
    home.model = str(home.path / "own.msgpack")

    with ready(home) as watching:
        for raw in (spam(98), spam(97)):
            server.append("INBOX", raw)
        until(lambda: list(new().values()).count(JUNK) == 3)
        home.mark(spam(98), "ham")  # on the review page
        watching.wait_for("marked by you: moved to INBOX")
        move(server, near(1), "INBOX", JUNK)  # with a mail reader
        move(server, spam(97), JUNK, "INBOX")
        server.append("INBOX", ham(98))  # wakes it
        for text in ("moved back here: learned", "moved here: learned", "\tstays\n"):
            watching.wait_for(text)
    assert home.outcomes() == []
    labels = [home.label_of(raw) for raw in (spam(97), spam(98), near(1), ham(99))]
    assert labels == ["ham", "ham", "spam", None]
    assert home("digest").succeeds().lines == ["home: 1 message listed, in a new message in your inbox"]
    assert home.outcomes() == []
    assert len(folders(server)["INBOX"]) == 5
