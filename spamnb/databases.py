"""SQLite databases that several processes use at once. A damaged database is renamed and replaced.

Only SQLite may open their files: a process that closes a file loses all its locks on that file (POSIX), so
another process could write at the same time and damage the database.
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
    """An open SQLite database. It holds a shared lock, so that no process renames its files meanwhile.

    SQLite removes a database's log by name when closing it: after a renaming, this could be another's log.
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
        """Return an error that says what failed; if the database is damaged, rename its files."""
        kind = SetAside if self.set_aside(error) else InputOutputError
        return kind(f"{self.path}: {error}")

    def set_aside(self, error: sqlite3.Error) -> bool:
        """If the error means that the database is damaged, close it, rename its files and return True."""
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
    """Open a database, or create a missing one; a damaged database is first renamed and replaced.

    `prepare` makes missing tables. Raises OSError if the database belongs to another user.
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
    """Make the tables of a new database; raise DataError for tables of another version of spamnb."""
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
    """Make all changes in the `with` block or, after an error, none of them."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield database
        database.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # it may have been set aside
            database.execute("ROLLBACK")
        raise
