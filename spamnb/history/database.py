"""A database of what was judged, gathered from the files of the log: listed, searched, and put right.

A message stays in its file, and goes with it; what is said of it here, and what a person made of it, stays
for a year. All that a method changes is on the disk when it returns.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, NamedTuple

from spamnb.errors import InputOutputError, NoInput, SpamnbError
from spamnb.files import make_folder, open_own, prepare_database, printable, state_folder
from spamnb.history import log
from spamnb.inspection.explanation import deciding_words
from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.model import Model
from spamnb.reading.identity import digest
from spamnb.reading.message import read

NAME = "history.sqlite"
PATIENCE = 30.0  # seconds to wait for another process that writes
READ_AT_ONCE = 4 << 20  # bytes of a file; more than the largest record
AT_ONCE = 100  # records taken in at once: another process that writes waits so long
MOST_WORDS = 20  # that are searched for at once
MOST_FOUND = 3000  # of what has a word: the latest
LONGEST_WORD = 40  # characters
LONGEST_TEXT = 300  # characters kept of a sender, a subject, a Message-ID
YEAR, WEEK = 366 * log.DAY, 7 * log.DAY  # seconds
MONDAY = 4 * log.DAY  # 1970 began on a Thursday
BYTES_OF_ENTRY = 2000  # more than it takes: of the size that the history may have, entries take a part only
RANKS = {UNSURE: 0, SPAM: 1}  # of verdicts in order of doubt; 2 for all others

SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    week INTEGER NOT NULL,            -- since 1970
    verdict TEXT NOT NULL,
    score REAL NOT NULL,
    probability REAL,
    sender TEXT NOT NULL,
    subject TEXT NOT NULL,
    message_id TEXT NOT NULL,
    digest INTEGER NOT NULL,          -- as a signed number
    size INTEGER NOT NULL,
    source TEXT NOT NULL,
    model TEXT NOT NULL,
    user TEXT NOT NULL,
    words TEXT NOT NULL,
    correction TEXT,
    corrected REAL,
    ham_cutoff REAL,
    spam_cutoff REAL,
    rank INTEGER NOT NULL,            -- of the verdict, in order of doubt
    distance REAL NOT NULL,           -- from the cutoff; of what is unsure, the latest first
    is_corrected INTEGER NOT NULL DEFAULT 0,
    file TEXT NOT NULL,               -- where its record is: file, offset, bytes
    start INTEGER NOT NULL,
    length INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS labels_before (id INTEGER PRIMARY KEY, label TEXT);  -- of what was corrected
CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, done INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS limits (id INTEGER PRIMARY KEY CHECK (id = 1), days INTEGER, size INTEGER);
CREATE INDEX IF NOT EXISTS by_doubt ON entries (is_corrected, rank, distance, id, time, verdict);
CREATE INDEX IF NOT EXISTS by_model_and_doubt ON entries (
    model, is_corrected, rank, distance, id, time, verdict);
CREATE INDEX IF NOT EXISTS by_time ON entries (time, verdict, correction, score);
CREATE INDEX IF NOT EXISTS by_model_and_time ON entries (model, time, verdict, correction, score);
CREATE INDEX IF NOT EXISTS by_week ON entries (model, week, verdict, correction);
CREATE INDEX IF NOT EXISTS by_verdict ON entries (verdict, time);
"""
SEARCH_SCHEMA = """
CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(
    sender, subject, content='entries', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
CREATE TRIGGER IF NOT EXISTS entry_added AFTER INSERT ON entries BEGIN
    INSERT INTO search(rowid, sender, subject) VALUES (new.id, new.sender, new.subject);
END;
CREATE TRIGGER IF NOT EXISTS entry_removed AFTER DELETE ON entries BEGIN
    INSERT INTO search(search, rowid, sender, subject) VALUES ('delete', old.id, old.sender, old.subject);
END;
"""


class Entry(NamedTuple):
    """A verdict on a message, and what a person made of it."""

    id: int
    time: float
    verdict: str
    score: float
    probability: float | None
    sender: str
    subject: str
    message_id: str
    digest: int  # the message's, without a key
    size: int  # bytes of the message; of a large one, only the first are kept
    source: str  # `classify`, `serve`, `imap ACCOUNT/FOLDER`
    model: str  # path
    user: str  # of a server
    words: str  # three that decided, joined by ", "
    correction: str | None = None  # the label that a person gave
    corrected: float | None = None  # when
    ham_cutoff: float | None = None
    spam_cutoff: float | None = None

    def as_map(self) -> dict[str, Any]:
        """Fields as JSON has them: a number of 64 bits is a text, as many programs would round it."""
        return {**self._asdict(), "digest": str(self.digest)}

    @property
    def cursor(self) -> str:
        """Place in the list that it was read from, for `History.entries(after=…)`."""
        return f"{self.id}{'c' if self.correction else ''}"


