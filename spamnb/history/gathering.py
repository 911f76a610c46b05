"""Gathering: verdicts of the log are taken into the database, and old ones removed."""

from __future__ import annotations

import os
from contextlib import suppress
from math import inf
from sqlite3 import Connection
from time import monotonic
from typing import Any

from spamnb.core.native import Message, digest, read
from spamnb.databases import transaction
from spamnb.errors import SpamnbError
from spamnb.files import printable
from spamnb.history import log
from spamnb.history.schema import SEPARATOR, Entry
from spamnb.inspection.in_words import short_reasons
from spamnb.model import Model
from spamnb.reading.dates import timestamp

READ_AT_ONCE = 4 << 20  # bytes of a file; more than the largest record
AT_ONCE = 100  # records taken in at once: another process that writes waits so long
MAX_TEXT = 300  # characters kept of a sender, a subject, a Message-ID
YEAR = 366 * log.DAY  # seconds
BYTES_OF_ENTRY = 2000  # more than it takes: of the size that the history may have, entries take a part only

Models = dict[str, Model | None]


def gather(database: Connection, folder: str, seconds: float = inf) -> int:
    """Take in what was appended since, and remove what is too old or too much; return how many came.

    After some seconds, but for one piece at least, the rest is left for another time.
    """
    models: Models = {}
    deadline = monotonic() + seconds
    gathered = 0
    for name in log.file_names(folder):
        gathered += gather_file(database, folder, name, models, deadline)
        if gathered and monotonic() > deadline:
            break
    return gathered


def bytes_left(database: Connection, folder: str) -> int:
    """Return how much is still to be taken in."""
    return sum(
        log.size_and_time(folder, name)[0] - done(database, folder, name) for name in log.file_names(folder)
    )


def gather_file(database: Connection, folder: str, name: str, models: Models, deadline: float) -> int:
    """Take in what is new in a file, piece by piece; with each, how far the file was read is stored."""
    gathered, end = 0, 1
    while end and log.size_and_time(folder, name)[0] != done(database, folder, name):
        with transaction(database):
            first = done(database, folder, name)
            # Were the file shorter after a loss of power, what comes then would be taken for gathered.
            data = log.read_piece(folder, name, first, READ_AT_ONCE, to_keep=True)
            records, end = log.unpacked_records(data)
            if len(records) > AT_ONCE:
                records, end = records[:AT_ONCE], records[AT_ONCE][0]
            verdicts, limits = 0, None
            for start, stop, fields in records:
                if "learned" in fields:
                    take_lessons(database, fields)
                    continue
                verdicts, limits = verdicts + 1, fields["limits"]
                place = {"file": name, "start": first + start, "length": stop - start}
                row = row_of(fields, models) | place
                if is_repeated(database, row):
                    continue
                names = ", ".join(row)
                database.execute(f"INSERT INTO entries ({names}) VALUES (:{', :'.join(row)})", row)
            if end:
                database.execute("REPLACE INTO files VALUES (?, ?)", (name, first + end))
            if limits:
                prune(database, folder, *limits)
        gathered += verdicts
        if monotonic() > deadline:
            break
    return gathered


def take_lessons(database: Connection, fields: dict[str, Any]) -> None:
    """Note as corrections what was learned, after it was judged, under another label than the verdict's.

    A delivery may have judged by a fallback what its owner's own model learns; a server judges for many.
    """
    path, label = shown_path(fields), fields["label"]
    learned = bytes(fields["learned"])
    for start in range(0, len(learned), 8):
        identity = int.from_bytes(learned[start : start + 8], "little", signed=True)
        found = database.execute(
            "SELECT id FROM entries WHERE digest = ? AND (model = ? OR source = 'classify') AND time <= ?"
            " AND correction IS NOT ? AND (verdict != ? OR correction IS NOT NULL)",
            (identity, path, fields["time"], label, label),
        ).fetchall()
        for (id_,) in found:
            if label is None:
                database.execute("DELETE FROM labels_before WHERE id = ?", (id_,))
            else:
                database.execute("INSERT OR IGNORE INTO labels_before VALUES (?, ?)", (id_, fields["before"]))
            database.execute("UPDATE entries SET correction = ? WHERE id = ?", (label, id_))


