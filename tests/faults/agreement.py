"""Letters of some weeks, and what must be so at the end: mailboxes, model and history agree on each."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from faults.worlds import named, state
from helpers.imap_accounts import folders
from helpers.imap_mailbox import digest
from helpers.imap_servers import DovecotImap
from helpers.learning import train_bulk

from spamnb.history.queries import History

HERE = {"ham": "", "spam": ".Junk", "unsure": ".Unsure"}  # folders by what lies there
THERE = {"ham": "INBOX", "spam": "Junk", "unsure": "Unsure"}
OURS = re.compile(rb"\AX-Spamnb: .*\n")
NUMBER = re.compile(rb"^Message-ID: <(\d+)@", re.MULTILINE)

Places = dict[int, list[tuple[str, Path]]]  # folder and file of each copy, by the number of the letter


@dataclass(eq=False)
class Letter:
    """A message, what its owner thinks of it, and what became of it."""

    number: int
    truth: str
    is_here: bool  # or at the server
    raw: bytes
    came: bool = False
    tries: int = 0  # to deliver it
    is_kept: bool = False  # in the history for sure, whatever happens
    is_missed: bool = False  # there, perhaps: power failed too early, or the disk was full
    is_seen: bool = False
    plans: list[tuple[str, str | None]] = field(default_factory=list)  # what its owner is about to do with it
    label: str | None = None  # that he gave it
    marked: str | None = None  # and that the page has acknowledged

    @property
    def subject(self) -> str:
        return f"letter{self.number}"


def found_here(maildir: Path) -> Places:
    """Where each letter lies in a Maildir."""
    found: Places = {}
    for folder in HERE.values():
        for path in sorted(maildir.glob(f"{folder or '.'}/[nc][eu][wr]/*")):
            number = NUMBER.search(path.read_bytes())
            assert number
            found.setdefault(int(number[1]), []).append((folder, path))
    return found


def found_there(server: DovecotImap, letters: list[Letter]) -> dict[int, str]:
    """Where each letter lies at the server."""
    numbers = {digest(letter.raw): letter.number for letter in letters}
    return {numbers[each.digest]: name for name, many in folders(server).items() for each in many}


def hold_mail(letters: list[Letter], here: Places, server: DovecotImap) -> None:
    """Every letter is there once, byte for byte, and as unread as it came."""
    stored = [each for many in server.contents().values() for each in many]
    times = Counter((each.digest, each.flags) for each in stored)
    assert times == Counter((digest(letter.raw), frozenset()) for letter in letters if not letter.is_here)
    assert here.keys() == {letter.number for letter in letters if letter.is_here}
    for number, ((_, path),) in here.items():
        assert OURS.sub(b"", path.read_bytes()) == letters[number].raw


def hold_model(letters: list[Letter], here: Places, model: str) -> None:
    """It is as one trained anew on the folders, and on what was said of letters in a folder of no label."""
    labels = {folder: label for label, folder in HERE.items()}
    mail = []
    for letter in letters:
        place = labels[here[letter.number][0][0]] if letter.is_here else "unsure"
        if label := letter.label if place == "unsure" else place:
            mail.append((letter.raw, label))
    expected, now = {named(raw): label for raw, label in mail}, state(model)
    differ = dict(expected.items() ^ now.learned.items())
    assert not differ, [letter for letter in letters if named(letter.raw) in differ]
    with tempfile.TemporaryDirectory() as folder:
        assert now.counts == state(train_bulk(folder, mail)).counts


def hold_history(letters: list[Letter], here: Places, folder: Path) -> None:
    """Each verdict is there once for each delivery, with what the owner made of it."""
    found: dict[str, list[str | None]] = {}
    with History.open(str(folder)) as history:
        history.gather()
        for entry in history.entries(limit=-1):
            found.setdefault(f"{entry.digest % (1 << 64):016x}", []).append(entry.correction)
    for letter in letters:
        given = found.pop(named(letter.raw), [])
        passed_on = letter.is_here and not OURS.match(here[letter.number][0][1].read_bytes())
        least = 0 if letter.is_missed or passed_on else 1
        assert least <= len(given) <= max(letter.tries, 1), (letter, given)
        label = letter.marked if letter.is_here else letter.label
        assert not given or label in given, (letter, given)
    assert not found
