"""Finding mail: paths become raw messages, or pieces of work that other processes turn into messages.

A path is a Maildir, a folder of message files, an mbox, a message, a named pipe, the address of any of them
elsewhere (s3://bucket/folder/), one message of an mbox by its number (box.mbox:3), or `-` for one message on
standard input; any file may be compressed. What a file is, its first bytes tell, never its name. Nothing
holds a mailbox in memory: large ones go out as byte ranges, or, if compressed or piped, message by message.
"""

from __future__ import annotations

import os
import sys
from itertools import groupby

from spamnb.errors import DataError, NoInput
from spamnb.mailboxes import mbox
from spamnb.mailboxes.chunks import Files, Picked, Raw, Ready, file_messages
from spamnb.mailboxes.folders import Walk, in_maildir
from spamnb.mailboxes.not_mail import SUSPECT, not_mail
from spamnb.mailboxes.ranges import Range
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.stores import FILE, LOCAL, STREAM, is_stream
from spamnb.mailboxes.streams import Source, blocks_of, gather, unpacked, unpacker_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from spamnb.mailboxes.stores import Store

    Chunk = Files | Picked | Range | Ready  # a piece of work, cheap to send; `size` is its bytes on disk

CHUNK = 1 << 20  # bytes of mail in a piece of work: a fraction of a second of tokenizing
PACKING = 16  # times its size is what a compressed mailbox may hold, and more
MAX_FILES = 2000  # files in a piece of work, however small they are
MAX_DIGITS = 9  # of a message's number in a mailbox


def is_remote(path: str) -> bool:
    """Whether a path is an address that fsspec opens, like s3://bucket/folder/."""
    return "://" in path


def store_for(path: str) -> Store:
    """The store that has a path."""
    if not is_remote(path):
        return LOCAL
    from spamnb.mailboxes.remote import REMOTE

    return REMOTE


def read(path: str) -> Iterator[bytes]:
    """Blocks of a file, as it is."""
    return store_for(path).read(path)


def split_number(path: str) -> tuple[str, int]:
    """The mailbox and the number of a path like `box.mbox:3`; "" and 0 for any other path.

    A file that has this very name is meant by it. Messages are numbered from 0, as `classify` prints them.
    """
    box, _, digits = path.rpartition(":")
    if not digits.isdecimal() or not digits.isascii() or len(digits) > MAX_DIGITS or not box:
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
            look = store.kind(path) == FILE and not is_stream(path)
        else:
            look = path.lower().endswith(SUSPECT)
        if look and (reason := not_mail(path, _head(store, path))):
            raise DataError(f"{path}: {reason}")


def _head(store: Store, path: str) -> bytes:
    """First bytes of a file; none if it cannot be read: why, the reader will tell."""
    return gather(Source(unpacked(store.read(path))), mbox.MAX_ENVELOPE)


def total_size(
    paths: Iterable[str], *, without: Iterable[str] = (), leave_out: frozenset[str] = frozenset()
) -> int:
    """Bytes on disk, without reading any; pipes and standard input count nothing."""
    total = 0
    for _, item in _files(paths, without, leave_out):
        if isinstance(item, Picked):
            total += item.size
        elif not isinstance(item, Unreadable) and item[1] != STREAM:
            total += item[1]
    return total


def messages(paths: Iterable[str], *, without: Iterable[str] = ()) -> Iterator[Raw | Unreadable]:
    """Every message, in the order of `chunks`."""
    for chunk in chunks(paths, without=without, size=sys.maxsize):  # no file is too large: none is cut
        yield from chunk.messages()


