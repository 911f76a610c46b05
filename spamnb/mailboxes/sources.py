"""Finding mail: paths become raw messages, or pieces of work that other processes turn into messages.

A path is a Maildir, a folder of message files, an mbox, a message, a named pipe, the address of any of them
elsewhere (s3://bucket/folder/), one message of an mbox by its number (box.mbox:3), or `-` for one message on
standard input; any file may be compressed. What a file is, its first bytes tell, never its name. Nothing
holds a mailbox in memory: large ones go out as byte ranges, or piece by piece, cut between messages.
"""

from __future__ import annotations

import os
import sys

from spamnb.errors import DataError, NoInput
from spamnb.mailboxes import mbox
from spamnb.mailboxes.chunks import Chunk, Files, Picked, Raw, Ready, Span, file_messages
from spamnb.mailboxes.folders import STREAM, Numbered, Walk, in_maildir, is_remote, is_stream, split_number
from spamnb.mailboxes.not_mail import SUSPECT, not_mail
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.streams import Source, blocks_of, gather, read, unpacked, unpacker_for, untorn, why

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    Piece = TypeVar("Piece")

__all__ = [
    "Chunk",
    "Files",
    "Picked",
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


def check(paths: Iterable[str]) -> None:
    """Raise NoInput for a path that is missing or may not be read, DataError for a file without mail."""
    for named in paths:
        path = split_number(named)[0] or named
        if path == "-":
            if sys.stdin is None:
                raise NoInput("-: no standard input")
            continue
        if is_remote(path):
            from spamnb.mailboxes import remote_folders

            remote_folders.check(path)
            if path.lower().endswith(SUSPECT):
                _check_mail(path)
            continue
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            raise NoInput(f"{path}: no such file or folder") from None
        except OSError as error:
            raise NoInput(f"{path}: {why(error)}") from error
        if not os.access(path, os.R_OK | os.X_OK if os.path.isdir(path) else os.R_OK):
            raise NoInput(f"{path}: permission denied")
        if not os.path.isdir(path) and not is_stream(path):
            _check_mail(path)


def _check_mail(path: str) -> None:
    """Refuse a file that is named and holds no mail. Why it cannot be read, if so, the reader will tell."""
    reason = not_mail(path, gather(Source(unpacked(read(path))), mbox.MAX_ENVELOPE))
    if reason:
        raise DataError(f"{path}: {reason}")


def total_size(
    paths: Iterable[str], *, without: Iterable[str] = (), leave_out: frozenset[str] = frozenset()
) -> int:
    """Bytes on disk, without reading any; pipes and standard input count nothing."""
    total = 0
    for item in Walk(without, leave_out).files(paths):
        if isinstance(item, Numbered):
            total += item.size
        elif not isinstance(item, Unreadable) and item[1] != STREAM:
            total += item[1]
    return total


def messages(paths: Iterable[str], *, without: Iterable[str] = ()) -> Iterator[Raw | Unreadable]:
    """Every message, in the order of `chunks`."""
    for chunk in chunks(paths, without=without, size=sys.maxsize):  # no file is too large: none is read twice
        yield from chunk.messages()


def chunks(
    paths: Iterable[str],
    *,
    without: Iterable[str] = (),
    leave_out: frozenset[str] = frozenset(),
    size: int = CHUNK,
) -> Iterator[Chunk]:
    """The mail below `paths` in pieces of about `size` bytes, in an order that repeats.

    `without` names files and folders to pass over where walking comes upon them, with all below them;
    `leave_out` the roles of folders that are not to be read there (see spamnb.mailboxes.roles).
    """
    return pieces(Walk(without, leave_out).files(paths), size, _large)


def pieces(
    files: Iterable[tuple[str, int] | Numbered | Unreadable],
    size: int,
    large: Callable[[str, int, int], Iterable[Piece]],
) -> Iterator[Files | Picked | Ready | Piece]:
    """Small files in batches; what becomes of a file that may hold more than a chunk, `large` says."""
    batch: list[str] = []
    weight = 0
    for item in files:
        if isinstance(item, Unreadable):
            alone: Iterable[Files | Picked | Ready | Piece] = (Ready([item], 0),)
        elif isinstance(item, Numbered):
            alone = (Picked(item.path, item.numbers, item.size),)
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
    for item in file_messages(path, counted()):
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
