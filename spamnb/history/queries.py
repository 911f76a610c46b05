"""The history: what was judged, listed, searched and put right.

All that a method changes is on the disk when it returns.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from spamnb.databases import Database, transaction
from spamnb.files import printable, state_folder
from spamnb.history import gathering, log
from spamnb.history.schema import Entry, open_database

CORRECTED = "corrected"  # an empty file, as old as the last correction
MOST_WORDS = 20  # that are searched for at once
MOST_FOUND = 3000  # of what has a word: the latest


def last_corrected() -> float:
    """Tell when something was last corrected in the user's history; 0 if never."""
    try:
        return Path(state_folder("history"), CORRECTED).stat().st_mtime
    except OSError:
        return 0.0


class Week(NamedTuple):
    """Mail of seven days from a Monday on, in UTC."""

    start: float
    messages: int
    verdicts: dict[str, int]
    corrections: dict[tuple[str, str], int]  # by verdict and label given: (ham, spam) is spam missed


class History:
    """The database of a folder, and the files that are gathered into it; for one thread at a time."""

    def __init__(self, folder: str, database: Database) -> None:
        self.folder = folder
        self.database = database
        # Not every SQLite has full-text search.
        tables = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'search'")
        self.has_search = bool(tables.fetchone())

    @classmethod
    def open(cls, folder: str | None = None) -> History:
        """Open the history of a folder, by default that of the user; start one if there is none."""
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

    def waiting(self) -> int:
        """Bytes that were appended and not yet gathered."""
        return gathering.waiting(self.database, self.folder)

    def gather(self, step: Callable[[int, int], None] = lambda _bytes, _verdicts: None) -> int:
        """Take in what was appended since, and remove what is too old or too much; return how many came.

        `step` is called with the bytes and verdicts taken in, again and again.
        """
        return gathering.gather(self.database, self.folder, step)

    def prune(self, days: int, size: int) -> int:
        """Remove messages that are some days old by the clock, and the oldest beyond a size; return how many.

        What is said of them stays for a year, or while there is room.
        """
        self.gather()
        return gathering.prune(self.database, self.folder, days, size, time.time())

    def entries(
        self,
        order: str = "doubt",
        *,
        verdict: str | None = None,
        source: str | None = None,
        text: str = "",
        model: str | None = None,
        since: float | None = None,
        user: str | None = None,
        limit: int = 50,
        after: str | int | None = None,
    ) -> list[Entry]:
        """List verdicts, all or those asked for, from the start or after the cursor of another one.

        By `doubt`: what nobody has corrected first; of that unsure first, the latest first; then spam, then
        ham, each by its distance from the cutoff. By `time`: the latest first.
        """
        conditions, values = self._conditions(
            text, since, verdict=verdict, source=source, model=model, user=user
        )
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

    def neighbours(self, id: int, order: str, **asked: Any) -> tuple[Entry | None, Entry | None]:  # noqa: A002
        """Find what is before and after an entry in a list; by doubt, of what nobody has corrected."""
        conditions, values = self._conditions(**asked)
        names = ("time", "id") if order == "time" else ("rank", "distance", "id")
        if order != "time":
            conditions.append("is_corrected = 0")
        place = f"({', '.join(names)}) {{}} (:last_{', :last_'.join(names)})"
        smaller, larger = (
            self._select(
                [*conditions, place.format(sign)],
                values | self._last_of(id),
                f" {way}, ".join(names) + f" {way}",
            )
            for sign, way in (("<", "DESC"), (">", "ASC"))
        )
        before, after = (larger, smaller) if order == "time" else (smaller, larger)
        return next(iter(before), None), next(iter(after), None)

    def count_doubts(self, **asked: Any) -> tuple[int, int]:
        """Count what is unsure and not corrected, and all the rest."""
        conditions, values = self._conditions(**asked)
        where = " AND ".join(conditions) or "1"
        counted = "count(*) FILTER (WHERE rank = 0 AND is_corrected = 0), count(*)"
        found = self.database.execute(f"SELECT {counted} FROM entries WHERE {where}", values)
        unsure, messages = found.fetchone()
        return unsure, messages - unsure

    def _conditions(
        self, text: str = "", since: float | None = None, **equal: str | None
    ) -> tuple[list[str], dict[str, Any]]:
        """Conditions of a query, and their values: `equal` are columns."""
        asked: dict[str, Any] = {name: value for name, value in equal.items() if value is not None}
        conditions = [f"{name} = :{name}" for name in asked]
        if "verdict" in asked:
            conditions.append(f"rank = {gathering.rank_of(asked['verdict'])}")  # for the index
        if since is not None:
            conditions.append("time >= :since")
            asked["since"] = since
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
        fields = log.sound_fields(log.read_piece(self.folder, *found[:3])) if found else None
        return log.message_of(fields) if fields and fields["time"] == found[3] else None

    def with_digest(self, digest: int, model: str, label: str) -> list[int]:
        """List the verdicts of a model on a message that nobody has corrected to this label."""
        signed = digest - (digest >> 63 << 64)
        found = self.database.execute(
            "SELECT id FROM entries WHERE digest = ? AND model = ? AND correction IS NOT ?",
            (signed, model, label),
        )
        return [id_ for (id_,) in found]

    def corrected_since(self, when: float, source: str) -> list[Entry]:
        """List what a person corrected or took back after a time, of sources that begin so, in order."""
        conditions = ["corrected > :when", "substr(source, 1, :size) = :source"]
        values = {"when": when, "size": len(source), "source": source}
        return self._select(conditions, values, "corrected", limit=-1)

    def correct(self, ids: Iterable[int], label: str | None, now: float | None = None) -> None:
        """Note the label that a person gave to messages; None takes it back. Learning is up to the caller.

        It is later than all before, also if the clock was put back: who asks what came since must be told.
        """
        ids = list(ids)
        with transaction(self.database) as database:
            last = "SELECT max(corrected) + 1e-6 FROM entries WHERE corrected IS NOT NULL"
            when = max(time.time() if now is None else now, database.execute(last).fetchone()[0] or 0.0)
            database.executemany(
                "UPDATE entries SET correction = ?, corrected = ?, is_corrected = ? WHERE id = ?",
                [(label, when, label is not None, one) for one in ids],
            )
            if label is None:
                database.executemany("DELETE FROM labels_before WHERE id = ?", [(one,) for one in ids])
        with suppress(OSError):  # then who waits for it finds out later
            Path(self.folder, CORRECTED).touch()

    def remember_labels(self, labels: Mapping[int, str | None]) -> None:
        """Note the labels that messages have before they are corrected, where that is not known yet."""
        with transaction(self.database) as database:
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
            week = found.get(number) or Week(float(number * gathering.WEEK + gathering.MONDAY), 0, {}, {})
            found[number] = week._replace(messages=week.messages + times)
            week.verdicts[verdict] = week.verdicts.get(verdict, 0) + times
            if correction:
                pair = verdict, correction
                week.corrections[pair] = week.corrections.get(pair, 0) + times
        return sorted(found.values())

    def counts(self, since: float, user: str | None = None) -> dict[tuple[str, str | None], int]:
        """Count verdicts and the corrections of each since a time."""
        conditions, values = self._conditions(since=since, user=user)
        where = " AND ".join(conditions)
        found = self.database.execute(
            f"SELECT verdict, correction, count(*) FROM entries WHERE {where} GROUP BY 1, 2", values
        )
        return {(verdict, correction): times for verdict, correction, times in found}

    def scores(self, since: float, model: str | None = None) -> list[tuple[float, str, str | None]]:
        """List score, verdict and correction of all since a time."""
        condition = "" if model is None else "AND model = :model"
        return self.database.execute(
            f"SELECT score, verdict, correction FROM entries WHERE time >= :since {condition}",
            {"since": since, "model": model},
        ).fetchall()

    def models(self) -> list[str]:
        """List the paths of all models that judged."""
        return self._each("SELECT min(model) FROM entries WHERE model > ?")

    def sources(self, model: str, most: int) -> list[str]:
        """List where mail that a model judged came from, at most so many."""
        return self._each("SELECT min(source) FROM entries WHERE model = ? AND source > ?", model, most=most)

    def _each(self, query: str, *values: str, most: float = inf) -> list[str]:
        """List different values, one search of the index for each."""
        found: list[str] = []
        while len(found) < most:
            value = self.database.execute(query, (*values, found[-1] if found else "")).fetchone()[0]
            if not value:
                break
            found.append(value)
        return found
