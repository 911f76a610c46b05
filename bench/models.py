"""Models of any size that know the same words: what a model's size alone costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import Texts
from spamnb.model import settings_of
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.learned import LearnedMessages
from spamnb.tables.loading import load_table
from spamnb.training.writing import write

if TYPE_CHECKING:
    from peers import Array

SMALL, LARGE = 50_000, 5_000_000
LENGTH = 12  # characters of a made-up token
TOKENS_A_MESSAGE = 20  # new ones; as in corpora.resampled


def make(path: str, trained: str, tokens: int) -> None:
    """The most frequent words of a trained model, filled up with made-up ones to a number of tokens."""
    stored = StoredModel.open(trained)
    known = frequent(load_table(stored), min(SMALL, tokens))
    more = tokens - len(known.fingerprints)
    write(path, sum_tables([known, made_up(known, more)]) if more > 0 else known, settings_of(stored))


def frequent(table: CountTable, tokens: int) -> CountTable:
    order = np.argsort(-table.message_counts.sum(axis=0), kind="stable")
    kept = np.zeros(len(order), bool)
    kept[order[:tokens]] = True
    return table.only(kept)


def made_up(like: CountTable, tokens: int, seed: int = 1) -> CountTable:
    draw = np.random.default_rng(seed)
    fingerprints = np.unique(draw.integers(0, 2**64, tokens, np.uint64))
    many = len(fingerprints)
    labels = len(like.labels)
    message_counts: Array = np.zeros((labels, many), like.message_counts.dtype)
    message_counts[draw.integers(0, labels, many), np.arange(many)] = draw.geometric(0.5, many)
    messages = many // TOKENS_A_MESSAGE
    digests = draw.integers(0, 2**64, messages, np.uint64).tolist()
    places = draw.integers(0, labels, messages)
    days = np.full(many, like.last_days.max(), like.last_days.dtype)
    return replace(
        like,
        messages=tuple(np.bincount(places, minlength=labels).tolist()),
        numbers={},
        fingerprints=fingerprints,
        texts=Texts(
            np.arange(1, many + 1) * LENGTH, draw.integers(ord("a"), ord("z") + 1, many * LENGTH, np.uint8)
        ),
        message_counts=message_counts,
        occurrence_counts=message_counts,
        first_days=days,
        last_days=days,
        learned=LearnedMessages.of(digests, places.tolist()),
    )
