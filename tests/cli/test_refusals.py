"""A command that is refused leaves nothing behind: no lock, no key, no folder."""

import fcntl
import os

import pytest

from spamnb.errors import Locked
from spamnb.lock import Lock

NOTES = b"milk, bread, butter\n"
NAMES = "notes.txt damaged ham spam two new new/deep/er export nosuch".split()  # in a folder of the test


@pytest.fixture
def place(tmp_path, mail, spamnb):
    """A folder with a file that is no model, and whatever a command may name."""
    (tmp_path / "notes.txt").write_bytes(NOTES)
    (tmp_path / "damaged").write_bytes(b"\x84\xa6format\xa6spamnb")
    for name, target in (("ham", mail.ham), ("spam", mail.spam), ("two", spamnb.model)):
        (tmp_path / name).symlink_to(target)
    return tmp_path


REFUSED = {
    "train --model notes.txt ham spam": 65,
    "train --model notes.txt --fresh ham spam": 73,
    "train --model notes.txt --spam -": 65,
    "forget --model notes.txt -": 65,
    "train --model new --settings stem=klingon ham spam": 64,
    "forget --model new -": 75,
    "train --model new --base nosuch ham spam": 75,
    "merge notes.txt two": 73,
    "merge new notes.txt": 65,
    "merge new two nosuch": 66,
    "merge new two two": 64,
    "import --model notes.txt export": 73,
    "import --model new notes.txt": 65,
    "prune --model notes.txt": 65,
    "evaluate --tune ham nosuch": 66,
    "history --history-folder nosuch": 66,
    "check notes.txt": 65,
    "classify --model notes.txt": 65,
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_refusal_leaves_nothing_behind(spamnb, place, line):
    (place / "export").write_bytes(b".MSG_COUNT 2 1\nfree 1 1\n")
    before = sorted(os.listdir(place))
    words = [str(place / word) if word in NAMES else word for word in line.split()]
    spamnb(*words, stdin=b"Subject: x\n\nhello\n").fails(REFUSED[line])
    assert sorted(os.listdir(place)) == before
    assert (place / "notes.txt").read_bytes() == NOTES


def test_a_lock_that_its_holder_removed_is_not_taken_for_one(tmp_path, monkeypatch):
    """Else two could hold it: one the old file, which has no name any more, and one the new."""
    model, real = str(tmp_path / "model"), fcntl.flock

    def just_removed(handle, how):
        monkeypatch.undo()
        os.unlink(model + ".lock")
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", just_removed)
    with Lock(model):
        assert os.path.exists(model + ".lock")
        with pytest.raises(Locked), Lock(model, patience=0):
            pass


# What is asked for makes no sense, or would be ignored without a word; and what is said of it.
USAGE = {
    "classify --settings event=foo": "event cannot be 'foo'",
    "classify --settings smoothing=-1": "smoothing cannot be '-1'",
    "classify --settings ngrams=2": "unknown setting 'ngrams'",
    "classify --settings event=binary,prior=ham:0.5/eggs:0.5": "eggs",
    "classify --cutoff 2,1": "--cutoff",
    "classify --cutoff nan": "--cutoff",
    "classify --jobs 0": "--jobs",
    "classify -p --json": "--json",
    "classify --history ham": "one message at a time",
    "evaluate": "no mail given",
    "evaluate ham spam --folds 1": "--folds",
    "evaluate ham spam --settings speed=9": "ngrams",
    "evaluate ham spam --settings prior=uniform": "prior needs an event",
    "evaluate ham spam --online --model two": "--model and --online cannot be combined",
    "evaluate ham spam --online --folds 10": "--folds has no effect with --online",
    "evaluate ham spam --online --top 3": "--top has no effect with --online",
    "evaluate ham spam --tune --report page": "--report has no effect with --tune",
    "history --since yesterday": "2026-11-16",
    "history --top 1.5": "--top takes a whole number of 1 or more, not '1.5'",
    "imap watch --poll 2000": "--poll takes a number from 1 to 1740, not '2000'",
    "inspect a b": "one message",
    "inspect --html x": "--html",
    "inspect --json x --html -": "--html - and --json",
    "inspect --sample spam --token x": "cannot be combined",
    "inspect --sample eggs": "unknown label 'eggs'; the labels are: ham, spam",
    "inspect --suspects": "--suspects needs the mail that was learned",
    "inspect --all": "--all has no effect without a message or --sample",
    "serve --allow-network": "--allow-network has no effect without --listen or --http",
    "serve --milter --allow-tell": "--allow-tell needs --http beside --milter",
    "train --jobs x ham spam": "--jobs takes a whole number from 1 to 1024, not 'x'",
}


@pytest.mark.parametrize("line", USAGE)
def test_usage(spamnb, place, line):
    arguments = [str(place / word) if word in NAMES else word for word in line.split()]
    spamnb(*arguments, stdin=b"Subject: x\n\n").fails(64, USAGE[line])


def test_what_setup_cannot_ask_for(spamnb):
    known = ("host=localhost", "user=me")
    for given, missing in (
        ((), "user=…"),
        (known[:1], "user=…"),
        (known[1:], "host=…"),
        (known, "password_file=PATH"),
    ):
        spamnb("imap", "setup", *given).fails(64, missing, "without a terminal")
    spamnb("imap", "setup", "host").fails(64, "KEY=VALUE")
