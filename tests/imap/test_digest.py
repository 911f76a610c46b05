"""The list of what went to Junk: read on a phone, harmless, and never judged itself."""

import email
from email.policy import default

import pytest
from helpers.imap_accounts import folders, move, train
from helpers.samples import ham, spam

from spamnb.imap.providers import host_of, link_to

HOSTILE = spam(98).replace(b"Subject: ", b'Message-ID: <a%b&"c@casino.example>\nSubject: <b onclick=x> ')


def test_the_list(dovecot, home):
    home.add(dovecot)
    dovecot.fill("INBOX", [spam(99), HOSTILE, ham(99)])
    home.run("--again")
    assert home("digest").succeeds().lines == ["home: 2 messages listed, in a new message in your inbox"]
    assert home("digest").succeeds().lines == ["home: nothing new in Junk"]
    with dovecot.opened("INBOX") as client:
        found = [one[b"BODY[]"] for one in client.fetch(client.search(), ["BODY.PEEK[]"]).values()]
    (raw,) = [raw for raw in found if b"spamnb.invalid" in raw]
    message = email.message_from_bytes(raw, policy=default)
    assert message["Subject"] == "2 messages went to Junk"
    plain, page = (part.get_content().replace("\r", "") for part in message.iter_parts())
    link = "mid:a%25b%26%22c@casino.example"
    for said in ("Win <win@casino.example>\n", "  cheap pills 99\n", "  2026-11-15 ", "casino.example"):
        assert said in plain
    assert "ham" not in plain
    assert link not in plain
    assert f'href="{link}"' in page
    assert "&lt;b onclick=x&gt; cheap pills 98" in page
    assert "width=device-width" in page
    assert home.outcomes() == []
    assert len(folders(dovecot)["INBOX"]) == 2
    # A new state knows it by its mark, which fits no other text, and no training learns it.
    home.state_path().unlink()
    home.change(dovecot)
    mark = raw.partition(b"\n")[0] + b"\n"
    for forged in (mark + spam(97), b"X-Spamnb-Digest: %032d\n" % 0 + spam(96)):
        dovecot.append("INBOX", forged)
    assert home.outcomes("--again") == [("ham", "stays"), *[("spam", "moved to Junk")] * 2]
    move(dovecot, raw, "INBOX", "Junk")
    assert (home.outcomes(), train(home)["spam"]) == ([], 2)  # what was in Junk already
    home.state_path().unlink()
    home.change(dovecot, rescue="move")
    dovecot.append("INBOX", b"\n")
    home.run()
    move(dovecot, raw, "Junk", "Trash")
    dovecot.append("Junk", raw)
    assert home.outcomes() == []
    assert home.label_of(raw) is None


@pytest.mark.parametrize(
    ("host", "link"),
    [
        ("imap.gmail.com", "https://mail.google.com/mail/#search/rfc822msgid%3Ax%2Fy@z"),
        ("imap.mail.me.com", "message:x%2Fy@z"),
        ("imap.example.org", "mid:x%2Fy@z"),
    ],
)
def test_how_a_message_is_opened(host, link):
    assert link_to(host, " <x/y@z> ") == link


def test_providers():
    assert host_of("me@googlemail.com") == "imap.gmail.com"
    assert (host_of("me@notgmail.com"), host_of("me")) == ("imap.notgmail.com", "")
