"""Replacing a model file by a new one, which also gets the messages learned meanwhile."""

import os
from contextlib import suppress
from typing import Any

from spamnb.errors import CannotCreate, ModelError, NoModel
from spamnb.files import sync_folder
from spamnb.lock import Lock
from spamnb.model import settings_of
from spamnb.store.changes import carried_over, change
from spamnb.store.copying import write
from spamnb.store.journal import Journal, JournalRecord, read_bytes
from spamnb.store.stored_model import StoredModel

DAMAGED_SUFFIX = ".damaged"  # of a damaged journal that is kept


def replace_model(path: str, new: str, before: StoredModel | None) -> None:
    """Put the model file `new` in place of the old one; `before` is the old model when `new` was begun.

    Messages learned since then are first written to the journal again, as records for the new model. So at
    every moment, even after a crash, the journal has all changes that the model file in place lacks.
    """
    journal = path + ".journal"
    try:
        model = StoredModel(new)
        with Lock(path):
            old, later = learned_since(path, before)
            changes = []
            for record in later if old and same_tokens(old, model) else ():
                fields = carried_over(record, model)
                if fields is not None:
                    model.journal.add(fields)
                    changes.append(fields)
            try:
                # If all that was learned was forgotten again, both have one generation: the journal fits.
                if (
                    old
                    and old.generation != model.generation
                    and (first := changes or tombstone_record(old, model))
                ):
                    old.journal.append(journal, model.generation, first)
                os.replace(new, path)
            except OSError as error:
                raise CannotCreate(f"{path}: cannot write the model: {error.strerror}") from error
            try:
                sync_folder(path)
            except OSError as error:  # the journal stays: the old model may come back
                why = f"the new model was written, but may be lost in a crash: {error.strerror}"
                raise CannotCreate(f"{path}: {why}") from error
            with suppress(OSError):
                if old and old.journal.damaged:  # kept for inspection: its sound records are in the model
                    write(journal + DAMAGED_SUFFIX, [read_bytes(journal)])
                shorten_journal(journal, model, changes)
    finally:
        with suppress(OSError):
            os.unlink(new)  # left by a failure


def tombstone_record(old: StoredModel, new: StoredModel) -> list[dict[str, Any]]:
    """Return [an empty record] if `new` lacks messages of the old journal: without it, they seem lost."""
    if all(new.label_of(message_hash) == label for message_hash, label in old.journal.learned.items()):
        return []
    return [change(new, 0, None, None, 0, (b"", b"", b"", b"", b""), {})]


def same_tokens(old: StoredModel, new: StoredModel) -> bool:
    """Return whether both models split messages into the same tokens."""
    try:
        return settings_of(old) == settings_of(new)
    except ModelError:
        return False


def shorten_journal(journal: str, model: StoredModel, changes: list[dict[str, Any]]) -> None:
    """Remove all records except `changes` from the journal; it does no harm if some of them stay."""
    if changes:
        Journal(model.labels).append(journal + ".new", model.generation, changes)
        os.replace(journal + ".new", journal)
        sync_folder(journal)  # before anything is added to the journal
    else:
        for path in (journal, journal + ".new"):  # the latter left by a crash
            if os.path.lexists(path):
                os.unlink(path)


def learned_since(path: str, before: StoredModel | None) -> tuple[StoredModel | None, list[JournalRecord]]:
    """Return the current model, and journal records added since `before`; (None, []) if it was replaced."""
    if before is None:
        return None, []
    try:
        old = StoredModel(path)
    except (NoModel, ModelError):
        return None, []  # removed or damaged meanwhile
    if old.generation != before.generation:
        return None, []  # another file took its place
    return old, [record for record in old.journal.records if record.end > before.journal.size]
