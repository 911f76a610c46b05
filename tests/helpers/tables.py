"""Make tables of counts, write models from them, and read all contents of a model, to compare models."""

import os

import numpy as np

from spamnb.core.native import CountTable, LearnedMessages, fingerprints_of
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings
from spamnb.store.merging import Source, merged
from spamnb.store.stored_model import StoredModel
from spamnb.store.writing import write_model

ABOUT = {  # all that a model has beside its counts
    "settings": Settings().as_map(),
    "view": DEFAULT_VIEW.as_map(),
    "ham_loss": 0.001,
    "cutoffs": [-1.0, 1.0],
    "calibration": [1.0, 0.0],
}


def fingerprint(token):
    return fingerprints_of([token])[0]


def add_message(table, label, words, pairs=(), grams=(), sign=1, day=0):
    """Add a message to a table, or subtract it. `words`: text → how often; `pairs`: fingerprints."""
    known = sorted((fingerprint(word), times, word) for word, times in words.items())
    table.add_lesson(
        np.array([key for key, _, _ in known], np.uint64).tobytes(),
        np.array([times for _, times, _ in known], np.uint16).tobytes(),
        b"".join(word.encode() + b"\n" for _, _, word in known),
        np.array(sorted(pairs), np.uint64).tobytes(),
        np.array(sorted(grams), np.uint32).tobytes(),
        [(table.labels.index(label), sign)],
        day,
    )


def saved(path, table, learned=None, **about):
    """Write a table as a model file at `path`, and return the path."""
    path = str(path)
    os.replace(
        write_model(
            path, merged(table.labels, [Source(table)]), learned or LearnedMessages(), {**ABOUT, **about}
        ),
        path,
    )
    return path


def stored(folder, rows):
    """Return a model made of `rows`: {fingerprint: (messages of ham, of spam)}; its text is the number."""
    table = CountTable(("ham", "spam"))
    for number, row in rows.items():
        table.add_word(number, b"%d" % number, list(row), 1)
    return StoredModel.open(saved(folder / "model", table))


def entries_of(pieces):
    """Return entries as {fingerprint: (text, counts, first day, last day)}."""
    found = {}
    for entries in pieces:
        columns = [
            np.frombuffer(column, kind)
            for column, kind in (
                (entries.keys, np.uint64),
                (entries.counts, np.int64),
                (entries.first_days, np.uint16),
                (entries.last_days, np.uint16),
                (entries.text_ends, np.uint32),
            )
        ]
        keys, counts, first_days, last_days, ends = [column.tolist() for column in columns]
        text, width, start = bytes(entries.letters), 2 * entries.label_count, 0
        for n, key in enumerate(keys):
            row = tuple(counts[n * width : (n + 1) * width])
            found[key] = text[start : ends[n]].decode(), row, first_days[n], last_days[n]
            start = ends[n]
    return found


def grams_of(stored):
    """Return {gram: messages of each label that have it}, for all grams; the journal is included."""
    return stored.counts.lookup_grams(range(1 << 18))


def contents(path):
    """Return all counts of a model and its journal, to compare them."""
    model = StoredModel.open(str(path))
    return {
        "labels": model.labels,
        "messages": model.messages,
        "numbers": model.numbers,
        "entries": entries_of(model.entries()),
        "grams": grams_of(model),
    }
