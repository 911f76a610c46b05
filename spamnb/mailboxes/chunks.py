"""Pieces of mail that a process turns into messages: files, a stretch of an mbox, some messages of one."""

from __future__ import annotations

from spamnb.errors import NoInput
from spamnb.mailboxes import mbox
from spamnb.mailboxes.folders import in_maildir, is_remote, whereabouts
from spamnb.mailboxes.not_mail import not_mail
from spamnb.mailboxes.skipped import PassedOver, Unreadable
from spamnb.mailboxes.streams import Source, chain, first, gather, read, unpacked, untorn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
            from spamnb.mailboxes.remote import each

            for path, blocks in each(self.paths):
                yield from file_messages(path, blocks)
            return
        known: dict[str, dict[str, str]] = {}
        for path in self.paths:
            now = whereabouts(path, known)
            yield from file_messages(now, read(now))


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


class Picked:
    """Some messages of a mailbox, by their numbers. It is read up to the last of them."""

    __slots__ = ("numbers", "path", "size")

    def __init__(self, path: str, numbers: set[int], size: int) -> None:
        self.path = path
        self.numbers = numbers
        self.size = size

    def messages(self) -> Iterator[Raw | Unreadable]:
        missing = set(self.numbers)
        many = 0
        for item in file_messages(self.path, read(self.path)):
            if isinstance(item, Unreadable):
                yield item
                return
            if item.index is None:
                raise NoInput(f"{self._name(missing)}: {self.path} is one message; name it without a number")
            many = item.index + 1
            if item.index in missing:
                yield item
                missing.discard(item.index)
                if not missing:
                    return
        last = f"the last one is {self.path}:{many - 1}" if many else "it is empty"
        raise NoInput(f"{self._name(missing)}: there is no such message in it; {last}")

    def _name(self, missing: set[int]) -> str:
        return f"{self.path}:{min(missing)}"


class Ready:
    """Messages already read, from what can be read only once or only from its start."""

    __slots__ = ("items", "size")

    def __init__(self, items: list[Raw | Unreadable], size: int) -> None:
        self.items = items
        self.size = size

    def messages(self) -> Iterator[Raw | Unreadable]:
        yield from self.items


# A piece of work, cheap to send to another process; `size` is its bytes on disk.
Chunk = Files | Span | Picked | Ready


def file_messages(path: str, blocks: Iterator[bytes]) -> Iterator[Raw | Unreadable]:
    """The messages of one file."""
    source = Source(unpacked(blocks))
    head = gather(source, mbox.MAX_ENVELOPE)
    envelope = mbox.is_envelope(head)
    reason = "" if envelope else not_mail(path, head)
    if reason:
        yield PassedOver(path, reason)
        return
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
