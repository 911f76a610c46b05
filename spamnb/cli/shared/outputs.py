"""Files that a command writes besides its answer: checked before the work, written after the answer."""

import os
import stat
import sys
from contextlib import suppress

from spamnb.errors import CannotCreate, InputOutputError
from spamnb.files import STDOUT, complain, write_all
from spamnb.lock import check_place
from spamnb.store.model_file import SIGNATURE

OUTPUT = "-"  # in place of a file: standard output, and then nothing else goes there


def check_writable(*paths: str | None) -> None:
    """Raise an error for a file that cannot be written, so that no work is done in vain."""
    for path in paths:
        if path not in (None, OUTPUT):
            try:
                _try(path)
            except OSError as error:
                raise CannotCreate(f"{path}: {error.strerror}; name another file") from error


def _try(path: str) -> None:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        path = os.path.realpath(path) if os.path.islink(path) else path
        with suppress(FileExistsError):  # another process has just made it
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            os.unlink(path)
        return
    # A pipe is not tried: its reader would see the end.
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        os.close(os.open(path, os.O_WRONLY))


def check_replaceable(path: str) -> None:
    """Raise CannotCreate if a file exists that is neither a model nor empty, such as a mailbox."""
    check_place(path)
    try:
        with open(path, "rb") as file:
            head = file.read(64)
    except OSError:
        return  # missing or unreadable: writing it reports the error
    if head and SIGNATURE not in head:
        raise CannotCreate(f"{path}: is not a model; remove it first, or name another file with --model")


def write_reported(path: str, content: str) -> int:
    """Write a file; if that fails, say why. Returns the exit code."""
    try:
        write_file(path, content)
    except (CannotCreate, InputOutputError) as error:
        complain(str(error))
        return error.exit_code
    return 0


def write_file(path: str, content: str) -> None:
    data = content.encode("utf-8", "surrogateescape")
    if path == OUTPUT:
        keep_output_private()
        sys.stdout.buffer.write(data)
        return
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error
    try:
        write_all(handle, data)
    except OSError as error:
        raise InputOutputError(f"{path}: {error.strerror}") from error
    finally:
        os.close(handle)


def keep_output_private() -> None:
    """Make a file that a shell has just created for standard output readable for this user only.

    If its mode is not the default one, somebody has chosen it, and it stays.
    """
    os.umask(umask := os.umask(0o077))
    with suppress(OSError):
        status = os.fstat(STDOUT)
        if not status.st_size and status.st_mode == stat.S_IFREG | 0o666 & ~umask:
            os.fchmod(STDOUT, 0o600)
