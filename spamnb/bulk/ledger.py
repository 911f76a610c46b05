"""What each message added to a model, kept beside it for merging: MODEL.ledger, a SQLite file without words.

A model does not tell the words of one message. So when two hosts have learned the same one, and both counts
are in their sum, only this can tell what to take out again.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import msgpack
import numpy as np

from spamnb.bulk.learned import NOWHERE, Learned
from spamnb.bulk.scoring import MISSING
from spamnb.clock import today
from spamnb.counts.store import Stored
from spamnb.errors import CannotCreate, Locked, ModelError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from spamnb.bulk.batches import Batch
    from spamnb.bulk.columns import Array
    from spamnb.counts.journal import Entry

PATIENCE = 5.0  # seconds to wait for another process
HALF = 1 << 63  # SQLite has signed numbers
SCHEMA = "CREATE TABLE IF NOT EXISTS lessons (id INTEGER PRIMARY KEY, day INTEGER, lesson BLOB)"
DAMAGED = "not a ledger, or damaged; move it away: what only it knew can be merged with --twice"


class Lesson(NamedTuple):
    """The counts of one message."""

    hashes: Array
    occurrences: Array
    pairs: Array
    numbers: Mapping[str, int | float]

    @classmethod
    def of_entry(cls, entry: Entry) -> Lesson:
        return cls(
            np.array(entry.hashes, np.uint64),
            np.array(entry.occurrences, np.uint16),
            np.array(entry.pairs, np.uint64),
            dict(entry.numbers),
        )

    @classmethod
    def unpacked(cls, data: bytes) -> Lesson:
        hashes, occurrences, pairs, numbers = msgpack.unpackb(data)
        words, pairs = np.frombuffer(hashes, "<u8"), np.frombuffer(pairs, "<u8")
        return cls(words, np.frombuffer(occurrences, "<u2"), pairs, numbers)

    def packed(self) -> bytes:
        columns = [self.hashes.astype("<u8"), self.occurrences.astype("<u2"), self.pairs.astype("<u8")]
        return bytes(msgpack.packb([*(column.tobytes() for column in columns), self.numbers]))


def lessons_in(batch: Batch, messages: Array) -> Iterator[tuple[int, Lesson]]:
    """Some messages of a batch, by their digests."""
    rows, digests = batch.rows, batch.digests
    for message in np.unique(messages).tolist():
        own = slice(rows.starts[message], rows.starts[message + 1])
        order = np.argsort(rows.places[own])  # that of the fingerprints
        hashes, times = batch.hashes[rows.places[own][order]], rows.times[own][order]
        values = {name: int(column[message]) for name, column in rows.numbers.items()}
        numbers = {name: value for name, value in values.items() if value != MISSING}
        yield int(digests[message]), Lesson(hashes[times > 0], times[times > 0], hashes[times == 0], numbers)


class Ledger:
    """Lessons by the digests of their messages, as some settings of the tokenizer made them."""

    def __init__(self, path: str, settings: int, read_only: bool) -> None:
        import sqlite3  # by some systems a package of its own

        self.path = path
        # A model made anew may have others: until it is in its place, the lessons of both are needed.
        self.settings = settings
        # Where a file is write-protected, `rw` reads it all the same.
        self.tables = sqlite3.connect(
            f"file:{quote(path)}?mode=rw", timeout=PATIENCE, isolation_level=None, uri=True
        )
        try:
            if not read_only:
                self.tables.execute(SCHEMA)
            found = self.tables.execute("SELECT name FROM sqlite_master WHERE name = 'lessons'").fetchall()
        except sqlite3.Error:
            self.tables.close()  # a connection left to the garbage collector is a warning since Python 3.13
            raise
        self.is_empty = not found

    @classmethod
    @contextmanager
    def beside(
        cls, model: str, settings: int, *, start: bool = False, read_only: bool = False
    ) -> Iterator[Ledger | None]:
        """That of a model; None if it has none and none is to be started."""
        path = f"{model}.ledger"
        if not start and not os.path.lexists(path):
            yield None
            return
        flags = (os.O_RDONLY if read_only else os.O_RDWR) | (os.O_CREAT if start else 0)
        try:
            # Its owner's only, whatever the umask is.
            os.close(os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        except OSError as error:
            why = "a link, and none is followed" if os.path.islink(path) else error.strerror
            raise CannotCreate(f"{path}: cannot open the ledger: {why}") from error
        try:
            with told(path):
                ledger = cls(path, settings, read_only)
        except ModuleNotFoundError as error:
            raise UsageError(f"{path}: a ledger needs Python's module sqlite3; install it") from error
        try:
            yield ledger
        finally:
            ledger.tables.close()

    def put(self, lessons: Iterable[tuple[int, Lesson]]) -> None:
        """All of them are on the disk then, or none."""
        rows = [(self._id(digest), today(), lesson.packed()) for digest, lesson in lessons]
        with told(self.path):
            self.tables.execute("BEGIN IMMEDIATE")
            self.tables.executemany("INSERT OR REPLACE INTO lessons VALUES (?, ?, ?)", rows)
            self.tables.execute("COMMIT")

    def get(self, digest: int) -> Lesson | None:
        rows = self._rows("SELECT lesson FROM lessons WHERE id = ?", self._id(digest))
        try:
            return Lesson.unpacked(rows[0][0]) if rows else None
        except (ValueError, TypeError) as error:  # msgpack's errors are ValueErrors
            raise ModelError(self.path, DAMAGED) from error

    def __contains__(self, digest: int) -> bool:
        return bool(self._rows("SELECT id FROM lessons WHERE id = ?", self._id(digest)))

    def only(self, learned: Learned, since: int) -> None:
        """Drop all but the lessons of these messages, and those of other messages since some day."""
        rows = self._rows("SELECT id FROM lessons WHERE day < ?", since)
        digests = np.array([number + HALF for (number,) in rows], np.uint64) ^ np.uint64(self.settings)
        gone = np.flatnonzero(learned.places(digests) == NOWHERE).tolist()
        if gone:
            with told(self.path):
                self.tables.execute("BEGIN IMMEDIATE")
                self.tables.executemany("DELETE FROM lessons WHERE id = ?", [rows[at] for at in gone])
                self.tables.execute("COMMIT")
                self.tables.execute("VACUUM")

    def _id(self, digest: int) -> int:
        return (digest ^ self.settings) - HALF

    def _rows(self, query: str, *values: int) -> list[Any]:
        with told(self.path):
            return [] if self.is_empty else self.tables.execute(query, values).fetchall()


def mark_of(model: Stored) -> int:
    """By this a ledger knows the settings of a model."""
    return mark(model.head.get("settings", {}))


def mark(settings: Mapping[str, Any]) -> int:
    """64 bits. What an older spamnb did not set is unset."""
    chosen = sorted((name, value) for name, value in settings.items() if value)
    return int.from_bytes(blake2b(msgpack.packb(chosen), digest_size=8).digest(), "little")


@contextmanager
def told(path: str) -> Iterator[None]:
    """SQLite's errors as ours."""
    import sqlite3

    try:
        yield
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without its details
        if code == sqlite3.SQLITE_BUSY:
            raise Locked(f"{path}: another process writes the ledger; try again later") from error
        if code != sqlite3.SQLITE_ERROR:  # the disk, or what may not be written
            raise CannotCreate(f"{path}: cannot use the ledger: {error}") from error
        raise ModelError(path, DAMAGED) from error
    except sqlite3.DatabaseError as error:
        raise ModelError(path, DAMAGED) from error


def record(model: Stored) -> None:
    """What a journal has, before it is folded into the model."""
    if model.journal.entries:
        with Ledger.beside(model.path, mark_of(model)) as ledger:
            if ledger:
                ledger.put((entry.digest, Lesson.of_entry(entry)) for entry in model.journal.entries)


def tidy(path: str, since: int | None = None) -> None:
    """Drop what a model has not learned, or not any more; what it forgot since some day is still needed."""
    if os.path.lexists(f"{path}.ledger"):
        model = Stored.open(path)
        with Ledger.beside(path, mark_of(model)) as ledger:
            if ledger:
                ledger.only(Learned.load(model), today() + 1 if since is None else since)
