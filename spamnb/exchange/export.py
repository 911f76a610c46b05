"""Export a model as text, for people and other programs: a line for each token, pair, gram and message.

The first line is a JSON object: labels, settings, cutoffs and so on. Other lines have fields separated by
tabs. The first field says what follows: `t` a token (days first and last seen, messages and occurrences of
each label, the token), `p` a pair (fingerprint, day last seen, messages of each label), `g` a counter of
grams (its number, messages of each label), `m` a learned message (hash, index of its label, score).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from spamnb.store.merging import sum_grams, sum_numbers
from spamnb.store.stored_model import StoredModel, load_learned

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.core.native import Entries

HEAD_FIELDS = ("settings", "view", "ham_loss", "cutoffs", "calibration", "misfiled", "margin", "base")


def exported(path: str) -> Iterator[str]:
    """Yield the lines of an export of a model, including its journal."""
    stored = StoredModel.open(path)
    head = {name: stored.head[name] for name in HEAD_FIELDS if name in stored.head}
    head |= {"labels": stored.labels, "messages": stored.messages, "numbers": sum_numbers(stored)}
    yield json.dumps(head, ensure_ascii=False)
    for entries in stored.entries():
        yield from token_lines(entries)
    for entries in stored.entries():
        yield from pair_lines(entries)
    for counter, counts in sum_grams(stored).above_zero():
        yield "\t".join(("g", str(counter), *map(str, counts)))
    for message_hash, label, score, _ in load_learned(stored).messages():
        yield f"m\t{message_hash:016x}\t{label}\t{score!r}"


def token_lines(entries: Entries) -> Iterator[str]:
    """Yield a line for each token in `entries`; entries of a model file are tokens and pairs."""
    days = [np.frombuffer(each, np.uint16) for each in (entries.first_days, entries.last_days)]
    counts = counts_of(entries)
    words = np.flatnonzero(counts[:, entries.label_count :].any(axis=1))
    ends = np.frombuffer(entries.text_ends, np.uint32)
    starts, letters = np.concatenate(([0], ends[:-1])), bytes(entries.letters)
    rows = np.column_stack((*days, counts))[words].tolist()
    for row, start, end in zip(rows, starts[words].tolist(), ends[words].tolist(), strict=True):
        yield "\t".join(("t", *map(str, row), letters[start:end].decode("utf-8", "replace")))


def pair_lines(entries: Entries) -> Iterator[str]:
    """Yield a line for each pair in `entries`; a pair is an entry whose occurrences are not counted."""
    keys, days = np.frombuffer(entries.keys, np.uint64), np.frombuffer(entries.last_days, np.uint16)
    counts = counts_of(entries)
    pairs = np.flatnonzero(~counts[:, entries.label_count :].any(axis=1))
    rows = np.column_stack((days, counts[:, : entries.label_count]))[pairs].tolist()
    for key, row in zip(keys[pairs].tolist(), rows, strict=True):
        yield "\t".join(("p", f"{key:016x}", *map(str, row)))


def counts_of(entries: Entries) -> Array:
    """Return an array with a row for each entry: its messages by label, then its occurrences by label."""
    return np.frombuffer(entries.counts, np.int64).reshape(-1, 2 * entries.label_count)