def chunks(
    paths: Iterable[str],
    *,
    without: Iterable[str] = (),
    leave_out: frozenset[str] = frozenset(),
    size: int = CHUNK,
    max_packed: int = 0,
) -> Iterator[Chunk]:
    """The mail below `paths` in pieces of about `size` bytes, in an order that repeats.

    The ranges of a plain mbox follow each other, the first starting at 0; results belong into `joined`. A
    compressed mailbox cannot be cut: up to `max_packed` bytes it is a piece, a larger one is read here.
    `without` names files and folders to pass over where walking comes upon them, with all below them;
    `leave_out` the roles of folders that are not to be read there (see spamnb.mailboxes.roles).
    """
    batch = Files(LOCAL, [], 0)
    for store, item in _files(paths, without, leave_out):
        if not isinstance(item, tuple) or not 0 <= item[1] <= size // PACKING:
            if batch.paths:
                yield batch
                batch = Files(store, [], 0)
            yield from _alone(store, item, size, max_packed)
            continue
        if batch.paths and (batch.store is not store or batch.size >= size or len(batch.paths) >= MAX_FILES):
            yield batch
            batch = Files(store, [], 0)
        batch.store = store
        batch.paths.append(item[0])
        batch.size += item[1]
    if batch.paths:
        yield batch


def _files(
    paths: Iterable[str], without: Iterable[str], leave_out: frozenset[str]
) -> Iterator[tuple[Store, tuple[str, int] | Picked | Unreadable]]:
    """Each file at or below some paths with its size, and with the store that has it."""
    paths, without = list(paths), list(without)
    walks: dict[Store, Walk] = {}
    for box, named in groupby(((*split_number(path), path) for path in paths), lambda one: one[0]):
        if box:
            store = store_for(box)
            yield store, Picked(store, box, {number for _, number, _ in named}, _size(box))
            continue
        for *_, path in named:
            store = store_for(path)
            if path == "-":
                yield store, (path, STREAM)
                continue
            if store not in walks:
                own = [one for one in paths if one != "-" and store_for(one) is store]
                walks[store] = Walk(
                    store, own, [one for one in without if store_for(one) is store], leave_out
                )
            for found in walks[store].files(path):
                yield store, found


def _size(path: str) -> int:
    """Bytes of a mailbox; none if it lies elsewhere, where asking takes long."""
    try:
        return 0 if is_remote(path) else os.stat(path).st_size
    except OSError:  # gone meanwhile: who reads it will tell
        return 0


def _alone(
    store: Store, item: tuple[str, int] | Picked | Unreadable, size: int, max_packed: int
) -> Iterable[Chunk]:
    """Pieces of what is not to be batched with other files."""
    if isinstance(item, Unreadable):
        return (Ready([item], 0),)
    if isinstance(item, Picked):
        return (item,)
    path, length = item
    if length == STREAM:
        return _streamed(store, path, size)
    head = gather(Source(store.read(path)), mbox.MAX_ENVELOPE)
    packed = unpacker_for(head) is not None
    is_mailbox = mbox.is_envelope(head) and not in_maildir(store, path)
    if (packed and length > max_packed) or (is_mailbox and not store.can_seek(path)):
        return _streamed(store, path, size)
    if packed or not is_mailbox:
        return (Files(store, [path], length),)
    return (Range(store, path, start, min(start + size, length)) for start in range(0, length, size))


def _streamed(store: Store, path: str, size: int) -> Iterator[Ready]:
    """What is read here, in order: standard input, a pipe, a compressed mailbox."""
    if path == "-":
        yield Ready([_standard_input()], 0)
        return
    taken = 0

    def counted() -> Iterator[bytes]:
        nonlocal taken
        for block in store.read(path):
            taken += len(block)
            yield block

    batch: list[Raw | Unreadable] = []
    weight = 0
    for item in file_messages(store, path, counted()):
        batch.append(item)
        weight += len(item.data) if isinstance(item, Raw) else 0
        if weight >= min(size, CHUNK) or len(batch) >= MAX_FILES:
            yield Ready(batch, taken)
            batch, weight, taken = [], 0, 0
    if batch:
        yield Ready(batch, taken)


def _standard_input() -> Raw | Unreadable:
    """One message, whatever lines it holds: an mbox has a name to be called by."""
    try:
        source = Source(blocks_of(sys.stdin.buffer.read))
    except AttributeError:
        return Unreadable("-", "no standard input")
    data = gather(source, mbox.MAX_MESSAGE)[: mbox.MAX_MESSAGE]
    if not source.why and not data.strip():
        raise NoInput("-: standard input is empty; a message has text")
    return Unreadable("-", source.why) if source.why else Raw("-", None, data)
