"""Every command on the page is run: bogofilter's by bogofilter, ours by spamnb."""

import os
import re
import shutil

import pytest
from helpers.programs import needs
from helpers.recipes import PAGES, recipe

PAGE = (PAGES / "from-bogofilter.md").read_text()
ROWS = re.findall(r"^\| ([a-z].*?) \| (?:`(bogo.*?)`)? ?\| `((?:xargs )?spamnb .*?)` \|$", PAGE, re.MULTILINE)


@pytest.fixture
def folders(home, mail):
    """A home with the files the page speaks of."""
    for name, folder in (("ham", mail.ham), ("spam", mail.spam)):
        shutil.copytree(folder, home.path / name)
    (home.path / "message").write_bytes(mail.messages["spam"])
    (home.path / "mbox").write_bytes(
        b"".join(
            b"From x@example.org Mon Nov 15 01:02:03 2026\n" + raw + b"\n" for raw in mail.messages.values()
        )
    )
    (home.path / "names").write_text("message\nspam/03\n")
    (home.path / "folder").mkdir()
    shutil.copy(home.model, home.path / "folder" / "model")
    return home


@pytest.fixture
def bogofilter(folders):
    """A word list of the same mail."""
    for flag, folder in (("-n", "ham"), ("-s", "spam")):
        folders.run("bogofilter", flag, "-B", folder)
    for name in os.listdir(folders.path / ".bogofilter"):
        shutil.copy(folders.path / ".bogofilter" / name, folders.path / "folder")
    return folders


def test_the_table_is_found():
    assert len(ROWS) == PAGE.partition("## Exit codes")[0].count("` |\n") >= 20
    assert {ours for _, _, ours in ROWS} >= {
        "spamnb classify -e < message",
        "spamnb evaluate --tune ham spam",
    }


@pytest.mark.parametrize("ours", sorted({ours for _, _, ours in ROWS}))
def test_our_commands(folders, ours):
    done = folders.run("sh", "-c", ours)
    assert not done.stderr
    assert done.stdout or "-e" in ours


@needs("bogofilter")
def test_both_agree_on_what_a_command_is_for(bogofilter, mail):
    """Judged by exit code and by header; learned, corrected and forgotten."""
    meaning = {what: (theirs, ours) for what, theirs, ours in ROWS}
    for command in meaning["judge, by exit code"]:
        for label, code in (("spam", 0), ("ham", 1)):
            (bogofilter.path / "message").write_bytes(mail.messages[label])
            bogofilter.run("sh", "-c", command, code=code)
    for label, word in (("spam", b"Spam"), ("ham", b"Ham")):
        (bogofilter.path / "message").write_bytes(mail.messages[label])
        for command in meaning["pass on with a header"]:
            out = bogofilter.run("sh", "-c", command).stdout
            assert b"X-Bogosity: %s, tests=bogofilter, spamicity=" % word in out
    steps = {
        "learn spam": "spam",
        "correct: learned as spam, but is ham": "ham",
        "correct: learned as ham, but is spam": "spam",
    }
    for what, learned in (steps | {"forget": None}).items():
        bogofilter.run("sh", "-c", meaning[what][1])
        assert bogofilter.label_of((bogofilter.path / "message").read_bytes()) == learned


@needs("bogofilter")
def test_the_word_list_comes_along(bogofilter, mail):
    bogofilter.model.unlink()
    done = bogofilter.run("sh", "-c", recipe("from-bogofilter", "Import the word list", "sh"))
    assert b"bogofilter: 14 ham, 14 spam" in done.stdout
    for label in ("ham", "spam"):
        assert bogofilter.run("spamnb", "classify", stdin=mail.messages[label]).stdout.startswith(
            label.encode()
        )


@needs("procmail")
def test_recipes_go_on_working(home, mail):
    rules = f"MAILDIR={home.path}\nDEFAULT=inbox\n"
    rules += recipe("from-bogofilter", "Keep your recipes", "procmail")
    call = ("procmail", "-m", f"HOME={home.path}", f"PATH={home.environment['PATH']}")
    path = home.write(".procmailrc", rules)
    forged = b"X-Bogosity: Ham, tests=bogofilter, spamicity=0.000000, version=1.2.5\n"
    for label, box in (("ham", "inbox"), ("spam", "Junk"), ("unsure", "Unsure")):
        raw = mail.messages[label]
        home.run(*call, path, stdin=forged + raw)
        (header,) = re.findall(rb"^X-Bogosity: (.*)$", (home.path / box).read_bytes(), re.MULTILINE)
        assert header.startswith(label.capitalize().encode() + b", tests=bogofilter, spamicity=")
        assert header.endswith(b"version=spamnb")
        assert raw.rstrip() in (home.path / box).read_bytes()
    home.model.unlink()
    home.run(*call, path, stdin=mail.messages["spam"])
    assert mail.messages["spam"].rstrip() in (home.path / "inbox").read_bytes()
