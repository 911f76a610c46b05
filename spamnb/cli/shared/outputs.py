"""Files that a command writes besides its output: checked before the work, written at the end."""

import os
import stat
import sys
from contextlib import suppress

from spamnb.errors import CannotCreate, InputOutputError, SpamnbError
from spamnb.files import STDOUT, complain
from spamnb.lock import check_place
from spamnb.store.model_file import SIGNATURE

OUTPUT = "-"  # given as a file, it means standard output; nothing else is printed then


def check_writable(path: str | None) -> None:
    """Raise CannotCreate if a file cannot be written; called first, so that no work is done in vain."""
    if path not in (None, OUTPUT):
        place = path if os.path.exists(path) else os.path.dirname(os.path.realpath(path))
        if os.path.isdir(path) or not os.access(place, os.W_OK):
            raise CannotCreate(f"{path}: cannot be written; name another file")


def check_replaceable(path: str) -> None:
    """Raise CannotCreate if the file at `path` is neither a model nor empty, but a mailbox, for example."""
    check_place(path)
    try:
        with open(path, "rb") as file:
            head = file.read(64)
    except OSError:
        return  # missing or unreadable: writing it reports the error
    if head and SIGNATURE not in head:
        raise CannotCreate(f"{path}: is not a model; remove it first, or name another file")


def write_reported(path: str, content: str) -> int:
    """Write a file, or report why that failed; return the exit code."""
    data = content.encode("utf-8", "surrogateescape")
    kind: type[SpamnbError] = CannotCreate
    if path == OUTPUT:
        keep_output_private()
        sys.stdout.buffer.write(data)
        return 0
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        kind = InputOutputError
        with open(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        complain(f"{path}: {error.strerror}")
        return kind.exit_code
    return 0


def keep_output_private() -> None:
    """If a shell has just created a file for standard output, let only this user read the file.

    If its mode is not the default, somebody chose the mode, and it is not changed.
    """
    os.umask(umask := os.umask(0o077))
    with suppress(OSError):
        status = os.fstat(STDOUT)
        if not status.st_size and status.st_mode == stat.S_IFREG | 0o666 & ~umask:
            os.fchmod(STDOUT, 0o600)
