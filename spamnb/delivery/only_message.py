"""Read the only message of a file or of standard input, with few imports."""

import os

from spamnb.errors import EMPTY_INPUT, InputOutputError, NoInput
from spamnb.files import STDIN, announce_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 20  # bytes read at once
MAX_FILE = 64 << 20  # bytes; a larger file is not a single message
MAX_FIELD_NAME = 100  # bytes at the start that must have the colon of the first header field
TAR_HEADER = 512  # bytes; a file name, which may look like a header field, is followed by NULs


def read_only_message(path: str) -> bytes | None:
    """Read the only message of a file, or of standard input (`-`).

    Returns None if there are several, or if the path is missing, a folder, an archive and so on. Then click's
    command reads the mail, even standard input, from the start, or reports what is wrong.
    """
    if path == "-":
        announce_stdin("a message")
        try:
            return _only_message(path, STDIN)
        except OSError as error:
            raise InputOutputError(f"cannot read standard input: {error.strerror}") from error
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_FILE:
            return None
        handle = os.open(path, os.O_RDONLY)
        try:
            return _only_message(path, handle)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return None


def _only_message(path: str, handle: int) -> bytes | None:
    taken: list[bytes] = []
    blocks = _blocks(handle, taken)
    head = next(blocks, b"")
    name, colon, _ = head[:MAX_FIELD_NAME].partition(b":")
    if colon and name.replace(b"-", b"").isalnum() and b"\0" not in head[:TAR_HEADER]:
        return b"".join((head, *blocks))
    # Anything that does not begin with a header is read by the code for any file, which takes 3 ms more.
    from spamnb.mailboxes.chunks import RawMessage, file_messages
    from spamnb.mailboxes.streams import chain

    mail = file_messages(path, chain(head, blocks), named=True)
    found = [item for item, _ in zip(mail, range(2), strict=False)]
    if path == "-" and not b"".join(taken).strip():
        raise NoInput(EMPTY_INPUT)
    if len(found) == 1 and isinstance(found[0], RawMessage):
        return found[0].data
    if path == "-":
        _put_back(taken)
    return None


def _blocks(handle: int, taken: list[bytes]) -> "Iterator[bytes]":
    """Yield the blocks of an open file, and append each to `taken`."""
    while block := os.read(handle, BLOCK):
        taken.append(block)
        yield block


def _put_back(taken: list[bytes]) -> None:
    """Make the bytes read from standard input readable again; a pipe is replaced by a temporary file."""
    try:
        os.lseek(STDIN, -sum(map(len, taken)), os.SEEK_CUR)
    except OSError:
        import tempfile

        with tempfile.TemporaryFile() as file:
            file.writelines(taken)
            while block := os.read(STDIN, BLOCK):
                file.write(block)
            file.seek(0)
            os.dup2(file.fileno(), STDIN)
