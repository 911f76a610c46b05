"""Renaming and removing a label: its column of counts gets another name, or goes."""

from dataclasses import replace

import numpy as np

from spamnb.errors import UsageError
from spamnb.labels import LABELS, SPAM
from spamnb.lock import TRAINING, Lock
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.learned import SCORES
from spamnb.tables.loading import load_table
from spamnb.training.writing import rewrite


def relabel(path: str, old: str, new: str | None = None) -> int:
    """Rename a label, or remove it and its mail (None); return how many messages it had.

    If the new name is that of another label, its mail is added to that one's.
    """
    with Lock(path, kind=TRAINING):
        stored = check_relabel(path, old, new)
        table = load_table(stored).clipped()
        count = table.messages[table.labels.index(old)]
        rewrite(stored, renamed(table, old, new))
    return count


def check_relabel(path: str, old: str, new: str | None) -> StoredModel:
    """Open a model, and raise an error if its label cannot be renamed or removed."""
    stored = StoredModel.open(path)
    if old not in stored.labels:
        raise UsageError(f"{path}: has no label {old!r}; there are: {', '.join(stored.labels)}")
    if old == SPAM:
        raise UsageError("spam cannot be renamed or removed: the cutoffs are for it")
    if new is None and len(stored.labels) == 1:
        raise UsageError(f"{path}: {old} is its only label; to begin again, train with --fresh")
    return stored


def renamed(table: CountTable, old: str, new: str | None) -> CountTable:
    """Give a label of a table another name, or take it out (None)."""
    if new in table.labels:  # as mail of the old label it scored otherwise
        moved = table.learned.labels == table.labels.index(old)
        scored = {name: np.where(moved, np.nan, getattr(table.learned, name)) for name in SCORES}
        table = replace(table, learned=replace(table.learned, **scored))
    names = [new if label == old else label for label in table.labels]
    table = replace(table, labels=tuple(name or "" for name in names))
    kept = list(dict.fromkeys(name for name in names if name))
    table = table.relabelled(list(LABELS) if set(kept) <= set(LABELS) else kept)
    return replace(table.only(np.any(table.message_counts, axis=0)), learned=table.learned.remaining())
