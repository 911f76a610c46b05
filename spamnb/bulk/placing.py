"""A new model takes the place of the old one, and what was learned meanwhile comes along."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from spamnb.counts.changes import carried_over
from spamnb.counts.journal import Journal
from spamnb.counts.store import Stored
from spamnb.errors import CannotCreate, ModelError, NoModel
from spamnb.files import sync_folder
from spamnb.lock import Lock

if TYPE_CHECKING:
    from typing import Any

    from spamnb.counts.journal import Entry


def put_in_place(path: str, new: str, before: Stored | None) -> None:
    """Rename a new model file. `before`: the old one and its journal, as they were when the new was begun.

    At every moment there is a model and a journal of all that it does not know: what was learned since then
    is written once more, for the generation of the new model, before that takes its place.
    """
    journal = path + ".journal"
    with Lock(path):
        old, later = learned_since(path, before)
        model = Stored(new)
        changes = []
        for entry in later if old and old.head["settings"] == model.head["settings"] else ():
            change = carried_over(entry, model)
            if change is not None:
                model.journal.add(change)
                changes.append(change)
        try:
            # The same generation if all was forgotten that was learned: then the journal holds for both.
            if old and changes and old.generation != model.generation:
                old.journal.append(journal, model.generation, changes)
            os.replace(new, path)
            sync_folder(path)
        except OSError as error:
            with suppress(OSError):
                os.unlink(new)
            raise CannotCreate(f"{path}: cannot write the model: {error.strerror}") from error
        with suppress(OSError):
            tidy(journal, model, changes)


def tidy(journal: str, model: Stored, changes: list[dict[str, Any]]) -> None:
    """Remove from the journal what is in the model. Were it left, it would do no harm."""
    if changes:
        Journal(model.generation, model.labels, [], 0).append(journal + ".new", model.generation, changes)
        os.replace(journal + ".new", journal)
        sync_folder(journal)  # before anything is added to it
    elif os.path.lexists(journal):
        os.unlink(journal)


def learned_since(path: str, before: Stored | None) -> tuple[Stored | None, list[Entry]]:
    """The model as it is now, and the entries of its journal that were not there before."""
    if before is None:
        return None, []
    try:
        old = Stored(path)
    except (NoModel, ModelError):
        return None, []  # gone or damaged meanwhile
    if old.generation != before.generation:
        return None, []  # somebody put another file there
    return old, old.journal.entries[len(before.journal.entries) :]
