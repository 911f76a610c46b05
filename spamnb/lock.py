"""One writer at a time. The kernel lets go of the lock of a dead process.

Who learns or puts a new model in place holds `.lock`, for milliseconds. Who makes a new model from the old
one, which may take minutes, holds `.training`, and the other only at the end.
"""

from __future__ import annotations

import fcntl
import os
import time

from spamnb.errors import CannotCreate, Locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

PATIENCE = 30.0  # seconds to wait for another writer
PAUSE = 0.01
ELSEWHERE = "name another file with --model"


WRITING, TRAINING = ".lock", ".training"


class Lock:
    """Held while a model or its journal is changed. Readers need none.

    Its file stays, for those who wait for it; unless this process made it and then failed: who is refused
    leaves nothing behind.
    """

    def __init__(self, model: str, patience: float = PATIENCE, kind: str = WRITING) -> None:
        self.path = model + kind
        self.model = model
        self.patience = patience
        self.made: list[str] = []  # the file if it was not there, then its folders, innermost first

    def __enter__(self) -> None:
        if os.path.isdir(self.model):
            raise CannotCreate(f"{self.model}: a folder; {ELSEWHERE}")
        self.made = missing(self.path)
        deadline = time.monotonic() + self.patience
        while not self._taken():
            if time.monotonic() > deadline:
                raise Locked(f"{self.model}: another spamnb is writing it; try again later")
            time.sleep(PAUSE)

    def _taken(self) -> bool:
        """Open the file and lock it; False if another process holds it, or has just removed it."""
        try:
            os.makedirs(os.path.dirname(self.path) or ".", mode=0o700, exist_ok=True)
            self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            self.made = [path for path in self.made if path != self.path]  # by now, it may be another's
            self._tidy()
            raise CannotCreate(f"{self.path}: {error.strerror}; {ELSEWHERE}") from error
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(self.handle).st_nlink:
                return True
        except BlockingIOError:
            pass
        except OSError as error:
            os.close(self.handle)
            self._tidy()
            raise CannotCreate(f"{self.path}: {why_not(error)}") from error
        os.close(self.handle)
        return False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind:
                self._tidy()  # before others can take it
        finally:
            os.close(self.handle)

    def _tidy(self) -> None:
        for path in self.made:
            try:
                (os.unlink if path == self.path else os.rmdir)(path)
            except OSError:
                return  # not there, or a folder with something in it by now


def missing(path: str) -> list[str]:
    """What of a path is not there: the file, and the folders it would lie in."""
    found = []
    while path and not os.path.lexists(path):
        found.append(path)
        path = os.path.dirname(path)
    return found


def why_not(error: OSError) -> str:
    """Why there is no lock, and what to do."""
    import errno

    if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
        return f"this file system has no locks ({error.strerror}); keep the model on another one: --model"
    return f"cannot lock: {error.strerror}; {ELSEWHERE}"
