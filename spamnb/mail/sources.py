"""Finding mail: paths become raw messages, or pieces of work that other processes turn into messages.

A path is a Maildir, a folder of message files, an mbox, a message, a named pipe, the address of any of them
elsewhere (s3://bucket/folder/), or `-` for one message on standard input; any file may be compressed. What a
file is, its first bytes tell, never its name. Nothing holds a mailbox in memory: large ones go out as byte
ranges, or piece by piece, cut between messages.
"""

from __future__ import annotations

import os
import sys

from spamnb.errors import NoInput
from spamnb.mail import mbox
from spamnb.mail.folders import STREAM, Unreadable, Walk, in_maildir, is_remote, whereabouts
from spamnb.mail.streams import (
    Source,
    blocks_of,
    chain,
    first,
    gather,
    read,
    unpacked,
    unpacker_for,
    untorn,
    why,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    Piece = TypeVar("Piece")

__all__ = [
    "Chunk",
    "Files",
    "Raw",
    "Ready",
    "Span",
    "Unreadable",
    "check",
    "chunks",
    "messages",
    "total_size",
]

CHUNK = 1 << 20  # bytes of mail in a piece of work: a fraction of a second of tokenizing
PACKING = 16  # times its size is what a compressed mailbox may hold, and more
MAX_FILES = 2000  # files in a piece of work, however small they are


class Raw:
    """One message as it was found; `index` is its number in an mbox, None for a file of its own."""

    __slots__ = ("data", "index", "path")

    def __init__(self, path: str, index: int | None, data: bytes) -> None:
        self.path = path
        self.index = index
        self.data = data


class Files:
    """Files, all here or all elsewhere, which the one who asks for their messages opens."""

    __slots__ = ("paths", "size")

    def __init__(self, paths: list[str], size: int) -> None:
        self.paths = paths
        self.size = size

    def messages(self) -> Iterator[Raw | Unreadable]:
        if is_remote(self.paths[0]):
            from spamnb.mail.remote import each

            for path, blocks in each(self.paths):
                yield from _messages(path, blocks)
            return
        known: dict[str, dict[str, str]] = {}
        for path in self.paths:
            now = whereabouts(path, known)
            yield from _messages(now, read(now))


class Span:
    """A byte range of a plain mbox from one message boundary to another."""

    __slots__ = ("index", "path", "size", "start")

    def __init__(self, path: str, start: int, size: int, index: int) -> None:
        self.path = path
        self.start = start
        self.size = size
        self.index = index

    def messages(self) -> Iterator[Raw | Unreadable]:
        source = Source(first(read(self.path, self.start), self.size))
        head = gather(source, mbox.MAX_ENVELOPE)
        if mbox.is_envelope(head):
            yield from _split(self.path, head, source, self.index)
        elif head:
            source.why = source.why or "changed while it was read"
        if source.why:
            yield Unreadable(self.path, source.why)


class Ready:
    """Messages already read, from what can be read only once or only from its start."""

    __slots__ = ("items", "size")

    def __init__(self, items: list[Raw | Unreadable], size: int) -> None:
        self.items = items
        self.size = size

    def messages(self) -> Iterator[Raw | Unreadable]:
        yield from self.items


Chunk = Files | Span | Ready  # a piece of work, cheap to send to another process; `size` is its bytes on disk


def check(paths: Iterable[str]) -> None:
    """Raise NoInput for the first path that is missing or may not be read."""
    for path in paths:
        if path == "-":
            if sys.stdin is None:
                raise NoInput("-: no standard input")
            continue
        if is_remote(path):
            from spamnb.mail import remote_folders

            remote_folders.check(path)
            continue
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise NoInput(f"{path}: no such file or folder") from None
        except OSError as error:
            raise NoInput(f"{path}: {why(error)}") from error
        if not os.access(path, os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK):
            raise NoInput(f"{path}: permission denied")


def total_size(paths: Iterable[str], *, without: Iterable[str] = ()) -> int:
    """Bytes on disk, without reading any; pipes and standard input count nothing."""
    found = Walk(without).files(paths)
    return sum(item[1] for item in found if not isinstance(item, Unreadable) and item[1] != STREAM)


def messages(paths: Iterable[str], *, without: Iterable[str] = ()) -> Iterator[Raw | Unreadable]:
    """Every message, in the order of `chunks`."""
    for chunk in chunks(paths, without=without, size=sys.maxsize):  # no file is too large: none is read twice
        yield from chunk.messages()


def chunks(paths: Iterable[str], *, without: Iterable[str] = (), size: int = CHUNK) -> Iterator[Chunk]:
    """The mail below `paths` in pieces of about `size` bytes, in an order that repeats.

    `without` names files and folders to pass over where walking comes upon them, with all below them.
    """
    return pieces(paths, without, size, _large)


def pieces(
    paths: Iterable[str],
    without: Iterable[str],
    size: int,
    large: Callable[[str, int, int], Iterable[Piece]],
) -> Iterator[Files | Ready | Piece]:
    """Small files in batches; what becomes of a file that may hold more than a chunk, `large` says."""
    batch: list[str] = []
    weight = 0
    for item in Walk(without).files(paths):
        if isinstance(item, Unreadable):
            alone: Iterable[Files | Ready | Piece] = (Ready([item], 0),)
        elif item[1] == STREAM:
            alone = streamed(item[0], size)
        elif item[1] > size // PACKING:
            alone = large(*item, size)
        else:
            alone = ()
            if batch and is_remote(batch[0]) != is_remote(item[0]):
                yield Files(batch, weight)
                batch, weight = [], 0
            batch.append(item[0])
            weight += item[1]
        if batch and (alone or weight >= size or len(batch) >= MAX_FILES):
            yield Files(batch, weight)
            batch, weight = [], 0
        yield from alone
    if batch:
        yield Files(batch, weight)


def _large(path: str, length: int, size: int) -> Iterable[Chunk]:
    """Spread if it is a mailbox. From elsewhere it is fetched once, here."""
    packed, is_mailbox = kind(path)
    if packed or (is_mailbox and is_remote(path)):
        return streamed(path, size)
    return _spans(path, size) if is_mailbox else (Files([path], length),)


def kind(path: str) -> tuple[bool, bool]:
    """Whether a file is compressed, and whether it is a plain mbox."""
    head = gather(Source(read(path)), mbox.MAX_ENVELOPE)
    return unpacker_for(head) is not None, mbox.is_envelope(head) and not in_maildir(path)


def _spans(path: str, size: int) -> Iterator[Chunk]:
    source = Source(read(path))
    start = at = first = 0
    for index, (_, length) in enumerate(untorn(mbox.records(source), source), 1):
        at += length
        if at - start >= size:
            yield Span(path, start, at - start, first)
            start, first = at, index
    if at > start:
        yield Span(path, start, at - start, first)
    if source.why:
        yield Ready([Unreadable(path, source.why)], 0)


def streamed(path: str, size: int) -> Iterator[Ready]:
    """What is read here, in order: standard input, a pipe, a compressed mailbox."""
    if path == "-":
        yield Ready([_standard_input()], 0)
        return
    taken = 0

    def counted() -> Iterator[bytes]:
        nonlocal taken
        for block in read(path):
            taken += len(block)
            yield block

    batch: list[Raw | Unreadable] = []
    weight = 0
    for item in _messages(path, counted()):
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


def _messages(path: str, blocks: Iterator[bytes]) -> Iterator[Raw | Unreadable]:
    """The messages of one file."""
    source = Source(unpacked(blocks))
    head = gather(source, mbox.MAX_ENVELOPE)
    envelope = mbox.is_envelope(head)
    if envelope and not in_maildir(path):
        yield from _split(path, head, source, 0)
    else:
        start = (head.find(b"\n") + 1 or len(head)) if envelope else 0
        head = head[start:]
        data = (head + gather(source, mbox.MAX_MESSAGE - len(head)))[: mbox.MAX_MESSAGE]
        if data and not source.why:
            yield Raw(path, None, data)
    if source.why:
        yield Unreadable(path, source.why)


def _split(path: str, head: bytes, source: Source, first: int) -> Iterator[Raw]:
    for index, (record, _) in enumerate(untorn(mbox.records(chain(head, source)), source), first):
        data = mbox.message(record)
        if data:
            yield Raw(path, index, data)
