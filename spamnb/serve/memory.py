"""A model in memory, for a server: its counts are read once."""

from __future__ import annotations

from spamnb.model import Model

MOST_COUNT_BYTES = 64 << 20  # the counts of a larger model stay on disk


def open_in_memory(path: str, before: Model | None = None) -> Model:
    """Open a model to judge many messages by, in place of the one opened before."""
    model = Model.open(path)
    if model.stored.count_bytes <= MOST_COUNT_BYTES:
        model.stored.load(before.stored if before else None)
    return model
