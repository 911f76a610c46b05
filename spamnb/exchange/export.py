"""A model as text, for people and other programs: a line for each token, pair, gram and message.

The first line is a JSON object of all that is small. Then a line each, fields between tabs: `t` for a token
(days first and last seen, messages and occurrences of each label, the token), `p` for a pair of neighbours
(fingerprint, day, messages), `g` for a counter of grams (its number, messages), `m` for a message (digest,
label's index, score).
"""

import json
from collections.abc import Iterator

import numpy as np

from spamnb.store.stored_model import StoredModel
from spamnb.tables.loading import load_table

HEAD_FIELDS = ("settings", "view", "ham_loss", "cutoffs", "calibration", "misfiled", "margin", "base")


def exported(path: str) -> Iterator[str]:
    """Yield the lines of a model and its journal."""
    stored = StoredModel.open(path)
    table = load_table(stored).clipped()
    head = {name: stored.head[name] for name in HEAD_FIELDS if name in stored.head}
    head |= {"labels": table.labels, "messages": table.messages, "numbers": table.numbers}
    yield json.dumps(head, ensure_ascii=False)
    words = table.words
    tokens = table.tokens(np.flatnonzero(words).tolist())
    counts = np.concatenate(
        (table.first_days[None], table.last_days[None], table.message_counts, table.occurrence_counts)
    ).T
    for row, token in zip(counts[words].tolist(), tokens, strict=True):
        yield "\t".join(("t", *map(str, row), token))
    counts = np.concatenate((table.last_days[None], table.message_counts)).T
    for fingerprint, row in zip(table.fingerprints[~words].tolist(), counts[~words].tolist(), strict=True):
        yield "\t".join(("p", f"{fingerprint:016x}", *map(str, row)))
    for counter in np.flatnonzero(table.grams.any(axis=0)).tolist():
        yield "\t".join(("g", str(counter), *map(str, table.grams[:, counter].tolist())))
    learned = table.learned
    columns = learned.digests.tolist(), learned.labels.tolist(), learned.scores.tolist()
    for digest, label, score in zip(*columns, strict=True):
        yield f"m\t{digest:016x}\t{label}\t{score!r}"