class Week(NamedTuple):
    """Mail of seven days from a Monday on, in UTC."""

    start: float
    messages: int
    verdicts: dict[str, int]
    corrections: dict[tuple[str, str], int]  # by verdict and label given: (ham, spam) is spam missed


class History:
    """The database of a folder, and the files that are gathered into it; for one thread at a time."""

    def __init__(self, folder: str, database: sqlite3.Connection) -> None:
        self.folder = folder
        self.database = database
        self.has_search = self._make_tables()

    @classmethod
    def open(cls, folder: str | None = None) -> History:
        """Open the history of a folder, by default that of the user; start one if there is none."""
        folder = folder or state_folder("history")
        path = os.path.join(folder, NAME)
        try:
            make_folder(folder)
            prepare_database(path)
            database = sqlite3.connect(path, PATIENCE, isolation_level=None, check_same_thread=False)
            return cls(folder, database)
        except OSError as error:
            raise NoInput(f"{path}: {error.strerror}; name another folder with --history-folder") from error
        except sqlite3.Error as error:
            raise failure(folder, error) from error

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.database.close()
        if isinstance(error, sqlite3.Error):
            raise failure(self.folder, error) from error

    def _make_tables(self) -> bool:
        """Make what is missing; return whether this SQLite has full-text search."""
        self.database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;" + SCHEMA)
        with suppress(sqlite3.OperationalError):  # no such module: fts5
            self.database.executescript(SEARCH_SCHEMA)
            return True
        return False

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Make all changes at once, or none of them."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield self.database
            self.database.execute("COMMIT")
        finally:
            if self.database.in_transaction:
                self.database.execute("ROLLBACK")

    def waiting(self) -> int:
        """Bytes that were appended and not yet gathered."""
        names = log.file_names(self.folder)
        return sum(log.size_and_time(self.folder, name)[0] - self._done(name) for name in names)

    def gather(self, step: Callable[[int, int], None] = lambda _bytes, _verdicts: None) -> int:
        """Take in what was appended since, and remove what is too old or too much; return how many came.

        `step` is called with the bytes and verdicts taken in, again and again.
        """
        models: Models = {}
        gathered = sum(self._gather_file(name, models, step) for name in log.file_names(self.folder))
        if limits := self.database.execute("SELECT days, size FROM limits").fetchone():
            self._prune(*limits)
        return gathered

    def _gather_file(self, name: str, models: Models, step: Callable[[int, int], None]) -> int:
        """Take in what is new in a file, piece by piece; with each, how far the file was read is stored."""
        gathered, end = 0, 1
        while end and log.size_and_time(self.folder, name)[0] != self._done(name):
            with self._transaction() as database:
                done = self._done(name)
                records, end = log.unpacked_records(self._read(name, done, READ_AT_ONCE))
                if len(records) > AT_ONCE:
                    records, end = records[:AT_ONCE], records[AT_ONCE][0]
                for start, stop, fields in records:
                    row = row_of(fields, models) | {
                        "file": name,
                        "start": done + start,
                        "length": stop - start,
                    }
                    names = ", ".join(row)
                    database.execute(f"INSERT INTO entries ({names}) VALUES (:{', :'.join(row)})", row)
                if end:
                    database.execute("REPLACE INTO files VALUES (?, ?)", (name, done + end))
                if records:
                    database.execute("REPLACE INTO limits VALUES (1, ?, ?)", records[-1][2]["limits"])
            gathered += len(records)
            step(end, len(records))
        return gathered

    def _done(self, name: str) -> int:
        """Bytes of a file that are gathered; 0 of one that has taken the place of another."""
        found = self.database.execute("SELECT done FROM files WHERE name = ?", (name,)).fetchone()
        return found[0] if found and found[0] <= log.size_and_time(self.folder, name)[0] else 0

    def _read(self, name: str, start: int, size: int) -> bytes:
        """Read a piece of a file; nothing if the file is gone."""
        path = os.path.join(self.folder, name)
        try:
            with open(open_own(path, os.O_RDONLY), "rb", buffering=0) as file:
                file.seek(start)
                return file.read(size)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise NoInput(f"{path}: {error.strerror}") from error

    def entries(
        self,
        order: str = "doubt",
        *,
        verdict: str | None = None,
        text: str = "",
        model: str | None = None,
        since: float | None = None,
        limit: int = 50,
        after: str | int | None = None,
    ) -> list[Entry]:
        """List verdicts, all or those asked for, from the start or after the cursor of another one.

        By `doubt`: what nobody has corrected first; of that unsure first, the latest first; then spam, then
        ham, each by its distance from the cutoff. By `time`: the latest first.
        """
        conditions, values = self._conditions(verdict, text, model, since)
        last = self._last_of(after)
        if order == "time":
            if last:
                conditions.append("(time, id) < (:last_time, :last_id)")
            return self._select(conditions, values | last, "time DESC, id DESC", limit)
        found: list[Entry] = []
        for is_corrected in range(last.get("last_corrected", 0), 2):
            behind = [f"is_corrected = {is_corrected}"]
            if last and is_corrected == last["last_corrected"]:
                behind.append("(rank, distance, id) > (:last_rank, :last_distance, :last_id)")
            by = "rank, distance, id"
            found += self._select(conditions + behind, values | last, by, limit - len(found))
        return found

    def _conditions(
        self, verdict: str | None, text: str, model: str | None, since: float | None
    ) -> tuple[list[str], dict[str, Any]]:
        """Conditions of a query, and their values."""
        asked = {"verdict": verdict, "model": model, "since": since}
        conditions = [
            condition
            for condition, value in (
                ("verdict = :verdict", verdict),
                ("model = :model", model),
                ("time >= :since", since),
            )
            if value is not None
        ]
        if verdict is not None:
            conditions.append(f"rank = {rank_of(verdict)}")  # for the index
        words = printable(text).split()[:MOST_WORDS]
        if words and self.has_search:
            latest = f"search MATCH :words ORDER BY rowid DESC LIMIT {MOST_FOUND}"
            conditions.append(f"id IN (SELECT rowid FROM search WHERE {latest})")
            asked["words"] = " ".join('"' + word.replace('"', '""') + '"*' for word in words)
        elif words:
            for number, word in enumerate(words):
                conditions.append(f"sender || ' ' || subject LIKE :word{number} ESCAPE '!'")
                plain = word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
                asked[f"word{number}"] = f"%{plain}%"
        return conditions, asked

    def _last_of(self, cursor: str | int | None) -> dict[str, Any]:
        """Values of the entry that a cursor names; none if it is gone."""
        number = str(cursor or "").removesuffix("c")
        if not number.isascii() or not number.isdecimal() or len(number) > 18:
            return {}
        found = self.database.execute(
            "SELECT id, time, rank, distance FROM entries WHERE id = ?", (int(number),)
        ).fetchone()
        if not found:
            return {}
        names = ("last_id", "last_time", "last_rank", "last_distance")
        return dict(zip(names, found, strict=True), last_corrected=int(str(cursor).endswith("c")))

    def _select(
        self, conditions: Sequence[str], values: dict[str, Any], by: str = "id", limit: int = 1
    ) -> list[Entry]:
        where = " AND ".join(conditions) or "1"
        query = f"SELECT {', '.join(Entry._fields)} FROM entries WHERE {where} ORDER BY {by} LIMIT :limit"
        found = self.database.execute(query, values | {"limit": limit})
        return [entry._replace(digest=entry.digest % (1 << 64)) for entry in map(Entry._make, found)]

    def entry(self, id: int) -> Entry | None:  # noqa: A002
        return next(iter(self._select(["id = :id"], {"id": id})), None)

    def message(self, id: int) -> bytes | None:  # noqa: A002
        """Read a message, of a large one its first part; None once it is pruned."""
        found = self.database.execute(
            "SELECT file, start, length, time FROM entries WHERE id = ?", (id,)
        ).fetchone()
        fields = log.sound_fields(self._read(*found[:3])) if found else None
        return log.message_of(fields) if fields and fields["time"] == found[3] else None

    def correct(self, ids: Iterable[int], label: str | None, now: float | None = None) -> None:
        """Note the label that a person gave to messages; None takes it back. Learning is up to the caller."""
        ids, when = list(ids), None if label is None else time.time() if now is None else now
        with self._transaction() as database:
            database.executemany(
                "UPDATE entries SET correction = ?, corrected = ?, is_corrected = ? WHERE id = ?",
                [(label, when, label is not None, one) for one in ids],
            )
            if label is None:
                database.executemany("DELETE FROM labels_before WHERE id = ?", [(one,) for one in ids])

    def remember_labels(self, labels: Mapping[int, str | None]) -> None:
        """Note the labels that messages have before they are corrected, where that is not known yet."""
        with self._transaction() as database:
            database.executemany("INSERT OR IGNORE INTO labels_before VALUES (?, ?)", labels.items())

    def label_before(self, id: int) -> str | None:  # noqa: A002
        """Tell the label that a message was learned under before it was corrected; None for none."""
        found = self.database.execute("SELECT label FROM labels_before WHERE id = ?", (id,)).fetchone()
        return found[0] if found else None

    def weeks(self, model: str | None = None) -> list[Week]:
        """Count verdicts and corrections week by week, the first week first."""
        found: dict[int, Week] = {}
        condition = "" if model is None else "WHERE model = :model"
        for _, number, verdict, correction, times in self.database.execute(
            f"SELECT model, week, verdict, correction, count(*) FROM entries {condition} GROUP BY 1, 2, 3, 4",
            {"model": model},
        ):
            week = found.get(number) or Week(float(number * WEEK + MONDAY), 0, {}, {})
            found[number] = week._replace(messages=week.messages + times)
            week.verdicts[verdict] = week.verdicts.get(verdict, 0) + times
            if correction:
                pair = verdict, correction
                week.corrections[pair] = week.corrections.get(pair, 0) + times
        return sorted(found.values())

    def scores(self, since: float, model: str | None = None) -> list[tuple[float, str, str | None]]:
        """List score, verdict and correction of all since a time."""
        condition = "" if model is None else "AND model = :model"
        return self.database.execute(
            f"SELECT score, verdict, correction FROM entries WHERE time >= :since {condition}",
            {"since": since, "model": model},
        ).fetchall()

    def models(self) -> list[str]:
        """List the paths of all models that judged, one search of the index for each."""
        found: list[str] = []
        query = "SELECT min(model) FROM entries WHERE model > ?"
        while model := self.database.execute(query, (found[-1] if found else "",)).fetchone()[0]:
            found.append(model)
        return found

    def prune(self, days: int, size: int) -> int:
        """Remove messages older than some days, and the oldest beyond a size; return of how many.

        What is said of them stays for a year, or while there is room.
        """
        self.gather()
        return self._prune(days, size)

    def _prune(self, days: int, size: int) -> int:
        before = log.file_names(self.folder)
        log.prune_files(self.folder, days, size)
        gone = set(before).difference(log.file_names(self.folder))
        pruned = 0
        with self._transaction() as database:
            for name in gone:
                count = database.execute("SELECT count(*) FROM entries WHERE file = ?", (name,))
                pruned += count.fetchone()[0]
            database.execute("DELETE FROM entries WHERE time < ?", (time.time() - YEAR,))
            most = size // BYTES_OF_ENTRY
            database.execute("DELETE FROM entries WHERE id <= (SELECT max(id) FROM entries) - ?", (most,))
        return pruned


