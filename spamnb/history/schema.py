"""The database of the history: columns and opening.

Messages stay in the log files, and are deleted with them; verdicts and corrections are kept here for a year.
"""

from __future__ import annotations

import os
import sqlite3
from functools import partial
from typing import Any, NamedTuple, get_type_hints

from spamnb import databases
from spamnb.databases import Database, make_tables
from spamnb.errors import InputOutputError, NoInput
from spamnb.labels import UNSURE

NAME = "history.sqlite"
SEPARATOR = " · "  # between the reasons of a verdict


class Entry(NamedTuple):
    """A verdict on a message, and its correction.

    Each field is a column of the database and a field of the JSON output. The fields that
    a log record has are copied; `gathering.row_of` computes the others.
    """

    id: int
    time: float  # when it was judged
    date: float  # when it was sent, if its headers say so plausibly
    verdict: str
    is_spam: bool | None  # None: unsure; unsure and False: not spam, but the folder is unsure
    score: float
    probability: float | None
    sender: str
    subject: str
    message_id: str
    digest: int  # the hash of the message
    size: int  # bytes of the message; of a large one, only the first are kept
    source: str  # `classify`, `serve`, `imap ACCOUNT/FOLDER`
    model: str  # path
    user: str  # of a server
    reasons: str  # one or two in words, joined by SEPARATOR
    correction: str | None = None  # the label that a person gave
    corrected: float | None = None  # when a person gave the label or took it back
    ham_cutoff: float | None = None
    spam_cutoff: float | None = None

    def as_map(self) -> dict[str, Any]:
        """Return the fields for JSON: a 64-bit integer is a string, because many programs would round it."""
        return {**self._asdict(), "digest": str(self.digest)}

    @property
    def asks_folder(self) -> bool:
        """Return whether a message surely is not spam, but it is unsure which other label fits."""
        return self.verdict == UNSURE and self.is_spam is False

    @property
    def cursor(self) -> str:
        """The argument `after` with which `History.entries` lists the entries after this one."""
        return f"{self.id}{'c' if self.correction else ''}"


SQL_TYPES: dict[Any, str] = {int: "INTEGER NOT NULL", float: "REAL NOT NULL", str: "TEXT NOT NULL"}
SQL_TYPES |= {float | None: "REAL", str | None: "TEXT", bool | None: "INTEGER"}
COLUMNS = {name: SQL_TYPES[kind] for name, kind in get_type_hints(Entry).items()} | {
    "id": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "file": "TEXT NOT NULL",  # where its record is: file, offset, bytes
    "start": "INTEGER NOT NULL",
    "length": "INTEGER NOT NULL",
    "is_corrected": "AS (correction IS NOT NULL)",
    "rank": "AS (CASE verdict WHEN 'unsure' THEN 0 WHEN 'spam' THEN 1 ELSE 2 END)",  # in order of doubt
    "asks_folder": "AS (verdict = 'unsure' AND is_spam IS FALSE)",
    "distance": """AS (CASE verdict WHEN 'unsure' THEN -date  -- the latest first
        WHEN 'spam' THEN abs(score - ifnull(spam_cutoff, 0)) ELSE abs(score - ifnull(ham_cutoff, 0)) END)""",
}
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS entries ({", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())});
CREATE TABLE IF NOT EXISTS labels_before (id INTEGER PRIMARY KEY, label TEXT);  -- of what was corrected
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_doubt ON entries (is_corrected, rank, distance, id);
CREATE INDEX IF NOT EXISTS by_time ON entries (time, id);
CREATE INDEX IF NOT EXISTS by_date ON entries (date, id);
CREATE INDEX IF NOT EXISTS by_correction ON entries (corrected) WHERE corrected IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_digest ON entries (digest);
"""


def open_database(folder: str) -> Database:
    """Open the database of the history in `folder`; create it if it is missing."""
    path = os.path.join(folder, NAME)
    try:
        return databases.open_database(path, partial(make_tables, schema=SCHEMA))
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}; name another folder with --history-folder") from error
    except sqlite3.Error as error:
        raise InputOutputError(f"{path}: {error}") from error
