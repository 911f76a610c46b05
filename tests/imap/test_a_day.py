"""A day with one mailbox, as a person has it: `spamnb imap` and the review page know each other."""

import os

import pytest
from helpers.imap_accounts import folders, move, near, places, train
from helpers.imap_mailbox import HOST, digest
from helpers.imap_watching import ready
from helpers.programs import needs, require
from helpers.reviewing import Eyes, served, shared_browser
from helpers.samples import ENOUGH, ham, spam, work
from helpers.waiting import until


@pytest.fixture
def eyes():
    require("chromedriver")
    eyes = Eyes(shared_browser())
    eyes.driver.delete_all_cookies()
    yield eyes
    eyes.open("about:blank")


@needs("chromedriver")
def test_a_day(dovecot, home, eyes):
    archive, junk, jobs = map(dovecot.name, ("Archive", "Junk", "Jobs"))
    dovecot.create(jobs)
    for name, make in ((archive, ham), (junk, spam), (jobs, work)):
        dovecot.fill(name, [make(n) for n in range(2 * ENOUGH)])
    learned = places(dovecot)
    os.unlink(home.model)
    home.password_file.write_text(f"{dovecot.password}\n")
    where = (f"host={HOST}", f"port={dovecot.port}", "tls=none", f"user={dovecot.user}")
    home("setup", *where, f"password_file={home.password_file}").succeeds()
    written = home.config.read_text()
    home.config.write_text(f'{written}history = true\n[account.home.sort]\nWork = "{jobs}"\n')
    assert train(home) == dict.fromkeys(("ham", "spam", "Work"), 2 * ENOUGH)

    def new():
        return {key: name for key, name in places(dovecot).items() if key not in learned}

    for raw in (spam(99), spam(98), ham(99), work(99), near(1)):
        dovecot.append("INBOX", raw)
    home("run").succeeds()
    assert {*new().values()} == {"INBOX"}  # `action` is "nothing"
    home.config.write_text(home.config.read_text().replace('"nothing"', '"move"'))
    said = home("run", "--again").succeeds().lines
    assert said[-1] == f"home: 5 judged: 2 to {junk}, 1 stay, 1 to {jobs}, 1 unsure"
    sorted_ = {spam(99): junk, spam(98): junk, ham(99): "INBOX", work(99): jobs, near(1): "INBOX"}
    assert new() == {digest(raw): name for raw, name in sorted_.items()}

    with (
        ready(home),
        served(home.spamnb, **home.environment) as page,
    ):
        eyes.open(page.address)
        row = row_of(eyes, spam(99))
        eyes.click(f"{row} button.ham")
        until(lambda: new().get(digest(spam(99))) == "INBOX")
        eyes.click(f"{row} button[name=undo]")
        until(lambda: new().get(digest(spam(99))) == junk)
        move(dovecot, spam(98), junk, "INBOX")
        dovecot.append("INBOX", work(98))  # wakes it
        until(lambda: folders(dovecot)[jobs][-1].digest == digest(work(98)))
        eyes.open(page.base)
        row = row_of(eyes, spam(98))
        assert "learned as ham" in eyes.text(row)
    assert home.outcomes() == []
    assert [home.label_of(raw) for raw in sorted_] == [None, "ham", None, None, None]


def row_of(eyes, raw):
    """The row of a message, by its subject."""
    subject = raw.partition(b"Subject: ")[2].partition(b"\n")[0].decode()
    eyes.wait(lambda: subject in eyes.text(".rows"))
    found = [title for title in eyes.all(".rows .subject") if title.text == subject]
    return "#m" + found[0].get_attribute("id")[1:]
