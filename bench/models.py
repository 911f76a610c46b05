"""Models of any size with the same real words, to measure the cost of size alone."""

from __future__ import annotations

import os

import numpy as np

from spamnb.core.native import CountTable, LearnedMessages
from spamnb.inspection.words import words_of
from spamnb.store.merging import Source, merged
from spamnb.store.stored_model import StoredModel
from spamnb.store.writing import write_model

SMALL, LARGE = 50_000, 5_000_000
LENGTH = 12  # characters of a made-up token
TOKENS_A_MESSAGE = 20  # new ones; as in corpora.resampled


def make(path: str, trained: str, tokens: int) -> None:
    """Make a model with the most frequent words of a trained model, and made-up words up to `tokens`."""
    stored = StoredModel.open(trained)
    table = CountTable(stored.labels)
    table.add_messages(stored.messages)
    add_frequent(table, stored, min(SMALL, tokens))
    learned = add_made_up(table, max(0, tokens - len(table)))
    about = {name: stored.head[name] for name in ("settings", "view", "ham_loss", "cutoffs", "calibration")}
    total = merged(stored.labels, [Source(table)], folder=os.path.dirname(path))
    os.replace(write_model(path, total, learned, about), path)


def add_frequent(table: CountTable, stored: StoredModel, tokens: int) -> None:
    blocks = list(words_of(stored))
    messages = np.concatenate([words.message_counts.sum(axis=0) for words in blocks])
    least = np.sort(messages)[-min(tokens, len(messages))]
    for words in blocks:
        for n in np.flatnonzero(words.message_counts.sum(axis=0) >= least).tolist():
            if len(table) < tokens:
                row = words.message_counts[:, n].tolist()
                table.add_word(
                    int(words.fingerprints[n]), words.text(n).encode(), row, int(words.last_days[n])
                )


def add_made_up(table: CountTable, tokens: int, seed: int = 1) -> LearnedMessages:
    """Add made-up words to a table, and return made-up learned messages."""
    draw, labels = np.random.default_rng(seed), len(table.labels)
    letters = draw.integers(ord("a"), ord("z") + 1, (tokens, LENGTH), np.uint8)
    columns = (
        draw.integers(0, 2**64, tokens, np.uint64),
        draw.integers(0, labels, tokens),
        draw.geometric(0.5, tokens),
    )
    for text, key, label, count in zip(letters, *(column.tolist() for column in columns), strict=True):
        row = [0] * labels
        row[label] = count
        table.add_word(key, text.tobytes(), row, 1)
    messages = tokens // TOKENS_A_MESSAGE
    of_label = draw.integers(0, labels, messages)
    table.add_messages(np.bincount(of_label, minlength=labels).tolist())
    learned = LearnedMessages()
    for message_hash, label in zip(
        draw.integers(0, 2**64, messages, np.uint64).tolist(), of_label.tolist(), strict=True
    ):
        learned.set(message_hash, label)
    return learned
