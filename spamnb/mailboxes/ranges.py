"""Ranges of a mailbox cut at any byte, without reading it first, for processes and machines to share.

A range is read from the first boundary (start of a message) in it to the first one after it. Whether the
ranges of a mailbox meet shows afterwards: a body with a Content-Length may hold what looks like a boundary.
"""

from __future__ import annotations

from spamnb.mailboxes.chunks import RawMessage, numbered
from spamnb.mailboxes.formats import FIRST_BYTES, FORMATS
from spamnb.mailboxes.skipped import Deleted, Unreadable
from spamnb.mailboxes.streams import ByteStream, chain, drop_incomplete, gather

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from spamnb.mailboxes.stores import Store

    Result = TypeVar("Result")


class RangeExtent:
    """Boundaries where the reading of a range began and ended, and how many records lie between."""

    __slots__ = ("began", "ended", "records", "whole")

    def __init__(self, began: int) -> None:
        self.began = began
        self.ended = began
        self.records = 0
        self.whole = False  # read up to its end, without an error


class MailboxRange:
    """The records of a mailbox that start from `start` on and before `stop`.

    Its format has boundaries that can be found from anywhere, and it is not compressed. If `exact`, or if
    `start` is 0, a record begins there; else the first boundary is sought. The index of a message is counted
    from the first record. `extent` is known when the messages have been read.
    """

    __slots__ = ("exact", "extent", "format_name", "path", "start", "stop", "store")

    def __init__(
        self, store: Store, path: str, format_name: str, start: int, stop: int, exact: bool = False
    ) -> None:
        self.store = store
        self.path = path
        self.format_name = format_name  # formats are not sent to other processes
        self.start = start
        self.stop = stop
        self.exact = exact
        self.extent = RangeExtent(start)

    @property
    def size(self) -> int:
        return self.stop - self.start

    def messages(self) -> Iterator[RawMessage | Unreadable]:
        known = FORMATS[self.format_name]
        at = self.start if self.exact else max(0, self.start - known.LEAD)
        stream = ByteStream(self.store.read(self.path, at, self.stop - at))
        blocks: Iterator[bytes] = stream
        if at < self.start:
            offset, blocks = known.boundary(stream, self.stop - at)
            at += offset
        extent = self.extent = RangeExtent(min(at, self.stop))
        start = gather(blocks, FIRST_BYTES) if at < self.stop else b""
        if known.recognises(start):
            records = drop_incomplete(known.messages(chain(start, blocks)), stream)
            deleted = 0
            for index, (data, length) in enumerate(records) if self.start else numbered(records):
                if known.is_deleted(data):
                    deleted += 1
                elif data:
                    yield RawMessage(self.path, index, data)
                extent.records += 1
                extent.ended += length
                if extent.ended >= self.stop:
                    break
            if deleted:
                yield Deleted(self.path, deleted)
        elif start:
            stream.why = stream.why or "changed while it was read"
        extent.whole = not stream.why
        if stream.why:
            yield Unreadable(self.path, stream.why)


class ChunkTask:
    """A task on chunks that also returns the chunk, if it is a range, as `join_ranges` wants it."""

    def __init__(self, task: Callable[..., Any]) -> None:
        self.task = task

    def __call__(self, chunk: Any, *arguments: Any) -> tuple[MailboxRange | None, Any]:
        result = self.task(chunk, *arguments)
        return chunk if isinstance(chunk, MailboxRange) else None, result


def join_ranges(
    results: Iterable[tuple[MailboxRange | None, Result]],
    redo: Callable[[MailboxRange, Result], tuple[Any, Result]],
) -> Iterator[tuple[Result, int]]:
    """Yield the results of chunks, in order, without gaps and overlaps: each with the number of records
    before it in its mailbox, to be added to the index of its messages.

    Chunks that are no range come as None. A range that did not begin where the range before it ended is given
    to `redo`, with its first result; a range that lies within a message of the range before is dropped. After
    a range that could not be read to its end, the next is taken as it is.
    """
    at: int | None = 0  # where the range before ended; None if it could not be read to its end
    before = 0
    for chunk, result in results:
        if chunk is None:
            yield result, 0
            continue
        if chunk.start == 0:
            at = before = 0
        if at is not None and at >= chunk.stop:
            continue
        extent = chunk.extent
        if at is not None and extent.began != at:
            exact = MailboxRange(chunk.store, chunk.path, chunk.format_name, at, chunk.stop, exact=True)
            chunk, result = redo(exact, result)
            extent = chunk.extent
        yield result, before
        before += extent.records
        at = extent.ended if extent.whole else None
