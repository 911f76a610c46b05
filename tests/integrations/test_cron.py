"""cron learns from the folders every night, by the lines of the page."""

import shutil
import subprocess

import pytest
from helpers.faults import FAULTS
from helpers.recipes import recipe

EVERYTHING = recipe("cron", "Everything", "crontab")
SEEN = recipe("cron", "Only mail that you have seen", "crontab")


@pytest.fixture
def maildir(home, mail):
    """Ham in the inbox and a folder, spam in Junk, of each one that is new, and one thrown away."""
    for folder, source in ((".", mail.ham), (".Junk", mail.spam), (".Work", mail.work)):
        for part in ("new", "tmp"):
            (home.maildir / folder / part).mkdir(parents=True)
        shutil.copytree(source, home.maildir / folder / "cur")
    (home.maildir / ".Trash" / "cur").mkdir(parents=True)
    (home.maildir / ".Trash" / "cur" / "1:2,S").write_bytes(mail.messages["unknown"])
    (home.maildir / "new" / "1").write_bytes(mail.messages["ham"])
    (home.maildir / ".Junk" / "new" / "1").write_bytes(mail.messages["spam"])
    home.model.unlink()
    return home.maildir


@pytest.fixture
def by_night(home):
    def run(crontab):
        """As cron does: the five fields are its own, a `%` would end the line, the rest is the shell's."""
        command = crontab.split(maxsplit=5)[5]
        assert "%" not in command
        environment = {"HOME": str(home.path), "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", "LOGNAME": "bob"}
        return subprocess.run(["/bin/sh", "-c", command], env=environment, cwd=home.path, capture_output=True)

    return run


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("line", [EVERYTHING, SEEN], ids=["everything", "seen"])
def test_safe_to_repeat(home, maildir, by_night, line):
    """And silent: cron would mail every word."""
    mail_before, learned = files(maildir), []
    for _ in range(2):
        done = by_night(line)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        learned.append(files(home.model.parent))
    assert learned[0] == learned[1]
    assert home.model in learned[0]
    assert files(maildir) == mail_before


def test_folders_are_labels(home, maildir, mail, by_night):
    """And what is moved by day is moved by night."""
    by_night(EVERYTHING)
    for message, label in (("ham", "ham"), ("spam", "spam")):
        assert home.label_of(mail.messages[message]) == label
    assert home.label_of((maildir / ".Work" / "cur" / "01").read_bytes()) == "ham"
    assert home.label_of(mail.messages["unknown"]) is None
    (maildir / "new" / "1").rename(maildir / ".Junk" / "cur" / "1:2,S")
    by_night(EVERYTHING)
    assert home.label_of(mail.messages["ham"]) == "spam"


def test_what_is_new_is_left_for_later(home, maildir, mail, by_night):
    by_night(SEEN)
    assert home.label_of(mail.messages["ham"]) is None
    assert home.label_of((maildir / "cur" / "01").read_bytes()) == "ham"
    assert home.label_of((maildir / ".Junk" / "cur" / "01").read_bytes()) == "spam"


@pytest.mark.parametrize("name", ["a damaged model", "spamnb is missing"])
def test_a_failure_is_said_and_harms_nothing(home, maildir, by_night, name):
    by_night(EVERYTHING)
    FAULTS[name](home)
    before = files(home.model.parent), files(maildir)
    done = by_night(EVERYTHING)
    assert done.returncode
    assert done.stderr
    assert (files(home.model.parent), files(maildir)) == before
