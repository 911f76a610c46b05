"""Find mail: paths become raw messages, or chunks that workers turn into messages.

A path names a Maildir, a folder of message files, an mbox, a message or a named pipe. It may be an address
(s3://bucket/folder/), or have the number of a message in an mbox (box.mbox:3); `-` is a message or an mbox on
standard input. Any file may be compressed: its first bytes decide what it is, not its name. No whole mailbox
is held in memory: large ones, and pipes, are split here into chunks of a megabyte.
"""

from __future__ import annotations

import os
import sys
from itertools import accumulate, groupby
from stat import S_ISDIR

from spamnb.errors import EMPTY_INPUT, DataError, NoInput
from spamnb.files import announce_stdin, is_address
from spamnb.mailboxes import remote
from spamnb.mailboxes.chunks import (
    FIRST_BYTES,
    MessageFiles,
    NumberedMessages,
    RawMessage,
    ReadMessages,
    file_blocks,
    file_messages,
    is_mailbox,
)
from spamnb.mailboxes.folders import FolderWalk, is_stream, start_of
from spamnb.mailboxes.not_mail import not_mail
from spamnb.mailboxes.roles import roles_to_leave_out
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.streams import STREAM, ByteStream, blocks_of, decompressor_for, gather, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Sources = Mapping[str, Sequence[str]]  # the paths of each label

FoundFile = tuple[str, int, bool]  # path, bytes or STREAM, and whether the user named it
# Work for a thread, cheap to send; `size` is its bytes on disk.
Chunk = MessageFiles | NumberedMessages | ReadMessages

CHUNK = 1 << 20  # bytes of mail in a chunk: a fraction of a second of tokenizing
COMPRESSION = 16  # a compressed mailbox may unpack to this many times its size, or more
MAX_FILES = 2000  # files in a chunk, however small they are
MAX_NUMBER_DIGITS = 9


def message_name(path: str, index: int | None) -> str:
    """Return the name of a message: its path and, if it is in a mailbox, its number there (box.mbox:3)."""
    return path if index is None else f"{path}:{index}"


def split_number(path: str) -> tuple[str, int]:
    """Split a path like `box.mbox:3` into mailbox and number; return ("", 0) for any other path.

    The name of an existing file is never split. Messages are numbered from 0, as `classify` prints them.
    """
    box, _, digits = path.rpartition(":")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > MAX_NUMBER_DIGITS or not box:
        return "", 0
    if is_address(path):
        has_path = "/" in box.partition("://")[2]  # else the number is the port of a host
        is_numbered = has_path and remote.kind(box) == remote.FILE and not remote.kind(path)
    else:
        is_numbered = not os.path.exists(path) and os.path.exists(box) and not os.path.isdir(box)
    return (box, int(digits)) if is_numbered else ("", 0)


