"""Mailboxes cut at any byte, for those who spread them over machines without reading them first.

Who works on a range starts at the first boundary in it, and goes on to the first one behind it. Whether the
ranges of a mailbox meet shows afterwards: a body with a Content-Length may hold what looks like a boundary.
"""

from __future__ import annotations

from spamnb.mailboxes import mbox
from spamnb.mailboxes.folders import Walk, is_remote
from spamnb.mailboxes.sources import Files, Picked, Raw, Ready, Unreadable, kind, pieces, streamed
from spamnb.mailboxes.streams import Source, chain, gather, read, untorn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeVar

    Result = TypeVar("Result")

RANGE = 8 << 20  # bytes: half a second of tokenizing, and few requests to a store
MAX_PACKED = 4 << 20  # bytes of a compressed mailbox that goes out whole; it cannot be cut


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

    __slots__ = ("exact", "found", "path", "start", "stop")

    def __init__(self, path: str, start: int, stop: int, exact: bool = False) -> None:
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
        source = Source(read(self.path, at, self.stop - at))
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


Work = Files | Picked | Range | Ready  # a piece of work that any machine can do


def ranges(
    paths: Iterable[str],
    *,
    without: Iterable[str] = (),
    leave_out: frozenset[str] = frozenset(),
    size: int = RANGE,
) -> Iterator[Work]:
    """The mail below `paths` as `chunks` has it, but no mailbox is read to find where it can be cut.

    The ranges of a mailbox follow each other, the first starting at 0. The results belong into `joined`.
    """
    return pieces(Walk(without, leave_out).files(paths), size, _large)


def _large(path: str, length: int, size: int) -> Iterable[Files | Range | Ready]:
    packed, is_mailbox = kind(path)
    if packed and length > MAX_PACKED:
        return streamed(path, size)
    if packed or not is_mailbox:
        return (Files([path], length),)
    if is_remote(path):
        from spamnb.mailboxes.remote import can_seek

        if not can_seek(path):
            return streamed(path, size)
    return (Range(path, start, min(start + size, length)) for start in range(0, length, size))


def joined(
    worked: Iterable[tuple[Work, Result]], work: Callable[[Range], tuple[Range, Result]]
) -> Iterator[tuple[Work, Result, int]]:
    """Chunks and what came of them, in order, without gaps and overlaps: each with the number of records of
    its mailbox before it, to be added to the index of its messages.

    A range that did not begin where the one before it ended goes to `work` again; one that lies whole within
    a message of the one before is dropped. Behind one that could not be read to its end, the next is taken
    as it is.
    """
    at: int | None = 0
    before = 0
    for chunk, result in worked:
        if not isinstance(chunk, Range):
            yield chunk, result, 0
            continue
        if chunk.start == 0:
            at = before = 0
        if at is not None and at >= chunk.stop:
            continue
        if at is not None and _found(chunk).began != at:
            chunk, result = work(Range(chunk.path, at, chunk.stop, exact=True))
        found = _found(chunk)
        yield chunk, result, before
        before += found.records
        at = found.ended if found.whole else None


def _found(chunk: Range) -> Found:
    if chunk.found is None:
        raise ValueError("a range whose messages have not been read")
    return chunk.found
