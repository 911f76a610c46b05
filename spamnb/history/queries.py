"""The history of verdicts: listing, searching, correcting. Each change is on disk when its method returns."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple
from unicodedata import normalize

from spamnb.databases import Database, transaction
from spamnb.files import printable, state_folder
from spamnb.history import gathering, log
from spamnb.history.schema import Entry, open_database

BY_PROVIDER = " by the provider"  # suffix of the source of mail that looks like ham, but was put into Junk
CORRECTED = "corrected"  # an empty file, touched at each correction
MAX_WORDS = 20  # words in a search
WEEK, MONDAY = 7 * log.DAY, 4 * log.DAY  # seconds; 1970 began on a Thursday
ORDERS = {
    "doubt": ("is_corrected", "rank", "distance", "id"),
    "date": ("-date", "-id"),
    "time": ("-time", "-id"),
}


def last_corrected() -> float:
    """Return the time of the last correction in the user's history; 0 if nothing was corrected."""
    try:
        return Path(state_folder("history"), CORRECTED).stat().st_mtime
    except OSError:
        return 0.0


class Week(NamedTuple):
    """The verdicts and corrections of a week, which begins on Monday in UTC."""

    start: float
    messages: int
    verdicts: dict[str, int]
    corrections: dict[tuple[str, str], int]  # by verdict and label given: (ham, spam) is spam missed


