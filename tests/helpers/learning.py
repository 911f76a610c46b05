"""Messages to learn, and a function that reads all counts of a model that has learned them."""

import os
import shutil
from pathlib import Path

from helpers.textbook import counted, pair_rows_of, pairs_in, rows_of
from helpers.waiting import PATIENCE
from spamnb.core.native import Tokenizer, hash_of_message, read
from spamnb.lock import TRAINING, Lock
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.workers import LocalPool

MAIL = [
    b"Subject: lunch\nDate: Mon, 1 Jan 2024 10:00:00 +0100\n\nsee you at noon\n",
    b"Subject: lunch\nTo: ann@example.org, bob@example.org\n\nnoon is fine! see you\n",
    b"Subject: money\n\nbuy now now now\n",
    b"Subject: BUY\nContent-Type: text/html\n\n<b>buy</b> <a href='http://example.com/money'>now</a>\n",
    b"just a body, see noon",
    b"Subject: empty\n\n",
    b"",
]


FEATURES = [Tokenizer(Settings()).features(read(raw)) for raw in MAIL]
TOKENS = sorted({token for features in FEATURES for token in counted(features)})
PAIRS = sorted({pair for features in FEATURES for pair in pairs_in(features)})
GRAMS = sorted({counter for features in FEATURES for counter in features.grams})


def fold(path):
    with Lock(path, kind=TRAINING):
        training.fold(path)


def journal_of(path):
    return Path(path + ".journal")


def train_bulk(folder, mail, name="bulk", **options):
    """Write pairs (message, label) to files, train a model on these at once, and return its path."""
    sources: dict[str, list[str]] = {}
    for number, (raw, label) in enumerate(mail):
        path = os.path.join(folder, f"{name}.{number:03}")
        Path(path).write_bytes(raw)
        sources.setdefault(label, []).append(path)
    path = os.path.join(folder, name)
    training.train(path, sources, pool=LocalPool(1), **options)
    return path


def seen(path, mail=MAIL, tokens=TOKENS):
    """Return all that a model says about its counts, to compare it with another model."""
    stored = StoredModel.open(path)
    return {
        "labels": stored.labels,
        "messages": stored.messages,
        "presences": stored.presences,
        "occurrences": stored.occurrences,
        "vocabulary": stored.vocabulary,
        "pair_presences": stored.pair_presences,
        "pair_vocabulary": stored.pair_vocabulary,
        "pair_rows": {pair: list(row) for pair, row in pair_rows_of(stored, PAIRS).items()},
        "gram_rows": {counter: list(row) for counter, row in stored.counts.lookup_grams(GRAMS).items()},
        "numbers": {name: sums for name, sums in stored.numbers.items() if any(n for n, _, _ in sums)},
        "rows": {token: list(row) for token, row in rows_of(stored, tokens).items()},
        "histogram": stored.histogram(),
        "learned": [stored.label_of(hash_of_message(read(raw))) for raw in mail],
    }


def made(number):
    return f"Subject: offer {number}\n\nbuy number{number} now, only number{number + 1}\n".encode()


def wait_for_folding(path):
    """Wait until no other process folds the journal of this model."""
    with Lock(path, patience=PATIENCE, kind=TRAINING):
        pass


def copied(path, folder):
    """Copy a model and its journal to a folder; return the path of the copy."""
    for ending in ("", ".journal"):
        shutil.copy(path + ending, folder / f"model{ending}")
    return str(folder / "model")
