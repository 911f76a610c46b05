"""The add-on in Debian's Thunderbird, with mail on a Dovecot, as docs/integrations/thunderbird.md says."""

import os

import pytest
from helpers.dovecots import Dovecot
from helpers.homes import a_home
from helpers.programs import needs
from helpers.samples import ENOUGH, ham, spam
from helpers.thunderbirds import Thunderbird
from helpers.waiting import until

from spamnb.store.stored_model import StoredModel

pytestmark = needs("thunderbird", "dovecot with lmtp and sieve")

NEW = b"From: Carl <carl@example.net>\nSubject: xyzzy\n\nplugh, said caf\xe9 <script>alert(1)</script>\n"
UNSURE = ["spamnb_unsure"]


@pytest.fixture
def home(spamnb):
    """A home with a program, and no model."""
    with a_home(spamnb) as home:
        home.model.unlink()
        yield home


@pytest.fixture
def dovecot(spamnb):
    """A mail server with mail in two folders, in a home of its own, which belongs to another user."""
    with a_home(spamnb) as home, Dovecot(home) as dovecot:
        dovecot.listen()
        dovecot.start()
        with dovecot.imap() as imap:
            imap.create("Junk")
            imap.subscribe("Junk")
        for n in range(ENOUGH):
            append(dovecot, ham(n))
            append(dovecot, spam(n), "Junk")
        yield dovecot


@pytest.fixture
def thunderbird(home, dovecot):
    home.run(home.program, "thunderbird", "install", home.path / "spamnb.xpi")
    environment = home.environment | {"PATH": os.environ["PATH"]}
    with Thunderbird(home.path, dovecot.port, environment) as thunderbird:
        thunderbird.log_in()
        thunderbird.get_mail()
        thunderbird.select("cheap pills 3", "Junk")  # its mail is not known before
        thunderbird.add_on(str(home.path / "spamnb.xpi"))
        until(lambda: thunderbird.in_page("setup.html", "document.body?.dataset.ready") is not None)
        yield thunderbird


def append(dovecot, raw, folder="INBOX"):
    with dovecot.imap() as imap:
        imap.append(folder, None, None, raw.replace(b"\n", b"\r\n"))


def text_of(thunderbird, id_, page="setup.html"):
    return thunderbird.in_page(page, f"document.getElementById('{id_}').textContent")


def click(thunderbird, id_, page="setup.html"):
    thunderbird.in_page(page, f"void document.getElementById('{id_}').click()")


def marked(thunderbird, subject, marks, folder="INBOX"):
    """Wait until a message has these marks: as junk, and tags."""
    until(lambda: thunderbird.messages(folder).get(subject) == marks, lambda: thunderbird.messages(folder))


def junk_on_server(dovecot, subject, has="KEYWORD"):
    """Wait until the server has the last mark, so that new mail does not bring an older one back."""
    with dovecot.imap() as imap:
        imap.select("INBOX", readonly=True)
        until(lambda: imap.noop() and any(imap.search(None, "SUBJECT", subject, has, "Junk")[1]))


def learned(home, raw, label, thunderbird):
    until(lambda: home.label_of(raw) == label, thunderbird.problem)


def test_the_add_on_judges_and_learns(home, dovecot, thunderbird):
    # The first page learns from the folders that are there.
    assert "Learned: 0 messages that are not spam, 0 spam." in text_of(thunderbird, "status")
    click(thunderbird, "train")
    until(lambda: text_of(thunderbird, "said") == "Done.", lambda: text_of(thunderbird, "said"))
    assert thunderbird.in_page("setup.html", "document.getElementById('progress').value") == 2 * ENOUGH
    assert list(StoredModel.open(str(home.model)).messages) == [ENOUGH, ENOUGH]
    until(lambda: text_of(thunderbird, "status").endswith("New mail is judged."))

    # New mail is judged; the marks of the add-on are not learned, nor those of Thunderbird's own filter.
    for raw in (spam(50), ham(51), NEW):
        append(dovecot, raw)
    thunderbird.get_mail()
    marked(thunderbird, "cheap pills 50", [True, []])
    marked(thunderbird, "xyzzy", [False, UNSURE])
    assert thunderbird.messages()["meeting notes 51"] == [False, []]
    thunderbird.mark_as_its_own_filter("meeting notes 51")

    # What the user marks and moves is learned.
    thunderbird.select("xyzzy")
    thunderbird.command("cmd_markAsJunk")
    learned(home, NEW, "spam", thunderbird)
    marked(thunderbird, "xyzzy", [True, []])
    junk_on_server(dovecot, "xyzzy")
    assert [home.label_of(raw) for raw in (spam(50), ham(51))] == [None, None]
    thunderbird.command("cmd_markAsNotJunk")
    learned(home, NEW, "ham", thunderbird)
    junk_on_server(dovecot, "xyzzy", "UNKEYWORD")
    thunderbird.select("meeting notes 51")
    thunderbird.command("cmd_moveMessage", "Junk")
    learned(home, ham(51), "spam", thunderbird)

    # A button says why, and corrects.
    thunderbird.select("xyzzy")
    thunderbird.open_popup()
    page = until(lambda: thunderbird.in_page("why.html", "document.getElementById('page')?.srcdoc"))
    assert "<b class=" in page
    assert "<script" not in page
    click(thunderbird, "spam", "why.html")
    learned(home, NEW, "spam", thunderbird)
    until(lambda: text_of(thunderbird, "said", "why.html") == "Learned.")
    junk_on_server(dovecot, "xyzzy")

    # Spam is moved to Junk if the user wants that; such a move is no lesson.
    click(thunderbird, "moves")
    append(dovecot, spam(60))
    thunderbird.get_mail()
    until(lambda: "cheap pills 60" in thunderbird.messages("Junk"))
    thunderbird.select("xyzzy")
    thunderbird.command("cmd_markAsNotJunk")
    learned(home, NEW, "ham", thunderbird)
    assert home.label_of(spam(60)) is None
