"""Copy a model and its journal so that they fit together, while other processes learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from spamnb.errors import CannotCreate
from spamnb.files import known_file, sync_folder
from spamnb.store.journal import read_bytes
from spamnb.store.stored_model import open_file

BLOCK = 1 << 20  # bytes


def copy_model(path: str, copy: str, check: Callable[[str], None]) -> None:
    """Copy a model, its journal and its list of known people, unless `check` raises an error for the copy.

    No lock is needed: a model file is never changed, only replaced, and its journal is shortened after that.
    So file and journal fit together if the file was not replaced before the journal was read. A crash leaves
    the old copy, or the new model file with the old journal, whose records are in the new model file, too.
    """
    while True:
        model, journal = open_file(path), read_bytes(f"{path}.journal")
        with suppress(FileNotFoundError):
            if os.stat(path).st_ino == model.inode:
                break
    beside = {".journal": journal}
    with suppress(FileNotFoundError), open(known_file(path), "rb") as file:
        beside[f".{os.path.basename(file.name)}"] = file.read()
    new = f"{copy}.new"
    try:
        write(new, (model.read(at, min(BLOCK, model.size - at)) for at in range(0, model.size, BLOCK)))
        for suffix, data in beside.items():
            write(new + suffix, [data])
        check(new)
        for suffix in ("", *beside):
            os.replace(new + suffix, copy + suffix)
            sync_folder(copy)
    except OSError as error:
        raise CannotCreate(f"{copy}: cannot write the copy: {error.strerror}") from error
    finally:
        for suffix in ("", *beside):
            with suppress(OSError):
                os.unlink(new + suffix)


def write(path: str, pieces: Iterable[bytes]) -> None:
    """Write and sync a new file that only its owner can read; if a crash has left an old one, remove it."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
