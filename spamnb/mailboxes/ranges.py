"""Ranges of a mailbox cut at any byte, without reading it first, for processes and machines to share.

A range is read from the first boundary (start of a message) in it to the first one after it, so ranges that
follow each other meet.
"""

from __future__ import annotations

from spamnb.mailboxes import mbox
from spamnb.mailboxes.chunks import FIRST_BYTES, RawMessage, numbered
from spamnb.mailboxes.locating import store_for
from spamnb.mailboxes.skipped import Deleted, Unreadable
from spamnb.mailboxes.streams import ByteStream, chain, drop_incomplete, gather

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    Result = TypeVar("Result")


class MailboxRange:
    """The records of a plain mbox that start from `start` on and before `stop`.

    The index of a message is counted from the first record. `records`, how many there are, is known when the
    messages have been read.
    """

    __slots__ = ("path", "records", "start", "stop")

    def __init__(self, path: str, start: int, stop: int) -> None:
        self.path = path
        self.start = start
        self.stop = stop
        self.records = 0

    @property
    def size(self) -> int:
        return self.stop - self.start

    def messages(self) -> Iterator[RawMessage | Unreadable]:
        at = max(0, self.start - mbox.LEAD)
        stream = ByteStream(store_for(self.path).read(self.path, at, self.stop - at))
        blocks: Iterator[bytes] = stream
        if self.start:
            offset, blocks = mbox.boundary(stream, self.stop - at)
            at += offset
        self.records = 0
        start = gather(blocks, FIRST_BYTES) if at < self.stop else b""
        if mbox.is_envelope(start):
            records = drop_incomplete(mbox.messages(chain(start, blocks)), stream)
            deleted = 0
            for index, (data, length) in enumerate(records) if self.start else numbered(records):
                if mbox.is_deleted(data):
                    deleted += 1
                elif data:
                    yield RawMessage(self.path, index, data)
                self.records += 1
                at += length
                if at >= self.stop:
                    break
            if deleted:
                yield Deleted(self.path, deleted)
        elif start:
            stream.why = stream.why or "changed while it was read"
        if stream.why:
            yield Unreadable(self.path, stream.why)


class ChunkTask:
    """A task on chunks that also returns the chunk, if it is a range, as `with_records_before` wants it."""

    def __init__(self, task: Callable[..., Any]) -> None:
        self.task = task

    def __call__(self, chunk: Any, *arguments: Any) -> tuple[MailboxRange | None, Any]:
        result = self.task(chunk, *arguments)
        return chunk if isinstance(chunk, MailboxRange) else None, result


def with_records_before(
    results: Iterable[tuple[MailboxRange | None, Result]],
) -> Iterator[tuple[Result, int]]:
    """Yield the results of chunks, in order, each with the number of records before it in its mailbox.

    It is to be added to the index of the messages. Chunks that are no range come as None.
    """
    before = 0
    for chunk, result in results:
        if chunk is None or chunk.start == 0:
            before = 0
        yield result, before
        before += chunk.records if chunk else 0
