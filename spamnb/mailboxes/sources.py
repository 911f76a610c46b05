"""Find mail: paths become raw messages, or chunks that other processes turn into messages.

A path is a Maildir, a folder of message files, an mbox, a message, a named pipe, the address of any of them
elsewhere (s3://bucket/folder/), one message of an mbox by its number (box.mbox:3), or `-` for a message or an
mbox on standard input; any may be compressed. What a file is, its first bytes tell, never its name. Nothing
holds a mailbox in memory: large ones go out as byte ranges, or, if compressed or piped, message by message.
"""

from __future__ import annotations

import sys
from itertools import accumulate, groupby

from spamnb.errors import EMPTY_INPUT, DataError, NoInput
from spamnb.files import announce_stdin, refuse_password
from spamnb.mailboxes.chunks import MessageFiles, NumberedMessages, RawMessage, ReadMessages, file_messages
from spamnb.mailboxes.folders import FolderWalk, start_of
from spamnb.mailboxes.formats import FIRST_BYTES, format_of
from spamnb.mailboxes.not_mail import SUSPECT_ENDINGS, not_mail
from spamnb.mailboxes.ranges import ChunkTask, MailboxRange, join_ranges
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.stores import FILE, LOCAL, STREAM, is_stream
from spamnb.mailboxes.streams import ByteStream, blocks_of, decompressor_for, gather

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from spamnb.mailboxes.stores import Store

FoundFile = tuple[str, int, bool]  # path, bytes or STREAM, and whether the user named it
# A piece of work, cheap to send; `size` is its bytes on disk.
Chunk = MessageFiles | NumberedMessages | MailboxRange | ReadMessages

CHUNK = 1 << 20  # bytes of mail in a chunk: a fraction of a second of tokenizing
COMPRESSION = 16  # a compressed mailbox may unpack to this many times its size, or more
MAX_FILES = 2000  # files in a chunk, however small they are
MAX_NUMBER_DIGITS = 9


def is_remote(path: str) -> bool:
    """Whether a path is an address that fsspec opens, like s3://bucket/folder/."""
    return "://" in path


def store_for(path: str) -> Store:
    """Store that has a path."""
    if not is_remote(path):
        return LOCAL
    refuse_password(path)
    from spamnb.mailboxes.remote import REMOTE

    return REMOTE


def message_name(path: str, index: int | None) -> str:
    """Name a message as `split_number` takes it: a file of its own by its path alone."""
    return path if index is None else f"{path}:{index}"


def split_number(path: str) -> tuple[str, int]:
    """Split a path like `box.mbox:3` into mailbox and number; "" and 0 for any other path.

    A file of this very name takes precedence. Messages are numbered from 0, as `classify` prints them.
    """
    box, _, digits = path.rpartition(":")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > MAX_NUMBER_DIGITS or not box:
        return "", 0
    if is_remote(path) and "/" not in box.partition("://")[2]:  # the number is a host's port
        return "", 0
    store = store_for(path)
    return (box, int(digits)) if not store.kind(path) and store.kind(box) == FILE else ("", 0)


def check(paths: Iterable[str]) -> None:
    """Raise NoInput for a path that is missing or may not be read, DataError for a file without mail."""
    for named in paths:
        path = split_number(named)[0] or named
        if path == "-":
            if sys.stdin is None:
                raise NoInput("-: no standard input")
            continue
        store = store_for(path)
        store.check(path)
        if store is LOCAL:
            suspect = store.kind(path) == FILE and not is_stream(path)
        else:
            suspect = path.lower().endswith(SUSPECT_ENDINGS)
        if suspect and (reason := not_mail(path, start_of(store, path))):
            raise DataError(f"{path}: {reason}")


def total_size(
    paths: Iterable[str], *, without: Iterable[str] = (), leave_out: frozenset[str] = frozenset()
) -> int:
    """Bytes on disk of the mail below `paths`, none of it read; pipes and standard input count nothing."""
    return sum(size for size in _sizes(paths, without, leave_out) if size != STREAM)


def is_little(paths: Sequence[str], most: int, least_file: int) -> bool:
    """Whether mail is local, and no more than `most` bytes; a file counts as at least `least_file`."""
    if any(map(is_remote, paths)):
        return False
    sizes = (most + 1 if size == STREAM else max(size, least_file) for size in _sizes(paths, (), frozenset()))
    return all(total <= most for total in accumulate(sizes))


def _sizes(paths: Iterable[str], without: Iterable[str], leave_out: frozenset[str]) -> Iterator[int]:
    """Yield the bytes of each file, or STREAM."""
    for _, item in _files(paths, without, leave_out):
        if isinstance(item, tuple):
            yield item[1]


def messages(paths: Iterable[str], *, without: Iterable[str] = ()) -> Iterator[RawMessage | Unreadable]:
    """Yield every message, in the order of `chunks`."""
    for chunk in chunks(paths, without=without, size=sys.maxsize):  # no file is too large: none is cut
        yield from chunk.messages()