class History:
    """The database of a history folder, and its log files; only one thread at a time may use it."""

    def __init__(self, folder: str, database: Database) -> None:
        self.folder = folder
        self.database = database
        database.create_function("has_words", 2, has_words, deterministic=True)

    @classmethod
    def open(cls, folder: str | None = None) -> History:
        """Open the history in a folder, by default that of the user; create the history if it is missing."""
        folder = folder or state_folder("history")
        return cls(folder, open_database(folder))

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, sqlite3.Error):
                raise self.database.failure(error) from error
        finally:
            self.database.close()

    def gather(self, seconds: float = inf) -> int:
        """Copy new verdicts from the log into the database for about `seconds`; return how many were read."""
        return gathering.gather(self.database, self.folder, seconds)

    def bytes_left(self) -> int:
        """Return how many bytes of the log are not yet copied into the database."""
        sizes = {name: log.size_and_time(self.folder, name)[0] for name in log.file_names(self.folder)}
        return sum(size - gathering.copied(self.database, self.folder, name) for name, size in sizes.items())

    def entries(
        self, order: str = "doubt", *, limit: int = 50, after: str | None = None, **asked: Any
    ) -> list[Entry]:
        """List entries, from the first or after a cursor; `asked` has filters: arguments of `conditions_of`.

        Order `doubt`: verdicts without a correction come first, of these first unsure ones (latest first),
        then spam, then ham (both nearest to the cutoff first). Orders `date` and `time`: latest first.
        """
        return self._listed(order, ">", after, limit, asked)

    def entries_near(self, id: int, order: str, limit: int, **asked: Any) -> list[Entry]:  # noqa: A002
        """List an entry, sorted as if it had no correction, and up to `limit` entries before and after it."""
        there = self.entry(id)
        before, after = (self._listed(order, sign, str(id), limit, asked) for sign in "<>")
        return [*reversed(before), *filter(None, [there]), *(one for one in after if one.id != id)]

    def neighbours(self, id: int, order: str, **asked: Any) -> list[Entry | None]:  # noqa: A002
        """Return the entries (or None) before and after an entry, sorted as if this had no correction."""
        return [next(iter(self._listed(order, sign, str(id), 1, asked)), None) for sign in "<>"]

    def _listed(
        self, order: str, sign: str, cursor: str | None, limit: int, asked: dict[str, Any]
    ) -> list[Entry]:
        """List the entries after a cursor (if `sign` is ">") or before it (if "<"), the nearest first."""
        conditions, values = conditions_of(**asked)
        columns, way = ORDERS[order], "ASC" if sign == ">" else "DESC"
        if place := self._place(columns, cursor):
            conditions.append(f"({', '.join(columns)}) {sign} (:{', :'.join(place)})")
        by = ", ".join(f"{column} {way}" for column in columns)
        return self._select(conditions, values | place, by, limit)

    def _place(self, columns: Sequence[str], cursor: str | None) -> dict[str, Any]:
        """Return the SQL parameters by which the entry at a cursor is sorted; {} if the entry is gone."""
        number = (cursor or "").removesuffix("c")
        if not is_number(number):
            return {}
        query = f"SELECT {', '.join(columns)} FROM entries WHERE id = ?"
        found = self.database.execute(query, (int(number),)).fetchone()
        place = dict(zip(columns, found, strict=True)) if found else {}
        if "is_corrected" in place:
            place["is_corrected"] = (cursor or "").endswith("c")  # as it was when the list was read
        return {f"at{n}": value for n, value in enumerate(place.values())}

    def count_doubts(self, **asked: Any) -> tuple[int, int]:
        """Return the number of unsure entries without a correction, and the number of all other entries."""
        conditions, values = conditions_of(**asked)
        counted = "count(*) FILTER (WHERE rank = 0 AND NOT is_corrected), count(*)"
        found = self.database.execute(f"SELECT {counted} FROM entries WHERE {joined(conditions)}", values)
        unsure, messages = found.fetchone()
        return unsure, messages - unsure

    def _select(
        self, conditions: Sequence[str], values: dict[str, Any], by: str = "id", limit: int = 1
    ) -> list[Entry]:
        where = joined(conditions)
        query = f"SELECT {', '.join(Entry._fields)} FROM entries WHERE {where} ORDER BY {by} LIMIT :limit"
        found = self.database.execute(query, values | {"limit": limit})
        return [sound_entry(entry) for entry in map(Entry._make, found)]

    def entry(self, id: int) -> Entry | None:  # noqa: A002
        return next(iter(self._select(["id = :id"], {"id": id})), None)

    def message(self, id: int) -> bytes | None:  # noqa: A002
        """Return the message of an entry, or the first part of a large one; None if the log file is gone."""
        found = self.database.execute(
            "SELECT file, start, length, time FROM entries WHERE id = ?", (id,)
        ).fetchone()
        fields = log.sound_fields(log.read_piece(self.folder, *found[:3])) if found else None
        return log.message_of(fields) if fields and fields["time"] == found[3] else None

    def with_hash(self, message_hash: int, model: str, label: str) -> list[int]:
        """Return the ids of a model's verdicts on a message, except verdicts already corrected to `label`."""
        signed = message_hash - (message_hash >> 63 << 64)
        found = self.database.execute(
            "SELECT id FROM entries WHERE digest = ? AND model = ? AND correction IS NOT ?",
            (signed, model, label),
        )
        return [id_ for (id_,) in found]

    def corrected_since(self, when: float, source: str) -> list[Entry]:
        """List entries whose source starts with `source`, and whose correction changed after `when`."""
        conditions = ["corrected > :when", "substr(source, 1, :size) = :source"]
        values = {"when": when, "size": len(source), "source": source}
        return self._select(conditions, values, "corrected", limit=-1)

    def correct(self, ids: Iterable[int], label: str | None, now: float | None = None) -> None:
        """Store the label that a person gave messages; None removes it. The caller must learn the messages.

        The stored time is later than the times of all earlier corrections, even if the clock was set back.
        """
        ids = list(ids)
        with transaction(self.database) as database:
            last = "SELECT max(corrected) + 1e-6 FROM entries WHERE corrected IS NOT NULL"
            when = max(time.time() if now is None else now, database.execute(last).fetchone()[0] or 0.0)
            database.executemany(
                "UPDATE entries SET correction = ?, corrected = ? WHERE id = ?",
                [(label, when, one) for one in ids],
            )
            if label is None:
                database.executemany("DELETE FROM labels_before WHERE id = ?", [(one,) for one in ids])
        with suppress(OSError):  # then `spamnb imap watch` notices the correction later
            Path(self.folder, CORRECTED).touch()

    def remember_labels(self, labels: Mapping[int, str | None]) -> None:
        """Store {id of an entry: label under which its message was learned before the first correction}."""
        with transaction(self.database) as database:
            database.executemany("INSERT OR IGNORE INTO labels_before VALUES (?, ?)", labels.items())

    def label_before(self, id: int) -> str | None:  # noqa: A002
        """Return the label a message was learned under before its correction; None if it was not learned."""
        found = self.database.execute("SELECT label FROM labels_before WHERE id = ?", (id,)).fetchone()
        return found[0] if found else None

    def weeks(self, model: str) -> list[Week]:
        """Count the verdicts and corrections of a model in each week; the earliest week comes first."""
        found: dict[int, Week] = {}
        for number, verdict, correction, count in self.database.execute(
            f"SELECT CAST((time - {MONDAY}) / {WEEK} AS INTEGER), verdict, correction, count(*)"
            " FROM entries WHERE model = ? GROUP BY 1, 2, 3",
            (model,),
        ):
            week = found.get(number) or Week(float(number * WEEK + MONDAY), 0, {}, {})
            found[number] = week._replace(messages=week.messages + count)
            week.verdicts[verdict] = week.verdicts.get(verdict, 0) + count
            if correction:
                pair = verdict, correction
                week.corrections[pair] = week.corrections.get(pair, 0) + count
        return sorted(found.values())

    def counts(self, **asked: Any) -> dict[tuple[str, str | None], int]:
        """Return the number of entries for each pair of verdict and correction."""
        conditions, values = conditions_of(**asked)
        found = self.database.execute(
            f"SELECT verdict, correction, count(*) FROM entries WHERE {joined(conditions)} GROUP BY 1, 2",
            values,
        )
        return {(verdict, correction): count for verdict, correction, count in found}

    def scores(self, model: str, seconds: float) -> list[tuple[float, str, str | None]]:
        """List (score, verdict, correction) of a model's entries in the `seconds` before its latest entry."""
        return self.database.execute(
            "SELECT score, verdict, correction FROM entries WHERE model = :model"
            " AND time >= (SELECT max(time) FROM entries WHERE model = :model) - :seconds",
            {"model": model, "seconds": seconds},
        ).fetchall()


