"""Removing rare words that were not seen for a long time, so that a model does not grow forever."""

from __future__ import annotations

import os
from dataclasses import dataclass

from spamnb.clock import today
from spamnb.lock import TRAINING, Lock
from spamnb.store.stored_model import StoredModel
from spamnb.training.writing import rewrite, sum_of

OLD_DAYS, RARE_MESSAGES = 180, 2  # a token in at most this many messages is rare


@dataclass(frozen=True)
class Pruned:
    """Sizes of a model before and after pruning: tokens, pairs of neighbouring words, bytes of the file."""

    tokens: tuple[int, int]
    pairs: tuple[int, int]
    size: tuple[int, int]


def prune(path: str, days: int = OLD_DAYS, rare: int = RARE_MESSAGES, *, try_only: bool = False) -> Pruned:
    """Remove tokens and pairs of at most `rare` messages, last seen over `days` days ago; return sizes."""
    with Lock(path, kind=TRAINING):
        stored, size = StoredModel.open(path), os.path.getsize(path)
        total = sum_of(stored, oldest_day=max(0, today() - days), rare=rare)
        tokens = stored.vocabulary, total.totals.vocabulary
        pairs = stored.pair_vocabulary, total.totals.pair_vocabulary
        if not try_only and (tokens[0] > tokens[1] or pairs[0] > pairs[1] or stored.journal.records):
            rewrite(stored, total)
        return Pruned(tokens, pairs, (size, os.path.getsize(path)))
