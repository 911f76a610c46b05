"""Mail that the provider put into Junk, with Dovecot's Sieve as the provider: judged, listed, not learned."""

import email
from email.policy import default

import pytest
from helpers.imap_accounts import near, only, train
from helpers.programs import needs
from helpers.reviewing import Forms, served
from helpers.samples import ENOUGH, ham, spam

pytestmark = needs("dovecot with lmtp and sieve")
LONG_AGO = 1_600_000_000
# A provider that takes all notes for spam, and whatever is about nothing in particular.
PROVIDER = """require ["fileinto", "imap4flags"];
if header :contains "Subject" ["pills", "notes", "xyzzy"] {%s
  fileinto "Junk";
}
"""
FLAGS = ["", 'setflag "$Junk";', 'setflag ["\\\\Seen", "$Junk"];']
KEPT = "looks like mail you keep; the provider put it here"
BACK = "moved back to INBOX"


@pytest.fixture
def provider(dovecot_with):
    return dovecot_with(provider=PROVIDER % "")


@pytest.mark.parametrize("flags", FLAGS)
def test_what_the_provider_put_into_junk(dovecot_with, home, flags):
    """It is judged and not learned, also if it is flagged; what looks like ham is listed, once."""
    server = dovecot_with(provider=PROVIDER % flags)
    home.add(server, history=True)
    home.run()
    server.deliver(spam(99), ham(99), near(1))
    assert home.outcomes() == [("ham", KEPT)]
    assert home.outcomes() == []
    assert [home.label_of(raw) for raw in (spam(99), ham(99), near(1))] == [None] * 3
    assert train(home)["spam"] == 0
    assert subjects(server, "Junk") == {"cheap pills 99", "meeting notes 99", "xyzzy 1"}
    with home.history(ham(99)) as (_, (entry,)):
        assert (entry.verdict, entry.source) == ("ham", "imap home/Junk by the provider")
    with home.history(spam(99)) as (_, found):
        assert found == []
    with served(home.spamnb, "--model", home.model, **home.environment) as page:
        listed = Forms(page).read(verdict="junk")
    assert ["meeting notes 99" in row.text() for row in listed.css(".rows > li")] == [True]
    assert [link.text() for link in listed.css(".lists [aria-current]")] == ["In Junk by mistake?"]
    assert home("digest").succeeds().lines == ["home: 1 message listed, in a new message in your inbox"]
    subject, text = digest_message(server)
    assert subject == "1 message in Junk looks like mail you keep"
    assert "Your provider put them there" in text
    assert "meeting notes 99" in text
    assert "pills" not in text
    assert home("digest").succeeds().lines == ["home: nothing new in Junk"]
    move(server, "notes 99", "Junk", "INBOX")
    assert home.outcomes() == [("ham", "moved back here: learned")]
    assert home.outcomes() == []  # though it may have the provider's keyword still
    assert home.label_of(ham(99)) == "ham"


def subjects(server, folder):
    with server.opened(folder) as client:
        found = client.fetch(client.search("UNDELETED"), ["ENVELOPE"]).values()
        return {about[b"ENVELOPE"].subject.decode() for about in found}


def move(server, subject, source, target):
    """Move a message as its owner does; delivery has added lines to it."""
    with server.opened(source) as client:
        (uid,) = client.search(["SUBJECT", subject])
        client.move(uid, target)


def digest_message(server):
    with server.opened("INBOX") as client:
        found = [one[b"BODY[]"] for one in client.fetch(client.search(), ["BODY.PEEK[]"]).values()]
    message = email.message_from_bytes(only(raw for raw in found if b"spamnb.invalid" in raw), policy=default)
    return message["Subject"], next(message.iter_parts()).get_content()


@pytest.mark.parametrize("flags", FLAGS)
def test_it_is_moved_back(dovecot_with, home, flags):
    server = dovecot_with(provider=PROVIDER % flags)
    home.add(server, action="nothing", rescue="move")
    home.run()
    server.deliver(spam(99), ham(99))
    assert home.outcomes("--dry-run") == [("ham", f"would be {BACK}")]
    assert subjects(server, "INBOX") == set()
    home.change(server, rescue="move")
    assert home.outcomes() == [("ham", BACK)]
    assert home.outcomes() == []
    assert home.outcomes("--again") == [("ham", "stays")]
    assert home.outcomes() == []  # though it may have the provider's keyword still
    assert (subjects(server, "INBOX"), subjects(server, "Junk")) == ({"meeting notes 99"}, {"cheap pills 99"})
    assert home.label_of(ham(99)) is None
    server.deliver(ham(98))
    assert home("run").succeeds().lines[-1] == (
        "home: nothing new; 1 message in Junk looks like mail you keep, moved back to INBOX"
    )
    move(server, "notes 99", "INBOX", "Junk")  # its owner knows better
    assert home.outcomes() == [("spam", "moved here: learned")]
    assert home.outcomes() == []
    assert "meeting notes 99" in subjects(server, "Junk")


def test_what_its_owner_put_there_is_a_lesson(provider, home):
    """Also what we never met: it came long before a message that was there already."""
    home.add(provider, history=True)
    provider.append("INBOX", near(7).replace(b"xyzzy", b"plugh"), r"\Seen", LONG_AGO)  # read: never judged
    provider.append("INBOX", b"Subject: tomorrow\n\nfrobnicate\n")
    home.run()
    provider.deliver(ham(99))
    move(provider, "plugh 7", "INBOX", "Junk")
    move(provider, "tomorrow", "INBOX", "Junk")
    assert sorted(home.outcomes()) == [("ham", KEPT), *[("spam", "moved here: learned")] * 2]
    assert home.outcomes() == []
    home.mark(delivered(provider, "notes 99"), "spam")  # on the page, where it is listed
    assert home.outcomes() == [("spam", "marked by you")]
    assert home("digest").succeeds().lines == ["home: nothing new in Junk"]


def delivered(server, subject):
    with server.opened("Junk") as client:
        (uid,) = client.search(["SUBJECT", subject])
        return client.fetch([uid], ["BODY.PEEK[]"])[uid][b"BODY[]"]


def test_the_first_training(provider, home):
    """All spam there is was found by the provider; what surely is no spam is named, and not learned."""
    home.add(provider, ham=["Archive"], is_trained=False, history=True)
    home.model = str(home.path / "own.msgpack")
    provider.fill("Archive", [ham(n) for n in range(3 * ENOUGH)])
    provider.deliver(*(spam(n) for n in range(3 * ENOUGH)), ham(98), ham(99))
    provider.append("Junk", ham(97), "", LONG_AGO)  # as moved there: it came before the others
    said = home("train").succeeds().out.decode()
    assert f"spam: {3 * ENOUGH + 1} learned" in said
    assert "2 messages in Junk, not learned as spam, look like mail you keep:" in said
    assert "meeting notes 98\n" in said
    assert [home.label_of(ham(n)) for n in (97, 98, 99)] == ["spam", None, None]
    with home.history(ham(98)) as (history, _):
        listed = [(entry.verdict, entry.source) for entry in history.entries(is_by_provider=True)]
    assert listed == 2 * [("ham", "imap home/Junk by the provider")]
    assert train(home) == {"ham": 0, "spam": 0}
    assert home.outcomes() == []
    assert home("digest").succeeds().lines == ["home: 2 messages listed, in a new message in your inbox"]
    move(provider, "notes 98", "Junk", "INBOX")
    assert home.outcomes() == [("ham", "moved back here: learned")]