def messages_with_progress(
    paths: Iterable[str], step: Callable[[int, int], object]
) -> Iterator[RawMessage | Unreadable]:
    """Yield every message; `step` is called now and then with the bytes on disk and the messages since."""

    def read(chunk: Chunk, *_: object) -> tuple[list[RawMessage | Unreadable], int]:
        return list(chunk.messages()), chunk.size

    task = ChunkTask(read)
    for (found, size), before in join_ranges(map(task, chunks(paths)), task):
        for raw in found:
            if isinstance(raw, RawMessage) and raw.index is not None:
                raw.index += before
            yield raw
        step(size, len(found))


def chunks(
    paths: Iterable[str],
    *,
    without: Iterable[str] = (),
    leave_out: frozenset[str] = frozenset(),
    size: int = CHUNK,
    max_packed: int = 0,
) -> Iterator[Chunk]:
    """Yield the mail below `paths` in chunks of about `size` bytes, always in the same order.

    The ranges of a plain mbox follow each other, the first starting at 0; their results go through
    `join_ranges`. A compressed mailbox cannot be cut: up to `max_packed` bytes it is a chunk, a larger one is
    read by this process. `without` names files and folders to skip below `paths`, with all below them;
    `leave_out` the roles of folders that are not to be read there (see spamnb.mailboxes.roles).
    """
    files = MessageFiles(LOCAL, [], 0)
    for store, item in _files(paths, without, leave_out):
        if not isinstance(item, tuple) or not 0 <= item[1] <= size // COMPRESSION:
            if files.paths:
                yield files
                files = MessageFiles(store, [], 0)
            yield from _chunks_of(store, item, size, max_packed)
            continue
        path, length, named = item
        is_full = files.size >= size or len(files.paths) >= MAX_FILES
        if files.paths and (files.store is not store or files.named is not named or is_full):
            yield files
            files = MessageFiles(store, [], 0)
        files.store, files.named = store, named
        files.paths.append(path)
        files.size += length
    if files.paths:
        yield files


def _files(
    paths: Iterable[str], without: Iterable[str], leave_out: frozenset[str]
) -> Iterator[tuple[Store, FoundFile | NumberedMessages | Unreadable]]:
    """Yield the store of each file below some paths, and the file; or numbered messages, or a failure."""
    paths, without = list(paths), list(without)
    walks: dict[Store, FolderWalk] = {}
    for box, named in groupby(((*split_number(path), path) for path in paths), lambda item: item[0]):
        if box:
            store = store_for(box)
            yield store, NumberedMessages(store, box, {number for _, number, _ in named})
            continue
        for *_, path in named:
            store = store_for(path)
            if path == "-":
                yield store, (path, STREAM, True)
                continue
            if store not in walks:
                named_here = [other for other in paths if other != "-" and store_for(other) is store]
                without_here = [other for other in without if store_for(other) is store]
                walks[store] = FolderWalk(store, named_here, without_here, leave_out)
            for found in walks[store].files(path):
                yield store, found if isinstance(found, Unreadable) else (*found, found[0] == path)


def _chunks_of(
    store: Store, item: FoundFile | NumberedMessages | Unreadable, size: int, max_packed: int
) -> Iterable[Chunk]:
    """Chunks of a file that is not put together with others."""
    if isinstance(item, Unreadable):
        return (ReadMessages([item], 0),)
    if isinstance(item, NumberedMessages):
        return (item,)
    path, length, named = item
    if length == STREAM:
        return _read_in_order(store, path, size, named)
    start = gather(ByteStream(store.read(path)), FIRST_BYTES)
    packed = decompressor_for(start) is not None
    known = None if packed else format_of(path, start, store.is_folder)
    if (packed and length > max_packed) or (known and known.boundary and not store.can_seek(path)):
        return _read_in_order(store, path, size, named)
    if known and known.boundary:
        name = known.NAME
        return (MailboxRange(store, path, name, at, min(at + size, length)) for at in range(0, length, size))
    return (MessageFiles(store, [path], length, named),)


def _read_in_order(store: Store, path: str, size: int, named: bool) -> Iterator[ReadMessages]:
    """Read a stream in this process: standard input, a pipe, a compressed mailbox."""
    bytes_on_disk = 0

    def counted() -> Iterator[bytes]:
        nonlocal bytes_on_disk
        for block in _standard_input() if path == "-" else store.read(path):
            bytes_on_disk += len(block)
            yield block

    items: list[RawMessage | Unreadable] = []
    message_bytes = 0
    for item in file_messages(store, path, counted(), named):
        items.append(item)
        message_bytes += len(item.data) if isinstance(item, RawMessage) else 0
        if message_bytes >= min(size, CHUNK) or len(items) >= MAX_FILES:
            yield ReadMessages(items, bytes_on_disk)
            items, message_bytes, bytes_on_disk = [], 0, 0
    if items:
        yield ReadMessages(items, bytes_on_disk)


def _standard_input() -> Iterator[bytes]:
    if sys.stdin is None:
        raise OSError("no standard input")
    announce_stdin("a message")
    buffer: Any = sys.stdin.buffer
    has_text = False
    for block in blocks_of(buffer.read1):  # `read` would wait for a second Ctrl-D
        has_text = has_text or not block.isspace()
        yield block
    if not has_text:
        raise NoInput(EMPTY_INPUT)
