"""Models that keep no words: their key made, and tables hidden by it."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import order_of
from spamnb.errors import CannotCreate, ModelError, SpamnbError
from spamnb.files import sync_folder, write_all
from spamnb.key import KEY_SIZE, WHAT_TO_DO, key_path, read_key
from spamnb.store.stored_model import StoredModel
from spamnb.tables.learned import Learned

if TYPE_CHECKING:
    from spamnb.key import Key
    from spamnb.tables.count_table import CountTable


def key_for(model: str, wanted: bool = False) -> Key | None:
    """The key of a model that is about to be made; None if it may keep words.

    It may not where a key lies, nor in place of a model that keeps none, asked for or not: who once wanted no
    words kept would not have them kept because an option was left out, or a variable of the environment.
    """
    path = key_path(model)
    try:
        if wanted and not os.path.lexists(path):
            make_key(path)
        if os.path.lexists(path):
            return read_key(path)
    except OSError as error:
        raise CannotCreate(f"{path}: no key can be had there: {error.strerror}") from error
    if _keeps_no_words(model):
        raise ModelError(model, f"its key is not there: {path}; {WHAT_TO_DO}")
    return None


def _keeps_no_words(model: str) -> bool:
    try:
        return bool(StoredModel.open(model).keyed)
    except SpamnbError:
        return False  # there is none, or none that can be read


def make_key(path: str) -> None:
    """On disk before there is anything that needs it."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return  # another was faster
    try:
        write_all(handle, os.urandom(KEY_SIZE))
        os.fsync(handle)
        sync_folder(path)
    except OSError:
        with suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(handle)


def without_words(table: CountTable, key: Key) -> CountTable:
    """What a model with this key would have in place of a table."""
    fingerprints, learned = np.array(key.fingerprints(table.fingerprints.tolist()), np.uint64), table.learned
    order = order_of(fingerprints)
    digests = key.digests(learned.digests.tolist())
    return replace(
        table,
        fingerprints=fingerprints[order],
        ends=np.zeros(len(fingerprints), np.int64),
        text=table.text[:0],
        message_counts=table.message_counts[:, order],
        occurrence_counts=table.occurrence_counts[:, order],
        days=table.days[order],
        since=table.first_days[order],
        learned=Learned.of(digests, learned.labels.tolist(), learned.scores.tolist()),
    )
