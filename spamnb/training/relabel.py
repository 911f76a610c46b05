"""Renaming and removing labels."""

from __future__ import annotations

from spamnb.errors import UsageError
from spamnb.labels import LABELS, SPAM
from spamnb.lock import TRAINING, Lock
from spamnb.store.merging import Source
from spamnb.store.stored_model import StoredModel, load_learned
from spamnb.training.plan import About
from spamnb.training.writing import add_up, indices_of, kept_labels, put_in_place


def relabel(path: str, old: str, new: str | None = None) -> int:
    """Rename a label or, if `new` is None, remove it and its counts; return how many messages the label had.

    If the model already has a label with the new name, both become one label.
    """
    with Lock(path, kind=TRAINING):
        stored = check_relabel(path, old, new)
        renamed = {old: new}
        names = [renamed.get(label, label) for label in stored.labels]
        labels = list(dict.fromkeys(name for name in names if name))
        labels = list(LABELS) if set(labels) <= set(LABELS) else labels
        kept = kept_labels(labels, [Source(stored)], renamed)
        total = add_up(path, labels, kept, [Source(stored)], renamed)
        learned = load_learned(stored)
        if new in stored.labels:  # scored under the old label
            learned.forget_scores(stored.labels.index(old))
        learned.relabel(indices_of(names, kept))
        put_in_place(path, total, learned, About.of(stored), stored)
    return stored.messages[stored.labels.index(old)]


def check_relabel(path: str, old: str, new: str | None) -> StoredModel:
    """Open a model; raise an error if its label `old` cannot be renamed (removed, if `new` is None)."""
    stored = StoredModel.open(path)
    if old not in stored.labels:
        raise UsageError(f"{path}: has no label {old!r}; its labels are: {', '.join(stored.labels)}")
    if old == SPAM:
        raise UsageError("the label spam cannot be renamed or removed, because the cutoffs are for spam")
    if new is None and len(stored.labels) == 1:
        raise UsageError(f"{path}: {old} is its only label; to start over, train with --fresh")
    return stored
