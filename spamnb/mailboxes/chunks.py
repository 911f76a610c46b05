"""Chunks of mail that a worker turns into messages: files, messages of a mailbox, messages already read."""

from __future__ import annotations

import os
from itertools import islice
from stat import S_ISREG

from spamnb.core.native import Mailbox, is_deleted, is_envelope
from spamnb.errors import NoInput
from spamnb.files import is_address, without_queries
from spamnb.mailboxes import maildir
from spamnb.mailboxes.not_mail import no_message, not_mail
from spamnb.mailboxes.skipped import Deleted, SkippedMail, Unreadable
from spamnb.mailboxes.streams import (
    ByteStream,
    blocks_of,
    chain,
    decompressed,
    decompressor_for,
    gather,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MESSAGE = 64 << 20  # bytes of a message that are kept; larger than any mail server accepts by default
FIRST_BYTES = 1000  # bytes that tell what a file is


class RawMessage:
    """A message as it was found; `index` is its number in the file, or None if the file has only one."""

    __slots__ = ("data", "index", "path")

    def __init__(self, path: str, index: int | None, data: bytes) -> None:
        self.path = without_queries(path)
        self.index = index
        self.data = data


class MessageFiles:
    """Paths of mail files, opened by `messages`; `named` is true if the user named the files themselves."""

    __slots__ = ("named", "paths", "size")

    def __init__(self, paths: list[str], size: int, named: bool = False) -> None:
        self.paths = paths
        self.size = size
        self.named = named

    def messages(self) -> Iterator[RawMessage | Unreadable]:
        fetched: dict[str, Iterator[bytes]] = {}
        if len(self.paths) > 1 and (urls := [path for path in self.paths if is_address(path)]):
            from spamnb.mailboxes.remote import whole_files

            fetched = whole_files(urls)
        for path in maildir.current_paths(self.paths):
            item = plain_message(path, self.named)
            if item is not None:
                yield item
            else:
                yield from file_messages(path, fetched.get(path) or file_blocks(path), self.named)


class NumberedMessages:
    """Messages of a mailbox, chosen by their numbers; the mailbox is read up to the highest number."""

    __slots__ = ("numbers", "path")
    size = 0  # unknown before reading

    def __init__(self, path: str, numbers: set[int]) -> None:
        self.path = path
        self.numbers = numbers

    def messages(self) -> Iterator[RawMessage | Unreadable]:
        missing = set(self.numbers)
        count = 0
        for item in file_messages(self.path, file_blocks(self.path), named=True, deleted=True):
            if isinstance(item, Unreadable):
                yield item
                return
            if item.index is None:
                raise NoInput(f"{self._first(missing)}: {self.path} is a single message; omit the number")
            count = item.index + 1
            if item.index in missing:
                yield item
                missing.discard(item.index)
                if not missing:
                    return
        last = f"the last one is {self.path}:{count - 1}" if count else "the file is empty"
        raise NoInput(f"{self._first(missing)}: no such message; {last}")

    def _first(self, missing: set[int]) -> str:
        return f"{self.path}:{min(missing)}"


class ReadMessages:
    """Messages already read, because their source can be read only once, or only from its start."""

    __slots__ = ("items", "size")

    def __init__(self, items: list[RawMessage | Unreadable], size: int) -> None:
        self.items = items
        self.size = size

    def messages(self) -> Iterator[RawMessage | Unreadable]:
        yield from self.items


def file_blocks(path: str) -> Iterator[bytes]:
    """Yield a file (on disk or at an address) in blocks; each block is read only when it is needed."""
    if is_address(path):
        from spamnb.mailboxes.remote import blocks

        yield from blocks(path)
        return
    with open(path, "rb", buffering=0) as file:
        yield from blocks_of(file.read)


def plain_message(path: str, named: bool) -> RawMessage | Unreadable | None:
    """If a file is a single message, read it in one piece, which is much faster than in blocks.

    Return None for a mailbox, and for a file that is empty, compressed, large or unreadable.
    """
    try:
        data = read_whole(path)
    except OSError:
        return None
    if not data or decompressor_for(data[:10]) is not None or is_envelope(data):
        return None
    if not named and maildir.is_deleted(path):
        return Deleted(path)
    reason = why_no_message(path, data, named)
    return SkippedMail(path, reason) if reason else RawMessage(path, None, data)


def read_whole(path: str) -> bytes | None:
    """Read a file in one piece; return b"" for a pipe or a device, None for more than MAX_MESSAGE bytes."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(file)
        size = status.st_size if S_ISREG(status.st_mode) else 0
        data = os.read(file, size) if size <= MAX_MESSAGE else b""
        return data if len(data) == size else None  # else it is read in blocks, as a stream
    finally:
        os.close(file)


def why_no_message(path: str, start: bytes, named: bool) -> str:
    """Return why a file that begins with `start` is not a message; "" if it may be a message."""
    return (not_mail(path, start) or ("" if named else no_message(start))) if path != "-" else ""


def file_messages(
    path: str, blocks: Iterator[bytes], named: bool, deleted: bool = False
) -> Iterator[RawMessage | Unreadable]:
    """Yield the messages of a file. A file that looks binary is read only if the user `named` this very path.

    Messages of a mailbox that are marked as deleted are yielded if `deleted` is true, otherwise only counted.
    """
    stream = ByteStream(decompressed(blocks))
    start = gather(stream, FIRST_BYTES)
    if is_mailbox(path, start):
        yield from mailbox_messages(path, Mailbox(chain(start, stream)), stream, deleted)
    elif not named and maildir.is_deleted(path):
        yield Deleted(path)
    else:
        if is_envelope(start):  # some programs leave it before the messages of a Maildir
            start = start[start.find(b"\n") + 1 or len(start) :]
        if reason := why_no_message(path, start, named):
            yield SkippedMail(path, reason)
            return
        data = (start + gather(stream, MAX_MESSAGE - len(start)))[:MAX_MESSAGE]
        if data and not stream.why:
            yield RawMessage(path, None, data)
    if stream.why:
        yield Unreadable(path, stream.why)


def is_mailbox(path: str, start: bytes) -> bool:
    """Return whether a file that begins with `start` is an mbox (True) or a single message (False)."""
    return is_envelope(start) and not maildir.is_in_maildir(path)


def mailbox_messages(
    path: str, messages: Iterator[bytes], stream: ByteStream, deleted: bool
) -> Iterator[RawMessage | Unreadable]:
    """Yield the messages of an mbox, numbered from 0. If there is only one message, its number is None.

    If an error ended `stream`, the last message is incomplete and is left out.
    """
    count = skipped = 0
    data = next(messages, None)
    while data is not None:
        following = next(messages, None)
        if following is None and stream.why:
            break
        if not deleted and is_deleted(data):
            skipped += 1
        elif data:
            yield RawMessage(path, count if count or following is not None else None, data)
        data = following
        count += 1
    if skipped:
        yield Deleted(path, skipped)


def has_several(path: str, data: bytes) -> bool:
    """Return whether a file with these bytes is a mailbox of several messages."""
    return is_mailbox(path, data[:FIRST_BYTES]) and len(list(islice(Mailbox([data]), 2))) > 1
