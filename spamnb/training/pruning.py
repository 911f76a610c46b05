"""Dropping words that are rare and were not seen for long: a file that only grows is no use."""

from __future__ import annotations

import os
from dataclasses import dataclass

from spamnb.clock import today
from spamnb.lock import TRAINING, Lock
from spamnb.store.stored_model import StoredModel

OLD_DAYS, RARE_MESSAGES = 180, 2  # a rare token is in at most so many messages


@dataclass(frozen=True)
class Pruned:
    """Sizes of a model before and after: tokens, pairs of neighbours, bytes of the file."""

    tokens: tuple[int, int]
    pairs: tuple[int, int]
    size: tuple[int, int]


def prune(path: str, days: int = OLD_DAYS, rare: int = RARE_MESSAGES, *, try_only: bool = False) -> Pruned:
    """Drop tokens that were not seen for so many days, and are in no more messages than `rare`."""
    from spamnb.tables.loading import load_table
    from spamnb.training.writing import rewrite

    with Lock(path, kind=TRAINING):
        stored = StoredModel.open(path)
        table, size = load_table(stored).clipped(), os.path.getsize(path)
        is_old = table.last_days < today() - days
        kept = table.only(~(is_old & (table.message_counts.sum(axis=0) <= rare)))
        if not try_only and (len(kept) < len(table) or stored.journal.records):
            rewrite(stored, kept)
        words, left = int(table.words.sum()), int(kept.words.sum())
        return Pruned((words, left), (len(table) - words, len(kept) - left), (size, os.path.getsize(path)))
