"""Mailboxes cut at any byte, without reading them first, for processes and machines to share.

Who works on a range starts at the first boundary in it, and goes on to the first one behind it. Whether the
ranges of a mailbox meet shows afterwards: a body with a Content-Length may hold what looks like a boundary.
"""

from __future__ import annotations

from spamnb.mailboxes import mbox
from spamnb.mailboxes.chunks import Raw
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.streams import Source, chain, gather, untorn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from spamnb.mailboxes.stores import Store

    Result = TypeVar("Result")


class Found:
    """Where the work on a range began and ended, and how many records of the mailbox lie between."""

    __slots__ = ("began", "ended", "records", "whole")

    def __init__(self, began: int) -> None:
        self.began = began
        self.ended = began
        self.records = 0
        self.whole = False  # read up to its end, without an error


class Range:
    """The records of a plain mbox that start from `start` on and before `stop`.

    If `exact`, one starts at `start`; else, unless that is 0, the first boundary is sought. The index of a
    message is counted from there. `found` is set when its messages have been read.
    """

    __slots__ = ("exact", "found", "path", "start", "stop", "store")

    def __init__(self, store: Store, path: str, start: int, stop: int, exact: bool = False) -> None:
        self.store = store
        self.path = path
        self.start = start
        self.stop = stop
        self.exact = exact
        self.found: Found | None = None

    @property
    def size(self) -> int:
        return self.stop - self.start

    def messages(self) -> Iterator[Raw | Unreadable]:
        back = 0 if self.exact else min(self.start, mbox.LEAD)
        at = self.start - back
        source = Source(self.store.read(self.path, at, self.stop - at))
        blocks: Iterator[bytes] = source
        if back:
            far, blocks = mbox.boundary(source, self.stop - at)
            at += far
        found = self.found = Found(min(at, self.stop))
        head = gather(blocks, mbox.MAX_ENVELOPE) if at < self.stop else b""
        if mbox.is_envelope(head):
            for record, length in untorn(mbox.records(chain(head, blocks)), source):
                data = mbox.message(record)
                if data:
                    yield Raw(self.path, found.records, data)
                found.records += 1
                found.ended += length
                if found.ended >= self.stop:
                    break
        elif head:
            source.why = source.why or "changed while it was read"
        found.whole = not source.why
        if source.why:
            yield Unreadable(self.path, source.why)


class RangeTask:
    """A task on chunks that also returns the chunk, if it is a range, as `joined` wants it."""

    def __init__(self, task: Callable[..., Any]) -> None:
        self.task = task

    def __call__(self, chunk: Any, *arguments: Any) -> tuple[Range | None, Any]:
        result = self.task(chunk, *arguments)
        return chunk if isinstance(chunk, Range) else None, result


def joined(
    worked: Iterable[tuple[Range | None, Result]],
    again: Callable[[Range, Result], tuple[Range | None, Result]],
) -> Iterator[tuple[Result, int]]:
    """Results of chunks, in order, without gaps and overlaps: each with the number of records of its mailbox
    before it, to be added to the index of its messages.

    Chunks that are no range come as None. A range that did not begin where the one before it ended is worked
    on `again`, for which its first result is given; one that lies whole within a message of the one before is
    dropped. Behind one that could not be read to its end, the next is taken as it is.
    """
    at: int | None = 0
    before = 0
    for chunk, result in worked:
        if chunk is None:
            yield result, 0
            continue
        if chunk.start == 0:
            at = before = 0
        if at is not None and at >= chunk.stop:
            continue
        found = _found(chunk)
        if at is not None and found.began != at:
            chunk, result = again(Range(chunk.store, chunk.path, at, chunk.stop, exact=True), result)
            found = _found(chunk)
        yield result, before
        before += found.records
        at = found.ended if found.whole else None


def _found(chunk: Range | None) -> Found:
    if chunk is None or chunk.found is None:
        raise ValueError("a range whose messages have not been read")
    return chunk.found
