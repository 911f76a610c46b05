"""Mail readers judge, teach and ask spamnb, by the recipes of their pages."""

import os
import time
from pathlib import Path

import pytest
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.terminal import Terminal

# Each with its date: mail readers sort by it, and are free to where it is the same.
ANN = b"From: Ann <ann@example.org>\nDate: Mon, 16 Nov 2026 0%d:00:00 +0000\n"
NEW = ANN % 1 + b"Subject: plugh\nMessage-ID: <plugh@example.org>\n\nxyzzy again\n"
OTHER = ANN % 2 + b"Subject: frotz\nMessage-ID: <frotz@example.org>\n\nxyzzy and gnusto\n"


def with_mail(home, *messages, folder="."):
    for part in ("cur", "new", "tmp"):
        (home.maildir / folder / part).mkdir(parents=True, exist_ok=True)
    for number, raw in enumerate(messages):
        (home.maildir / folder / "new" / f"{number}.host").write_bytes(raw)


def mail_of(home):
    return sorted(path.read_bytes() for path in home.maildir.rglob("*.host*"))


def at_a_terminal(home, *command):
    return Terminal(command, {**home.environment, "LANG": "C.UTF-8", "SHELL": "/bin/sh"}, home.path)


@pytest.fixture(
    params=[pytest.param(name, marks=needs(name, "tmux", "less")) for name in ("mutt", "neomutt")]
)
def mutt(request, home):
    """A mutt that shows a folder of messages, by the recipe under a heading."""

    def start(heading, *messages, folder="."):
        with_mail(home)
        with_mail(home, *messages, folder=folder)
        settings = f"set folder=~/Maildir spoolfile=~/Maildir/{folder}\n"
        rules = home.write("muttrc", settings + recipe("mutt", heading, "muttrc"))
        reader = at_a_terminal(home, request.param, "-n", "-F", rules)
        readers.append(reader)
        reader.see(f"Msgs:{len(messages)}")
        return reader

    readers: list[Terminal] = []
    yield start
    for reader in readers:
        reader.end()


def answered(mutt, keys, answer=""):
    """mutt runs a command, shows what it says, and waits for a key."""
    mutt.press(keys)
    mutt.see(answer, "Press any key")
    mutt.press(" ")
    mutt.see("Msgs:")


def test_mutt_learns_and_explains(mutt, home):
    reader = mutt("Learn and explain", NEW)
    answered(reader, "S", "spam: 1 learned")
    assert home.label_of(NEW) == "spam"
    answered(reader, "S", "spam: 1 already learned")
    answered(reader, "H", "ham: 1 moved here")
    assert home.label_of(NEW) == "ham"
    reader.press("E")
    reader.see("score", "probability")
    answered(reader, "q")
    assert mail_of(home) == [NEW]


@pytest.mark.parametrize(
    ("key", "label", "before", "after"), [("S", "spam", ".", ".Junk"), ("H", "ham", ".Junk", ".")]
)
def test_mutt_learns_and_files(mutt, home, key, label, before, after):
    reader = mutt("Learn and file", NEW, OTHER, folder=before)
    reader.press(f"1\r{key}")
    reader.see("Del:1")
    reader.press("$")
    reader.see("Purge")
    reader.press("y")
    reader.see("1 deleted")
    (filed,) = (home.maildir / after).glob("[cn][ue][rw]/*")
    assert home.label_of(NEW) == home.label_of(filed.read_bytes()) == label  # mutt has added Lines to it


def notmuch(home, *arguments):
    return home.run("notmuch", *arguments).stdout.decode().split()


@pytest.fixture
def searched(home, mail):
    """A database over a Maildir, with the hook of the page."""
    with_mail(home, *(mail.messages[name] for name in ("ham", "spam", "unsure")))
    settings = f"[database]\npath={home.maildir}\n[user]\nname=Bob\nprimary_email=bob@example.org\n"
    home.write(".notmuch-config", settings)
    home.run("sh", "-c", recipe("notmuch", "notmuch", "sh"))
    home.run("notmuch", "new")
    (folder,) = notmuch(home, "config", "get", "database.hook_dir")
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/post-new"
    home.write(path, recipe("notmuch", "The hook", "sh"))
    os.chmod(path, 0o700)
    return home


