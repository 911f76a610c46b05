"""The stored state of a mailbox: how far each folder was read, and a record of each processed message.

Each account has an SQLite database, which contains no text of messages. A message is found by its key: a
hash of its header block, which stays the same if the message is moved.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

from spamnb.databases import DAMAGED, Database, make_tables, open_database, transaction
from spamnb.errors import CannotCreate, Locked
from spamnb.files import open_own, state_folder
from spamnb.imap.accounts import Account
from spamnb.labels import SPAM

MAX_HEAD = 256 << 10  # bytes that are fetched of a header block; no more of it is read
DAY = 86400  # seconds
MAX_AGE = 400  # days with a visit, after which a message that was not seen is forgotten
SCHEMA = """
CREATE TABLE IF NOT EXISTS mailbox (host TEXT NOT NULL, user TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS folder (  -- how far each was read, for each purpose
    purpose TEXT NOT NULL, name TEXT NOT NULL, validity INTEGER NOT NULL, next_uid INTEGER NOT NULL,
    modseq INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (purpose, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS message (
    key BLOB PRIMARY KEY, folder TEXT NOT NULL, validity INTEGER NOT NULL, uid INTEGER NOT NULL,
    verdict TEXT NOT NULL, ours INTEGER NOT NULL, target TEXT NOT NULL, target_uid INTEGER NOT NULL,
    flag TEXT NOT NULL, label TEXT NOT NULL, time INTEGER NOT NULL, since INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS place ON message (folder, uid);
CREATE INDEX IF NOT EXISTS waiting ON message (target) WHERE target != '';
"""


class Record(NamedTuple):
    """The record of a processed message: its verdict and label, and where it was last seen."""

    key: bytes
    folder: str
    validity: int
    uid: int  # 0 if not known
    verdict: str = ""  # "" if it was never judged
    ours: bool = False  # whether spamnb moved it to this folder
    target: str = ""  # folder that it is being moved to
    target_uid: int = 0  # its UID there, once it was seen there
    flag: str = ""  # keyword that it was given; with a + before it, that it must be given
    label: str = ""  # label that it was learned under
    time: int = 0  # when it was last seen, counted in days with a visit
    since: int = 0  # when it was judged, in seconds since 1970, as long as it is being moved

    def arrived(self, folder: str, validity: int, uid: int) -> Record:
        """Return a changed copy of the record: the message is in `folder` now, and no move is pending."""
        return self._replace(folder=folder, validity=validity, uid=uid, target="", target_uid=0, since=0)


COLUMNS = ", ".join(Record._fields)
INSERT = f"INSERT OR REPLACE INTO message ({COLUMNS}) VALUES ({', '.join('?' * len(Record._fields))})"  # noqa: S608


class Progress(NamedTuple):
    """How far a folder was read for a purpose, such as "judged" or "trained"."""

    validity: int = 0
    next_uid: int = 0
    modseq: int = 0


def key_of(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


def head_of(raw: bytes) -> bytes:
    """Return the header block of a message as an IMAP server sends it: with the empty line at its end."""
    head, end, _ = raw.partition(b"\r\n\r\n")
    return (head + end)[:MAX_HEAD]


def prepare(database: Database, mailbox: tuple[str, str]) -> None:
    """Make the tables. If they are of another mailbox, whose account had this name before, empty them."""
    make_tables(database, SCHEMA)
    before = database.execute("SELECT host, user FROM mailbox").fetchone()
    if before != mailbox:
        with transaction(database):
            for table in ("mailbox", "folder", "message"):
                database.execute(f"DELETE FROM {table}")  # noqa: S608
            database.execute("INSERT INTO mailbox VALUES (?, ?)", mailbox)
            if before is None and os.path.lexists(database.path + DAMAGED):
                database.execute("INSERT INTO folder VALUES ('trained', '', 1, 0, 0)")  # perhaps trained


class State:
    """The state of one account. Changes made within `change()` are stored completely or not at all."""

    def __init__(self, account: Account, folder: str | None = None) -> None:
        self.path = os.path.join(folder or state_folder("imap"), f"{account.name}.sqlite")
        try:
            self.database = open_database(self.path, partial(prepare, mailbox=(account.host, account.user)))
        except OSError as error:
            raise CannotCreate(f"{self.path}: {error.strerror}") from error
        except sqlite3.Error as error:
            raise CannotCreate(f"{self.path}: {error}") from error

    def copy_to_memory(self) -> None:
        """Continue with a copy of the state in memory, so that later changes are not stored."""
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=Database)
        with self._named_errors():
            self.database.backup(copy)
        self.database.close()
        self.database = copy

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let no other process work on the account; raise Locked if another process does already."""
        path = f"{self.path}.lock"
        try:
            handle = open_own(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise CannotCreate(f"{path}: {error.strerror}") from error
        with open(handle, "r+b"):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Locked("another `spamnb imap` uses this account; stop it, or try again later") from None
            yield

    @contextmanager
    def change(self) -> Iterator[None]:
        with self._named_errors(), transaction(self.database):
            yield

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self.database.failure(error) from error

    def _ask(self, question: str, *values: object) -> list[Any]:
        with self._named_errors():
            return self.database.execute(question, values).fetchall()

    def progress(self, purpose: str, folder: str) -> Progress:
        """Return how far a folder was read for a purpose, such as "judged" or "trained"."""
        question = "SELECT validity, next_uid, modseq FROM folder WHERE purpose = ? AND name = ?"
        found = self._ask(question, purpose, folder)
        return Progress(*found[0]) if found else Progress()

    def is_trained(self) -> bool:
        """Return whether `train` has read this account; also True if a damaged state may have said so."""
        return bool(self._ask("SELECT 1 FROM folder WHERE purpose = 'trained'"))

    def was_set_aside(self) -> bool:
        """Return whether this state replaced an earlier one, whose file was damaged and therefore renamed."""
        return bool(self.progress("trained", "").validity)

    def advance(self, purpose: str, folder: str, progress: Progress) -> None:
        self.database.execute(
            "INSERT OR REPLACE INTO folder VALUES (?, ?, ?, ?, ?)", (purpose, folder, *progress)
        )

    def _messages(self, condition: str, *values: object) -> list[Record]:
        question = f"SELECT {COLUMNS} FROM message WHERE {condition} ORDER BY uid"  # noqa: S608
        return [*map(Record._make, self._ask(question, *values))]

    def record(self, key: bytes) -> Record | None:
        return next(iter(self._messages("key = ?", key)), None)

    def at(self, folder: str, validity: int, uid: int) -> Record | None:
        """Return the record of the message that has this UID in a folder; None if no message has it."""
        found = self._messages("folder = ? AND validity = ? AND uid = ?", folder, validity, uid)
        return next(iter(found), None)

    def begun(self, folder: str, validity: int) -> list[Record]:
        """Return the records of those messages in a folder that must still be moved or flagged."""
        pending = "folder = ? AND validity = ? AND (target != '' OR flag LIKE '+%')"
        return self._messages(pending, folder, validity)

    def waiting(self) -> list[Record]:
        """Return the records of all messages that were not yet seen in the folder they must be moved to."""
        return self._messages("target != '' AND target_uid <= 0")

    def unlabeled(self, folder: str) -> list[Record]:
        """Return the records of messages in a folder, or being moved to it, that were not learned."""
        return self._messages("label = '' AND (folder = ? AND target = '' OR target = ?)", folder, folder)

    def spam_keys(self) -> set[bytes]:
        """Return keys of messages judged or learned as spam, except those corrected to another label."""
        question = "SELECT key FROM message WHERE label = ? OR verdict = ? AND label = ''"
        return {key for (key,) in self._ask(question, SPAM, SPAM)}

    def note(self, *messages: Record) -> None:
        days = self.progress("days", "").next_uid
        self.database.executemany(INSERT, [message._replace(time=days) for message in messages])

    def forget_old(self) -> None:
        """Delete records of messages not seen for MAX_AGE days, counting only days with a visit."""
        today, before = int(time.time()) // DAY, self.progress("days", "")
        if today != before.modseq:
            days = before.next_uid + 1
            self.advance("days", "", Progress(next_uid=days, modseq=today))
            self.database.execute("DELETE FROM message WHERE time < ?", (days - MAX_AGE,))
