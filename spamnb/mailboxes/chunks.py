"""Pieces of mail that a process turns into messages: files, some messages of a mailbox, messages at hand."""

from __future__ import annotations

from spamnb.errors import NoInput
from spamnb.mailboxes import mbox
from spamnb.mailboxes.folders import in_maildir
from spamnb.mailboxes.not_mail import not_mail
from spamnb.mailboxes.skipped import PassedOver, Unreadable
from spamnb.mailboxes.streams import Source, chain, gather, unpacked, untorn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.mailboxes.stores import Store


class Raw:
    """One message as it was found; `index` is its number in an mbox, None for a file of its own."""

    __slots__ = ("data", "index", "path")

    def __init__(self, path: str, index: int | None, data: bytes) -> None:
        self.path = path
        self.index = index
        self.data = data


class Files:
    """Files of a store, which the one who asks for their messages opens."""

    __slots__ = ("paths", "size", "store")

    def __init__(self, store: Store, paths: list[str], size: int) -> None:
        self.store = store
        self.paths = paths
        self.size = size

    def messages(self) -> Iterator[Raw | Unreadable]:
        for path, blocks in self.store.read_each(self.paths):
            yield from file_messages(self.store, path, blocks)


class Picked:
    """Some messages of a mailbox, by their numbers. It is read up to the last of them."""

    __slots__ = ("numbers", "path", "size", "store")

    def __init__(self, store: Store, path: str, numbers: set[int], size: int) -> None:
        self.store = store
        self.path = path
        self.numbers = numbers
        self.size = size

    def messages(self) -> Iterator[Raw | Unreadable]:
        missing = set(self.numbers)
        many = 0
        for item in file_messages(self.store, self.path, self.store.read(self.path)):
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


def file_messages(store: Store, path: str, blocks: Iterator[bytes]) -> Iterator[Raw | Unreadable]:
    """The messages of one file."""
    source = Source(unpacked(blocks))
    head = gather(source, mbox.MAX_ENVELOPE)
    envelope = mbox.is_envelope(head)
    reason = "" if envelope else not_mail(path, head)
    if reason:
        yield PassedOver(path, reason)
        return
    if envelope and not in_maildir(store, path):
        for index, (record, _) in enumerate(untorn(mbox.records(chain(head, source)), source)):
            data = mbox.message(record)
            if data:
                yield Raw(path, index, data)
    else:
        start = (head.find(b"\n") + 1 or len(head)) if envelope else 0
        head = head[start:]
        data = (head + gather(source, mbox.MAX_MESSAGE - len(head)))[: mbox.MAX_MESSAGE]
        if data and not source.why:
            yield Raw(path, None, data)
    if source.why:
        yield Unreadable(path, source.why)
