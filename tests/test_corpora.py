"""The sample corpora are what their README says, and the script that made them loses no byte."""

from __future__ import annotations

import hashlib
import lzma
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from helpers.paths import ROOT

CORPORA = ROOT / "corpora"
SPAMASSASSIN = CORPORA / "spamassassin"
MAKE = SPAMASSASSIN / "make.py"
pytestmark = pytest.mark.skipif(not CORPORA.exists(), reason="the source distribution leaves the corpora out")

COUNTS = {"ham": 3_900, "hard-ham": 250, "spam": 1_896}
ENVELOPE = b"From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n"
OWN = b"From a@example.org  Mon Jul 22 18:12:38 2002\n"

# folder/file of the package → the message, and its entry in the mailbox
MESSAGES = {
    # A later file name that the archive holds first: order comes from the names.
    "easy-ham-1/00002.b.txt": (b"Subject: two\n\nbody\n", ENVELOPE + b"Subject: two\n\nbody\n\n"),
    "easy-ham-1/00001.a.txt": (OWN + b"Subject: one\n\nbody\n", OWN + b"Subject: one\n\nbody\n\n"),
    "easy-ham-2/00001.a.txt": (
        OWN + b"A: b\n\nFrom here\n>From there\n>>From both\n> From no\nFrom: no\n From no\nFrom\n",
        OWN + b"A: b\n\n>From here\n>>From there\n>>>From both\n> From no\nFrom: no\n From no\nFrom\n\n",
    ),
    "hard-ham-1/00001.a.txt": (b"A: b\n\nno newline", ENVELOPE + b"A: b\n\nno newline\n\n"),
    "hard-ham-1/00002.b.txt": (b"A: b\n\nFrom the end", ENVELOPE + b"A: b\n\n>From the end\n\n"),
    "hard-ham-1/00003.c.txt": (b"A: b\n\nblank lines\n\n\n", ENVELOPE + b"A: b\n\nblank lines\n\n\n\n"),
    "spam-1/00001.a.txt": (
        b"From x@example.org  Mon Jul 22 18:12:38 2002\r\nA: b\r\n\r\nFrom us\r\n\r\n",
        b"From x@example.org  Mon Jul 22 18:12:38 2002\r\nA: b\r\n\r\n>From us\r\n\r\n\n",
    ),
    "spam-1/00002.b.txt": (
        b">From odd\nA: b\n\nx\rFrom y\n",
        ENVELOPE + b">>From odd\nA: b\n\nx\rFrom y\n\n",
    ),
    "spam-2/00001.a.txt": (b"A: \xff\x00\xe9\n\n\x80\n", ENVELOPE + b"A: \xff\x00\xe9\n\n\x80\n\n"),
    "spam-2/00002.b.txt": (b"", ENVELOPE + b"\n\n"),
}
FOLDERS = {
    "ham": ["easy-ham-1", "easy-ham-2"],
    "hard-ham": ["hard-ham-1"],
    "spam": ["spam-1", "spam-2"],
}


def messages_in(mailbox: bytes) -> list[bytes]:
    """The messages of an mboxrd mailbox, unquoted, without an envelope that is not their own."""
    found: list[list[bytes]] = []
    for line in mailbox.split(b"\n")[:-1]:
        if line.startswith(b"From "):
            found.append([line])
        else:
            found[-1].append(line[1:] if line.lstrip(b">").startswith(b"From ") else line)
    assert all(lines[-1] == b"" for lines in found)
    return [b"".join(line + b"\n" for line in lines[:-1]).removeprefix(ENVELOPE) for lines in found]


def make(package: Path, into: Path) -> subprocess.CompletedProcess[str]:
    into.mkdir()
    return subprocess.run([sys.executable, MAKE, package, "--into", into], capture_output=True, text=True)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    for name, (message, _) in MESSAGES.items():
        path = folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(message)
        path.with_suffix(".json").write_text("{}")
    (folder / "README.txt").write_text("not a message")
    return folder


@pytest.mark.parametrize("label", COUNTS)
def test_mailbox_is_as_described(label: str) -> None:
    packed = (SPAMASSASSIN / f"{label}.mbox.xz").read_bytes()
    mailbox = lzma.decompress(packed)
    readme = (SPAMASSASSIN / "README.md").read_text()
    assert f"{hashlib.sha256(packed).hexdigest()}  {label}.mbox.xz\n" in readme
    assert f"{hashlib.sha256(mailbox).hexdigest()}  {label}.mbox\n" in readme
    assert f"| {COUNTS[label]:,} |\n" in readme
    assert len(messages_in(mailbox)) == COUNTS[label]
    # Also for readers that want a blank line before an envelope.
    assert (b"\n\n" + mailbox).count(b"\n\nFrom ") == COUNTS[label]


def test_made_mailboxes_give_the_messages_back(package: Path, tmp_path: Path) -> None:
    done = make(package, tmp_path / "made")
    assert (done.returncode, done.stderr) == (0, "")
    for label, folders in FOLDERS.items():
        names = [name for folder in folders for name in sorted(MESSAGES) if name.startswith(folder + "/")]
        packed = (tmp_path / "made" / f"{label}.mbox.xz").read_bytes()
        mailbox = lzma.decompress(packed)
        assert mailbox == b"".join(MESSAGES[name][1] for name in names)
        originals = [MESSAGES[name][0] for name in names]
        assert messages_in(mailbox) == [text if text.endswith(b"\n") else text + b"\n" for text in originals]
        assert (
            f"{hashlib.sha256(packed).hexdigest()} {label}.mbox.xz ({len(names)} messages)\n" in done.stdout
        )


def test_folder_and_archive_make_the_same_bytes(package: Path, tmp_path: Path) -> None:
    archive = tmp_path / "package.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in MESSAGES:
            tar.add(package / "data" / name, f"package/data/{name}")
        tar.add(package / "README.txt", "package/README.txt")
    made = [tmp_path / "first", tmp_path / "duplicate", tmp_path / "archive"]
    for source, into in zip([package, package, archive], made, strict=True):
        assert make(source, into).returncode == 0
    for label in COUNTS:
        assert len({(into / f"{label}.mbox.xz").read_bytes() for into in made}) == 1


def test_another_package_is_refused(package: Path, tmp_path: Path) -> None:
    for path in (package / "data" / "spam-2").glob("*.txt"):
        path.unlink()
    done = make(package, tmp_path / "made")
    assert done.returncode == 2
    assert "no messages in data/spam-2" in done.stderr
    assert not list((tmp_path / "made").iterdir())


def test_lecture_example_has_the_words_of_the_lecture() -> None:
    def documents_with_word(label: str) -> Counter[str]:
        paths = (CORPORA / "lectures" / "six" / label).glob("*.txt")
        return Counter(word for path in paths for word in set(path.read_text().split()))

    spam = {"password": 2, "review": 1, "send": 3, "us": 3, "your": 3, "account": 1}
    assert documents_with_word("spam") == Counter(spam)
    # "your" is in both; the lecture's own table says one.
    assert documents_with_word("ham") == Counter(password=1, review=2, send=1, us=1, your=2)
    files = sorted(path.name for path in (CORPORA / "lectures" / "six").glob("*/*"))
    assert files == ["D1.txt", "D2.txt", "D3.txt", "D4.txt", "D5.txt", "D6.txt"]
