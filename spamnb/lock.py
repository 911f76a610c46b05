"""Locks: one process at a time may write a model. The kernel releases the lock of a dead process.

A process that learns a message or replaces a model holds `.lock`, for milliseconds. A process that makes a
new model from the old one, which may take minutes, holds `.training`, and `.lock` only at the end.
"""

import fcntl
import os
import time

from spamnb.errors import CannotCreate, Locked
from spamnb.files import make_folder, open_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

PATIENCE = 30.0  # seconds to wait for another writer
PAUSE = 0.01  # seconds between two attempts
NAME_ANOTHER_FILE = "name another file with --model"
WRITING, TRAINING = ".lock", ".training"  # what is added to the model's path


class Lock:
    """A lock file, locked while a model or its journal is changed. Readers need no lock.

    The lock file stays on disk, because other processes may wait for it. But if an error ends the `with`
    block, the lock file and the folders that this process created are removed.
    """

    def __init__(self, model: str, patience: float = PATIENCE, kind: str = WRITING) -> None:
        self.path = model + kind
        self.model = model
        self.patience = patience
        self.created: list[str] = []  # what was missing: the file, then its folders, innermost first

    def __enter__(self) -> None:
        check_place(self.model)
        self.created = missing_paths(self.path)
        deadline = time.monotonic() + self.patience
        while not self._try_lock():
            if time.monotonic() > deadline:
                raise Locked(f"{self.model}: another spamnb is writing this model; try again later")
            time.sleep(PAUSE)

    def _try_lock(self) -> bool:
        """Open and lock the file; return False if another process has the lock, or just removed the file."""
        try:
            make_folder(os.path.dirname(self.path))
            self.handle = open_beside(self.model, self.path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            self.created = [path for path in self.created if path != self.path]  # it may be another's by now
            self._remove_created()
            raise CannotCreate(f"{self.path}: {error.strerror}; {NAME_ANOTHER_FILE}") from error
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(self.handle).st_nlink:
                return True
        except BlockingIOError:
            pass
        except OSError as error:
            os.close(self.handle)
            self._remove_created()
            raise CannotCreate(f"{self.path}: {failure_text(error)}") from error
        os.close(self.handle)
        return False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        try:
            if kind:
                self._remove_created()  # before other processes can take the lock
        finally:
            os.close(self.handle)

    def _remove_created(self) -> None:
        for path in self.created:
            try:
                (os.unlink if path == self.path else os.rmdir)(path)
            except OSError:
                return  # missing, or a folder that is no longer empty


def check_place(model: str) -> None:
    """Raise CannotCreate if the path of a model is a folder, device or pipe, instead of a regular file."""
    if os.path.exists(model) and not os.path.isfile(model):
        what = "is a folder" if os.path.isdir(model) else "is not a regular file"
        raise CannotCreate(f"{model}: {what}; {NAME_ANOTHER_FILE}")


def missing_paths(path: str) -> list[str]:
    """Return those of a path and its parent folders that do not exist yet, innermost first."""
    found = []
    while path and not os.path.lexists(path):
        found.append(path)
        path = os.path.dirname(path)
    return found


def failure_text(error: OSError) -> str:
    """Return why a file cannot be locked, and what the user can do."""
    import errno

    if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
        return f"this file system has no locks ({error.strerror}); name a model on another one with --model"
    return f"cannot lock: {error.strerror}; {NAME_ANOTHER_FILE}"
