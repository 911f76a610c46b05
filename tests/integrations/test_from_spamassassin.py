"""Each command on the page is run: those of sa-learn by SpamAssassin, ours by spamnb."""

import re
import shutil

import pytest
from helpers.programs import needs
from helpers.recipes import PAGES, recipe

PAGE = (PAGES / "from-spamassassin.md").read_text()
ROWS = re.findall(r"^\| .*? \| `(.*?)` \| `(spamnb .*?)` \|$", PAGE, re.MULTILINE)


@pytest.fixture
def folders(home, mail):
    """A home with the files that the page speaks of."""
    shutil.copytree(mail.ham, home.path / "ham")
    shutil.copytree(mail.spam, home.path / "spam")
    (home.path / "message").write_bytes(mail.messages["spam"])
    (home.path / "mbox").write_bytes(
        b"From x@example.org Mon Nov 15 01:02:03 2026\n" + mail.messages["unsure"]
    )
    return home


@pytest.mark.parametrize("ours", dict.fromkeys(ours for _, ours in ROWS))
def test_our_commands(folders, ours):
    folders.run("sh", "-c", ours)


@needs("sa-learn")
def test_commands_of_sa_learn(folders):
    """Without the rules of SpamAssassin, which take seconds to read: learning needs none."""
    (folders.path / "rules").mkdir()
    function = 'sa-learn() { command sa-learn -C rules "$@"; }'
    commands = [theirs for theirs, _ in ROWS if theirs.startswith("sa-learn")]
    assert len(commands) >= 8
    folders.run("bash", "-ec", "\n".join([function, *commands]))


@needs("procmail")
def test_recipes_continue_to_work(home, mail):
    rules = f"MAILDIR={home.path}\nDEFAULT=inbox\n"
    rules += recipe("from-spamassassin", "Keep programs that ask spamd", "procmail")
    path = home.write(".procmailrc", rules)
    call = ("procmail", "-m", f"HOME={home.path}", f"PATH={home.environment['PATH']}", path)
    home.run(*call, stdin=mail.messages["spam"])
    home.run(*call, stdin=b"X-Spam-Flag: YES\n" + mail.messages["ham"])
    assert b"X-Spam-Flag: YES" in (home.path / "Junk").read_bytes()
    assert b"X-Spam-Flag" not in (home.path / "inbox").read_bytes()