def tags(home, subject):
    return set(notmuch(home, "search", "--output=tags", f"subject:{subject}"))


@needs("notmuch")
def test_notmuch_tags_new_mail_by_verdict(searched):
    home = searched
    before = mail_of(home)
    home.run("notmuch", "new")
    assert tags(home, "meeting") == {"unread", "inbox"}
    assert set(notmuch(home, "search", "--output=tags", "tag:spam")) == {"unread", "spam"}
    assert set(notmuch(home, "search", "--output=tags", "tag:unsure")) == {"unread", "inbox", "unsure"}
    assert notmuch(home, "count", "tag:new") == ["0"]
    assert mail_of(home) == before


@needs("notmuch")
def test_notmuch_learns_what_is_tagged(searched, mail):
    home, raw = searched, mail.messages["ham"]
    home.run("notmuch", "new")
    for label, other in (("spam", "ham"), ("ham", "spam"), ("spam", "ham")):
        home.run("notmuch", "tag", f"+is-{label}", "subject:meeting and subject:99")
        home.run("notmuch", "new")
        assert home.label_of(raw) == label
        found = tags(home, "meeting")
        assert (label in found) is (label == "spam")
        assert ("inbox" in found) is (label == "ham")
        assert not found & {"is-spam", "is-ham", "new", other} - {"ham"}


@needs("notmuch")
@pytest.mark.usefixtures("sorted_home")
def test_notmuch_has_a_tag_for_each_label(searched, mail):
    home, line = searched, recipe("notmuch", "A tag for each label", "labels")
    hook = Path(*notmuch(home, "config", "get", "database.hook_dir"), "post-new")
    hook.write_text(hook.read_text().replace("learn ham", f"{line}learn ham"))
    with_mail(home, mail.messages["work"], NEW, folder="more")
    home.run("notmuch", "new")
    assert tags(home, "deadline") == {"unread", "inbox", "Work"}
    assert "Work" not in tags(home, "meeting") | tags(home, "plugh")
    home.run("notmuch", "tag", "+is-Work", "subject:plugh")
    home.run("notmuch", "new")
    assert home.label_of(NEW) == "Work"
    assert tags(home, "plugh") >= {"inbox", "Work"}
    assert notmuch(home, "count", "tag:new or tag:is-Work") == ["0"]


@needs("notmuch")
def test_notmuch_explains(searched):
    (identity,) = notmuch(searched, "search", "--output=messages", "subject:meeting")
    line = recipe("notmuch", "Explain", "sh")
    assert b"probability" in searched.run("sh", "-c", line, "sh", identity.removeprefix("id:")).stdout


ACCOUNT = """
[home]
source = maildir://{maildir}
default = INBOX
from = Bob <bob@example.org>
"""
KEYS = """
[messages]
<Enter> = :view<Enter>
a = :mark -a<Enter>
"""


@pytest.fixture
def aerc(home):
    """An aerc that shows a folder of messages, by the recipe of the page."""

    def start(*messages):
        with_mail(home, *messages, folder="INBOX")
        (home.path / ".config" / "aerc").mkdir(parents=True)
        home.write(".config/aerc/accounts.conf", ACCOUNT.format(maildir=home.maildir))
        home.write(".config/aerc/binds.conf", KEYS + recipe("aerc", "Learn and explain", "ini"))
        reader = at_a_terminal(home, "aerc")
        readers.append(reader)
        reader.see("plugh", "Connected")
        return reader

    readers: list[Terminal] = []
    yield start
    for reader in readers:
        reader.end()


def until(happened, reader, keys):
    """aerc 0.14 misses a key now and then, or what a quick program shows; then they are pressed again.

    After ever more seconds: keys that are pressed too soon would close what a slow machine is about to show.
    """
    for seconds in (2, 4, 8, 16, 32, 64):
        reader.press(keys)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if happened():
                return
            time.sleep(0.05)
    raise AssertionError(reader.screen)


@needs("aerc", "tmux", "less")
def test_aerc_learns(aerc, home):
    reader = aerc(NEW)
    for keys, label in (("S", "spam"), (" H", "ham")):  # any key closes the answer
        until(lambda label=label: home.label_of(NEW) == label, reader, keys)
    assert mail_of(home) == [NEW]