Models = dict[str, Model | None]


def failure(folder: str, error: sqlite3.Error) -> InputOutputError:
    path = os.path.join(folder, NAME)
    return InputOutputError(f"{path}: {error}; if it is damaged, remove it; it will be rebuilt")


def row_of(fields: dict[str, Any], models: Models) -> dict[str, Any]:
    """Make the row of a record: what the message tells of itself, and what the model saw in it."""
    raw = log.message_of(fields)
    message = read(raw)
    verdict = shown(fields["verdict"])
    ham, spam = fields["cutoffs"] or (None, None)
    cutoff = spam if verdict == SPAM else ham if verdict == HAM else None
    identity = fields["digest"] if fields["digest"] is not None else digest(message)
    path = os.fsdecode(bytes(fields["model"]))
    return {
        "time": fields["time"],
        "week": int((fields["time"] - MONDAY) // WEEK),
        "verdict": verdict,
        "score": fields["score"],
        "probability": fields["probability"],
        "sender": shown(message.get("from") or ""),
        "subject": shown(message.get("subject") or ""),
        "message_id": shown(message.get("message-id") or ""),
        "digest": identity - (identity >> 63 << 64),
        "size": fields["size"],
        "source": shown(str(fields["source"], "utf-8", "replace")),
        "model": printable(path),
        "user": shown(str(fields["user"], "utf-8", "replace")),
        "words": words_of(raw, verdict, path, models),
        "ham_cutoff": ham,
        "spam_cutoff": spam,
        "rank": rank_of(verdict),
        "distance": -fields["time"] if verdict == UNSURE else abs(fields["score"] - (cutoff or 0.0)),
    }


def words_of(raw: bytes, verdict: str, path: str, models: Models) -> str:
    """Name the three words that decided, by the model as it is now; none if it is gone or damaged."""
    with suppress(SpamnbError, OSError, ValueError):  # no path has a NUL
        if path not in models:
            models[path] = None
            models[path] = Model.open(path)
        if model := models[path]:
            return ", ".join(shown(word, LONGEST_WORD) for word in deciding_words(model, raw, verdict))
    return ""


def rank_of(verdict: str) -> int:
    return RANKS.get(verdict, len(RANKS))


def shown(text: str, most: int = LONGEST_TEXT) -> str:
    """Text from a stranger, of one line, not too long and harmless to a terminal."""
    return printable(" ".join(text[:most].split()))
