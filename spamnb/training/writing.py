"""Writing a model: its counts added up, with the cutoffs that the scores of its mail ask for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spamnb.core.native import NOT_LEARNED, LearnedMessages
from spamnb.store.learned import load_learned
from spamnb.store.merging import Merged, Run, Source, merged
from spamnb.store.writing import write_model
from spamnb.training.labels import with_mail
from spamnb.training.limits import find_limits
from spamnb.training.plan import About
from spamnb.training.replacing import replace_model

if TYPE_CHECKING:
    from spamnb.store.stored_model import StoredModel

Names = Mapping[str, str | None]  # the name of a label → the one that it gets, None if it goes


def kept_labels(labels: Sequence[str], sources: Sequence[Source], renamed: Names | None = None) -> list[str]:
    """Return those of the labels that a sum of counts keeps."""
    messages = dict.fromkeys(labels, 0)
    for source in sources:
        if not isinstance(source.counts, Run):  # a run has no counts of messages
            for label, count in zip(source.counts.labels, source.counts.messages, strict=True):
                name = (renamed or {}).get(label, label)
                if name is not None:
                    messages[name] += source.sign * count
    return with_mail(labels, [max(0, count) for count in messages.values()])


def add_up(
    path: str,
    labels: Sequence[str],
    kept: Sequence[str],
    sources: Sequence[Source],
    renamed: Names | None = None,
    **options: Any,
) -> Merged:
    """Add up counts for a model at a path, without labels that are not kept."""
    names: dict[str, str | None] = dict(zip(labels, labels, strict=True))
    names.update(renamed or {})
    relabel = {old: new if new in kept else None for old, new in names.items()}
    return merged(kept, sources, relabel=relabel, folder=os.path.dirname(path) or ".", **options)


def indices_of(labels: Sequence[str | None], kept: Sequence[str]) -> list[int]:
    """Return the index of each label among those kept, or NOT_LEARNED."""
    return [kept.index(label) if label in kept else NOT_LEARNED for label in labels]


def put_in_place(
    path: str,
    total: Merged,
    learned: LearnedMessages,
    about: About,
    before: StoredModel | None = None,
    limits: Mapping[str, Any] | None = None,
) -> None:
    """Write a model in place of the one before; what that one learned meanwhile is carried over.

    Without `limits`, these follow from the scores that it keeps. The caller holds the lock on training.
    """
    limits = limits or find_limits(total.labels, learned, about)
    new = write_model(path, total, learned, {**about.as_map(), **limits})
    replace_model(path, new, before)


def sum_of(stored: StoredModel, **options: Any) -> Merged:
    """Add up a model and its journal."""
    sources = [Source(stored)]
    kept = kept_labels(stored.labels, sources)
    return add_up(stored.path, stored.labels, kept, sources, **options)


def rewrite(stored: StoredModel, total: Merged) -> None:
    """Write a model again, with other counts of its mail. The caller holds the lock on training."""
    learned = load_learned(stored)
    learned.relabel(indices_of(stored.labels, total.labels))
    put_in_place(stored.path, total, learned, About.of(stored), stored)


def put_empty(path: str, labels: Sequence[str], about: About, before: StoredModel | None = None) -> None:
    """Write a model that knows no mail. The caller holds the lock on training."""
    put_in_place(path, merged(labels, []), LearnedMessages(), about, before)
