"""Corrections: learning a message under the label that a person gives it, and undoing that."""

from collections.abc import Iterable

from spamnb.errors import DataError
from spamnb.history.queries import History
from spamnb.history.schema import Entry
from spamnb.training.learn import learn, learned_label


def correct(history: History, ids: Iterable[int], label: str) -> None:
    """Learn messages under `label`. Store the corrections, and the labels learned before, for `undo`."""
    found = kept_messages(history, ids)
    history.remember_labels({entry.id: learned_label(entry.model, raw) for entry, raw in found})
    for entry, raw in found:
        learn(entry.model, raw, label, is_correction=True)
    history.correct([entry.id for entry, _ in found], label)


def undo(history: History, ids: Iterable[int]) -> None:
    """Learn corrected messages under their earlier labels again; forget those that had no earlier label."""
    for entry, raw in kept_messages(history, ids):
        if entry.correction is not None:
            learn(entry.model, raw, history.label_before(entry.id))
            history.correct([entry.id], None)


def kept_messages(history: History, ids: Iterable[int]) -> list[tuple[Entry, bytes]]:
    """Return the entry and bytes of each message; raise an error if the history does not have all bytes."""
    found = []
    for id_ in ids:
        entry, raw = history.entry(id_), history.message(id_)
        if entry is None or raw is None or len(raw) < entry.size:
            raise DataError("the message is no longer stored whole; learn it from a file with `spamnb train`")
        found.append((entry, raw))
    return found