def is_repeated(database: Connection, row: dict[str, Any]) -> bool:
    """Whether `spamnb imap` said this of a message before: it was killed before it had noted that it did."""
    if not row["source"].startswith("imap "):
        return False
    found = database.execute(
        "SELECT verdict FROM entries WHERE digest = ? AND source = ? AND model = ? ORDER BY id DESC LIMIT 1",
        (row["digest"], row["source"], row["model"]),
    ).fetchone()
    return bool(found == (row["verdict"],))


def done(database: Connection, folder: str, name: str) -> int:
    """Bytes of a file that are gathered; 0 of one that has taken the place of another."""
    found = database.execute("SELECT done FROM files WHERE name = ?", (name,)).fetchone()
    return found[0] if found and found[0] <= log.size_and_time(folder, name)[0] else 0


def prune(database: Connection, folder: str, days: int, size: int) -> None:
    """Remove what is said of messages after a year, or later if they are kept longer, and beyond a size."""
    oldest = log.confirmed_now(folder) - max(YEAR, days * log.DAY)
    database.execute("DELETE FROM entries WHERE time < ?", (oldest,))
    most = size // BYTES_OF_ENTRY
    database.execute("DELETE FROM entries WHERE id <= (SELECT max(id) FROM entries) - ?", (most,))


def row_of(fields: dict[str, Any], models: Models) -> dict[str, Any]:
    """Make the row of a record: what the message tells of itself, and what the model saw in it."""
    message = read(log.message_of(fields))
    verdict = shown(fields["verdict"])
    ham, spam = fields["cutoffs"] or (None, None)
    identity = fields["digest"] if fields["digest"] is not None else digest(message)
    path = os.fsdecode(bytes(fields["model"]))
    taken = {name: fields[name] for name in Entry._fields if name in fields}
    return taken | {
        "verdict": verdict,
        "sender": shown(message.get("from") or ""),
        "subject": shown(message.get("subject") or ""),
        "message_id": shown(message.get("message-id") or ""),
        "digest": identity - (identity >> 63 << 64),
        "source": shown(str(fields["source"], "utf-8", "replace")),
        "model": shown_path(fields),
        "user": shown(str(fields["user"], "utf-8", "replace")),
        "date": date_of(message, fields["time"]),
        "reasons": reasons_of(message, fields, path, models),
        "ham_cutoff": ham,
        "spam_cutoff": spam,
    }


def shown_path(fields: dict[str, Any]) -> str:
    """Path of the model that a record is about."""
    return printable(os.fsdecode(bytes(fields["model"])))


def date_of(message: Message, judged: float) -> float:
    """Return when a message was sent, or else received: as far as that can be, or else when it was judged."""
    received = (message.get("received") or "").rpartition(";")[2]
    dates = map(timestamp, filter(None, (message.get("date"), received.strip())))
    return next((float(date) for date in dates if date and 0 < date <= judged + log.DAY), judged)


def reasons_of(message: Message, fields: dict[str, Any], path: str, models: Models) -> str:
    """Say why in a few words, by the model as it is now; nothing if it is gone or damaged."""
    with suppress(SpamnbError, OSError, ValueError):  # no path has a NUL
        if path not in models:
            models[path] = None
            models[path] = Model.open(path)
        if model := models[path]:
            features = model.features(message)
            score = model.score(features)
            verdict = model.decide(score)
            verdict.label, verdict.is_spam = fields["verdict"], fields["is_spam"]
            verdict.reason = fields["reason"] or ""
            found = short_reasons(model, message, features, score, verdict)
            return SEPARATOR.join(map(shown, found))
    return ""


def shown(text: str, most: int = MAX_TEXT) -> str:
    """Text from a stranger, of one line, not too long and harmless to a terminal."""
    return printable(" ".join(text[:most].split()))