def check(paths: Iterable[str]) -> None:
    """Raise NoInput for a path that is missing or may not be read, DataError for a file that is not mail."""
    for named in paths:
        path = split_number(named)[0] or named
        if path == "-":
            if sys.stdin is None:
                raise NoInput("-: standard input is closed")
            continue
        try:
            if is_address(path):
                remote.matching(path)
                continue
            is_folder = S_ISDIR(os.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            raise NoInput(f"{path}: no such file or folder") from None
        except OSError as error:
            raise NoInput(f"{path}: {reason_of(error)}") from error
        if not os.access(path, os.R_OK | os.X_OK if is_folder else os.R_OK):
            raise NoInput(f"{path}: permission denied")
        if not is_folder and not is_stream(path) and (reason := not_mail(path, start_of(path))):
            raise DataError(f"{path}: {reason}")


def total_size(
    paths: Iterable[str], *, without: Iterable[str] = (), leave_out: frozenset[str] = frozenset()
) -> int:
    """Add up the sizes of the files below `paths` without reading them; pipes and standard input add 0."""
    return sum(size for size in _sizes(paths, without, leave_out) if size != STREAM)


def is_little(paths: Sequence[str], most: int, least_file: int) -> bool:
    """Return whether mail has at most `most` bytes in all; a smaller file counts as `least_file` bytes."""
    sizes = (most + 1 if size == STREAM else max(size, least_file) for size in _sizes(paths, (), frozenset()))
    return all(total <= most for total in accumulate(sizes))


def _sizes(paths: Iterable[str], without: Iterable[str], leave_out: frozenset[str]) -> Iterator[int]:
    """Yield the size of each file in bytes; STREAM for a pipe or standard input."""
    for item in _files(paths, without, leave_out):
        if isinstance(item, tuple):
            yield item[1]


def messages(paths: Iterable[str], *, without: Iterable[str] = ()) -> Iterator[RawMessage | Unreadable]:
    """Yield every message below `paths`, in the order of `chunks`."""
    for chunk in chunks(paths, without=without, size=sys.maxsize):  # no file is too large: none is cut
        yield from chunk.messages()


def chunks_by_label(sources: Sources, size: int = CHUNK) -> Iterator[tuple[Chunk, str]]:
    """Yield the mail of each label in chunks of about `size` bytes, each with its label.

    A path of one label below one of another is skipped, and so is a folder whose name contradicts its label.
    """
    for label, paths, limits in _with_limits(sources):
        for chunk in chunks(paths, size=size, **limits):
            yield chunk, label


def size_of(sources: Sources) -> int:
    """Add up the sizes of all files that `chunks_by_label` finds."""
    return sum(total_size(paths, **limits) for _, paths, limits in _with_limits(sources))


def _with_limits(sources: Sources) -> Iterator[tuple[str, Sequence[str], dict[str, Any]]]:
    """Yield each label, its paths, and the options of `chunks` that say which folders below these to skip."""
    all_paths = {path for paths in sources.values() for path in paths}
    for label, paths in sources.items():
        without = all_paths.difference(paths)
        yield label, paths, {"without": without, "leave_out": roles_to_leave_out(label)}


def chunks(
    paths: Iterable[str],
    *,
    without: Iterable[str] = (),
    leave_out: frozenset[str] = frozenset(),
    size: int = CHUNK,
) -> Iterator[Chunk]:
    """Yield the mail below `paths` in chunks of about `size` bytes, always in the same order.

    A large mailbox, or a large compressed file, is read by this process, not a worker. Files and folders in
    `without` are skipped, with everything below them; so are folders whose name means a role in `leave_out`.
    """
    files = MessageFiles([], 0)
    for item in _files(paths, without, leave_out):
        if not isinstance(item, tuple) or not 0 <= item[1] <= size // COMPRESSION:
            if files.paths:
                yield files
                files = MessageFiles([], 0)
            yield from _chunks_of(item, size)
            continue
        path, length, named = item
        is_full = files.size >= size or len(files.paths) >= MAX_FILES
        if files.paths and (files.named is not named or is_full):
            yield files
            files = MessageFiles([], 0)
        files.named = named
        files.paths.append(path)
        files.size += length
    if files.paths:
        yield files


def _files(
    paths: Iterable[str], without: Iterable[str], leave_out: frozenset[str]
) -> Iterator[FoundFile | NumberedMessages | Unreadable]:
    """Yield each file below `paths`, each mailbox with the messages wanted by number, and all failures."""
    paths = list(paths)
    walk = FolderWalk([path for path in paths if path != "-"], without, leave_out)
    for box, named in groupby(((*split_number(path), path) for path in paths), lambda item: item[0]):
        if box:
            yield NumberedMessages(box, {number for _, number, _ in named})
            continue
        for *_, path in named:
            if path == "-":
                yield path, STREAM, True
                continue
            for found in walk.files(path):
                yield found if isinstance(found, Unreadable) else (*found, found[0] == path)


def _chunks_of(item: FoundFile | NumberedMessages | Unreadable, size: int) -> Iterable[Chunk]:
    """Return the chunks of an item that shares no chunk with others, such as a large file or a mailbox."""
    if isinstance(item, Unreadable):
        return (ReadMessages([item], 0),)
    if isinstance(item, NumberedMessages):
        return (item,)
    path, length, named = item
    if length != STREAM:
        start = gather(ByteStream(file_blocks(path)), FIRST_BYTES)
        if decompressor_for(start) is None and not is_mailbox(path, start):
            return (MessageFiles([path], length, named),)
    return _read_in_order(path, size, named)


def _read_in_order(path: str, size: int, named: bool) -> Iterator[ReadMessages]:
    """Read standard input, a pipe or a large mailbox in this process; yield chunks of its messages."""
    bytes_on_disk = 0

    def counted() -> Iterator[bytes]:
        nonlocal bytes_on_disk
        for block in _standard_input() if path == "-" else file_blocks(path):
            bytes_on_disk += len(block)
            yield block

    items: list[RawMessage | Unreadable] = []
    message_bytes = 0
    for item in file_messages(path, counted(), named):
        items.append(item)
        message_bytes += len(item.data) if isinstance(item, RawMessage) else 0
        if message_bytes >= min(size, CHUNK) or len(items) >= MAX_FILES:
            yield ReadMessages(items, bytes_on_disk)
            items, message_bytes, bytes_on_disk = [], 0, 0
    if items:
        yield ReadMessages(items, bytes_on_disk)


def _standard_input() -> Iterator[bytes]:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    announce_stdin("a message")
    buffer: Any = sys.stdin.buffer
    has_text = False
    for block in blocks_of(buffer.read1):  # `read` would wait for a second Ctrl-D
        has_text = has_text or not block.isspace()
        yield block
    if not has_text:
        raise NoInput(EMPTY_INPUT)