def sound_entry(entry: Entry) -> Entry:
    """Convert an entry from SQLite's types: make the hash unsigned, and `is_spam` a bool or None."""
    is_spam = None if entry.is_spam is None else bool(entry.is_spam)
    return entry._replace(digest=entry.digest % (1 << 64), is_spam=is_spam)


def conditions_of(
    text: str = "",
    since: float | None = None,
    verdict: str | None = None,
    asks_folder: bool | None = None,
    is_by_provider: bool = False,
) -> tuple[list[str], dict[str, Any]]:
    """Return SQL conditions for these filters, and values for their parameters; `text` has words to find."""
    conditions, values = [], {"since": since, "verdict": verdict, "asks_folder": asks_folder}
    if since is not None:
        conditions.append("time >= :since")
    if verdict is not None:
        conditions.append("verdict = :verdict")
    if asks_folder is not None:
        conditions.append("asks_folder = :asks_folder")
    if is_by_provider:
        conditions.append("substr(source, -:size) = :by_provider")
        values |= {"size": len(BY_PROVIDER), "by_provider": BY_PROVIDER}
    if words := printable(text).split()[:MAX_WORDS]:
        conditions.append("has_words(sender || ' ' || subject || ' ' || user, :words)")
        values["words"] = normalized(" ".join(words))
    return conditions, values


def has_words(text: str, words: str) -> bool:
    """Return whether a text, once normalized, contains all of the normalized `words`."""
    within = normalized(text)
    return all(word in within for word in words.split())


def normalized(text: str) -> str:
    """Return a text for a search: without differences of case or of width, such as full-width letters."""
    return normalize("NFKC", text).casefold()


def joined(conditions: Sequence[str]) -> str:
    return " AND ".join(conditions) or "1"


def is_number(text: str) -> bool:
    """Return whether a text is a number that can be an entry's id."""
    return text.isascii() and text.isdecimal() and len(text) < 18
