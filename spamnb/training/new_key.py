"""The key of a model that is about to be made."""

import os
from contextlib import suppress

from spamnb.errors import CannotCreate, ModelError, SpamnbError
from spamnb.files import keep_owner, sync_folder, write_all
from spamnb.key import KEY_SIZE, WHAT_TO_DO, Key, key_path, read_key
from spamnb.store.stored_model import StoredModel


def key_for(model: str, wanted: bool = False) -> Key | None:
    """Read or make the key of a new model; None if it may keep words.

    It may not where there is a key, nor in place of a model that keeps no words, whether `wanted` or not: who
    chose that once must not have words kept because an option or a variable was left out.
    """
    path = key_path(model)
    try:
        if wanted and not os.path.lexists(path):
            make_key(path)
        if os.path.lexists(path):
            return read_key(model, path)
    except OSError as error:
        raise CannotCreate(f"{path}: cannot make a key there: {error.strerror}") from error
    if _keeps_no_words(model):
        raise ModelError(model, f"its key is missing: {path}; {WHAT_TO_DO}")
    return None


def _keeps_no_words(model: str) -> bool:
    try:
        return bool(StoredModel.open(model).keyed)
    except SpamnbError:
        return False  # no model, or none that can be read


def make_key(path: str) -> None:
    """Write a new key, and wait until it is on disk: nothing may need it before."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return  # another process was faster
    try:
        keep_owner(handle, os.path.join(os.path.dirname(path), ""))
        write_all(handle, os.urandom(KEY_SIZE))
        os.fsync(handle)
        sync_folder(path)
    except OSError:
        with suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(handle)
