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
    """Held while a model or its journal is changed. Readers need none."""

    def __init__(self, model: str, patience: float = PATIENCE, kind: str = WRITING) -> None:
        self.path = model + kind
        self.model = model
        self.patience = patience

    def __enter__(self) -> None:
        if os.path.isdir(self.model):
            raise CannotCreate(f"{self.model}: a folder; {ELSEWHERE}")
        try:
            os.makedirs(os.path.dirname(self.path) or ".", mode=0o700, exist_ok=True)
            self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise CannotCreate(f"{self.path}: {error.strerror}; {ELSEWHERE}") from error
        deadline = time.monotonic() + self.patience
        while True:
            try:
                fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    os.close(self.handle)
                    raise Locked(f"{self.model}: another spamnb is writing it; try again later") from None
                time.sleep(PAUSE)
            except OSError as error:
                os.close(self.handle)
                raise CannotCreate(f"{self.path}: {why_not(error)}") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.handle)


def why_not(error: OSError) -> str:
    """Why there is no lock, and what to do."""
    import errno

    if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
        return f"this file system has no locks ({error.strerror}); keep the model on another one: --model"
    return f"cannot lock: {error.strerror}; {ELSEWHERE}"
