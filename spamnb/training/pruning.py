"""Words that came long ago and hardly ever leave the model: a file that only grows is no use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spamnb.clock import today
from spamnb.lock import TRAINING, Lock
from spamnb.model import settings_of, view_of
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.loading import load_table
from spamnb.training.train import write

if TYPE_CHECKING:
    from spamnb.arrays import Array

OLD, RARE = 180, 2  # days; messages, up to which a token is rare


@dataclass(frozen=True)
class Pruned:
    """Before and after: tokens, pairs of neighbours, bytes of the file."""

    tokens: tuple[int, int]
    pairs: tuple[int, int]
    size: tuple[int, int]


def prune(path: str, days: int = OLD, rare: int = RARE, *, try_only: bool = False) -> Pruned:
    """Drop what was not seen for so many days, and never in more messages than are rare."""
    with Lock(path, kind=TRAINING):
        stored = StoredModel.open(path)
        table, size = load_table(stored).settled(), os.path.getsize(path)
        kept = table.only(~expired(table, today() - days, rare))
        if not try_only and (len(kept) < len(table) or stored.journal.records):
            view, settings = view_of(stored), settings_of(stored)
            write(path, kept, settings, view, stored.head["ham_loss"], stored)
        words, left = int(table.words.sum()), int(kept.words.sum())
        return Pruned((words, left), (len(table) - words, len(kept) - left), (size, os.path.getsize(path)))


def expired(table: CountTable, before: int, rare: int) -> Array:
    """Which tokens were last seen before a day, and are rare."""
    return (table.days < before) & (table.message_counts.sum(axis=0) <= rare)
