"""SQLite databases that several processes use at once. A damaged database is renamed and replaced.

Only SQLite may open database files: when a process closes a file, it loses all its locks on the file, even
those of SQLite (a rule of POSIX). Another process could then write at the same time and damage the database.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from zlib import crc32

from spamnb.errors import DataError, InputOutputError, SetAside
from spamnb.files import DATABASE_SUFFIXES, complain, make_folder, open_own, prepare_database

PATIENCE = 30.0  # seconds to wait for another process that writes
SETTING_ASIDE = 5.0  # seconds to wait for others to close a damaged database
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
DAMAGED = ".damaged"  # what is added to the path of a database that was set aside


class Database(sqlite3.Connection):
    """An open SQLite database. Its shared lock on a lock file prevents its renaming by other processes.

    On closing, SQLite deletes the log by its name: after a renaming, this could be the log of a new database.
    """

    path = ""
    inode = 0  # of the file
    handle = -1  # of the lock file

    def close(self) -> None:
        super().close()
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1

    def failure(self, error: sqlite3.Error) -> InputOutputError:
        """Return the error to raise for `error`; if the database is damaged, rename its files first."""
        kind = SetAside if self.set_aside(error) else InputOutputError
        return kind(f"{self.path}: {error}")

    def set_aside(self, error: sqlite3.Error) -> bool:
        """If `error` means damage, close the database and rename its files; return whether that was done."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGE or not self.inode:
            return False
        super().close()
        deadline = time.monotonic() + SETTING_ASIDE
        try:
            while not try_lock(self.handle):
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.01)
            if os.stat(self.path).st_ino == self.inode:  # else another process has done it
                for suffix in DATABASE_SUFFIXES:
                    with suppress(FileNotFoundError):
                        os.rename(self.path + suffix, self.path + DAMAGED + suffix)
                complain(
                    f"{self.path}: damaged ({error}); renamed to {self.path}{DAMAGED}, and a new one was made"
                )
        except FileNotFoundError:
            pass  # another process has done it, and has not made a new one yet
        except OSError:
            return False
        finally:
            self.close()
        return True


def open_database(path: str, prepare: Callable[[Database], object], attempts: int = 2) -> Database:
    """Open a database, or create a missing one; rename a damaged one, and make a new one in its place.

    `prepare` makes missing tables. Raises OSError if `check_owner` refuses one of the files.
    """
    make_folder(os.path.dirname(path))
    with ExitStack() as closing:
        database = connect(path)
        closing.callback(database.close)
        try:
            database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            prepare(database)
        except sqlite3.Error as error:
            if attempts > 1 and database.set_aside(error):
                return open_database(path, prepare, attempts - 1)
            raise
        closing.pop_all()
        return database


def make_tables(database: Database, schema: str) -> None:
    """Make the tables of an empty database; raise DataError if another version of spamnb has made tables."""
    version = 1 + (crc32(schema.encode()) >> 2)  # of 31 bits, never 0
    asked = "SELECT (SELECT count(*) FROM sqlite_master), user_version FROM pragma_user_version"
    tables, found = database.execute(asked).fetchone()
    if tables and found != version:
        raise DataError(f"{database.path}: made by another version of spamnb; remove it (no model is in it)")
    if not tables:
        database.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version = {version}; COMMIT")


def connect(path: str) -> Database:
    handle = open_own(f"{path}.open.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        prepare_database(path)
        database = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, factory=Database
        )
        database.path, database.inode, database.handle = path, os.stat(path).st_ino, handle
        return database
    except BaseException:
        os.close(handle)
        raise


def try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Store all changes made in the `with` block or, if an error ends the block, none of them."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # it may have been set aside
            database.execute("ROLLBACK")
        raise
