"""Copying verdicts from the log into the database, and removing old ones."""

from __future__ import annotations

import os
from contextlib import suppress
from math import inf
from sqlite3 import Connection
from time import monotonic
from typing import Any

from spamnb.core.native import Message, hash_of_message, read
from spamnb.databases import transaction
from spamnb.errors import SpamnbError
from spamnb.files import printable
from spamnb.history import log
from spamnb.history.schema import SEPARATOR, Entry
from spamnb.inspection.in_words import short_reasons
from spamnb.model import Model
from spamnb.reading.dates import timestamp
from spamnb.reading.envelope import sender_once

READ_AT_ONCE = 4 << 20  # bytes of a file; more than the largest record
AT_ONCE = 100  # records per transaction: other writers wait meanwhile
MAX_TEXT = 300  # characters kept of a sender, a subject, a Message-ID
YEAR = 366 * log.DAY  # seconds
BYTES_OF_ENTRY = 2000  # an upper estimate, to limit entries by the size of the history

Models = dict[str, Model | None]


def gather(database: Connection, folder: str, seconds: float = inf) -> int:
    """Copy new verdicts from the log into the database and remove old ones; return the number of new ones.

    Stop after `seconds`, but copy at least one piece of the log.
    """
    models: Models = {}
    deadline = monotonic() + seconds
    gathered = 0
    for name in log.file_names(folder):
        gathered += gather_file(database, folder, name, models, deadline)
        if gathered and monotonic() > deadline:
            break
    return gathered


def gather_file(database: Connection, folder: str, name: str, models: Models, deadline: float) -> int:
    """Copy the new records of a log file, piece by piece; return how many of them are verdicts."""
    gathered, end = 0, 1
    while end and log.size_and_time(folder, name)[0] != copied(database, folder, name):
        with transaction(database):
            first = copied(database, folder, name)
            # Synced: if a loss of power shortened the file later, records added then would be skipped.
            data = log.read_piece(folder, name, first, READ_AT_ONCE, to_keep=True)
            records, end = log.unpacked_records(data)
            if len(records) > AT_ONCE:
                records, end = records[:AT_ONCE], records[AT_ONCE][0]
            verdicts, limits = 0, None
            for start, stop, fields in records:
                if "learned" in fields:
                    store_corrections(database, fields)
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


def store_corrections(database: Connection, fields: dict[str, Any]) -> None:
    """Store a correction of each verdict whose message was later learned under another label.

    `fields` is the log record of what was learned. Only verdicts of the same model are corrected, and those
    of `classify`, which may have used a fallback model.
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
    """Return whether a verdict is a repeated one: after a kill, `spamnb imap` logs some verdicts again."""
    if not row["source"].startswith("imap "):
        return False
    found = database.execute(
        "SELECT verdict FROM entries WHERE digest = ? AND source = ? AND model = ? ORDER BY id DESC LIMIT 1",
        (row["digest"], row["source"], row["model"]),
    ).fetchone()
    return bool(found == (row["verdict"],))


def copied(database: Connection, folder: str, name: str) -> int:
    """Return how many bytes of the log file `name` were copied before; 0 if a shorter file replaced it."""
    found = database.execute("SELECT done FROM files WHERE name = ?", (name,)).fetchone()
    return found[0] if found and found[0] <= log.size_and_time(folder, name)[0] else 0


def prune(database: Connection, folder: str, days: int, size: int) -> None:
    """Remove entries older than a year (or `days`, if longer), and the oldest beyond about `size` bytes."""
    oldest = log.confirmed_now(folder) - max(YEAR, days * log.DAY)
    database.execute("DELETE FROM entries WHERE time < ?", (oldest,))
    most = size // BYTES_OF_ENTRY
    database.execute("DELETE FROM entries WHERE id <= (SELECT max(id) FROM entries) - ?", (most,))


def row_of(fields: dict[str, Any], models: Models) -> dict[str, Any]:
    """Return the database row for a log record: its fields, the message's headers, and the reasons."""
    message = read(log.message_of(fields))
    verdict = safe_text(fields["verdict"])
    ham, spam = fields["cutoffs"] or (None, None)
    identity = fields["digest"] if fields["digest"] is not None else hash_of_message(message)
    path = os.fsdecode(bytes(fields["model"]))
    taken = {name: fields[name] for name in Entry._fields if name in fields}
    return taken | {
        "verdict": verdict,
        "sender": sender_once(safe_text(message.get("from") or "")),
        "subject": safe_text(message.get("subject") or ""),
        "message_id": safe_text(message.get("message-id") or ""),
        "digest": identity - (identity >> 63 << 64),
        "source": safe_text(str(fields["source"], "utf-8", "replace")),
        "model": shown_path(fields),
        "user": safe_text(str(fields["user"], "utf-8", "replace")),
        "date": date_of(message, fields["time"]),
        "reasons": reasons_of(message, fields, path, models),
        "ham_cutoff": ham,
        "spam_cutoff": spam,
    }


def shown_path(fields: dict[str, Any]) -> str:
    """Return the path of the model in a log record, safe to print."""
    return printable(os.fsdecode(bytes(fields["model"])))


def date_of(message: Message, judged: float) -> float:
    """Return the first plausible date in the headers Date and Received; if there is none, return `judged`."""
    received = (message.get("received") or "").rpartition(";")[2]
    dates = map(timestamp, filter(None, (message.get("date"), received.strip())))
    return next((float(date) for date in dates if date and 0 < date <= judged + log.DAY), judged)


def reasons_of(message: Message, fields: dict[str, Any], path: str, models: Models) -> str:
    """Give reasons for a verdict in a few words, by the present model; "" if the model is gone or damaged."""
    with suppress(SpamnbError, OSError, ValueError):  # ValueError: the path has a NUL
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
            return SEPARATOR.join(map(safe_text, found))
    return ""


def safe_text(text: str, most: int = MAX_TEXT) -> str:
    """Make untrusted text one line of limited length, safe for a terminal."""
    return printable(" ".join(text[:most].split()))
