"""Batches of tokenized messages. Training adds them to counts, evaluation keeps them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from spamnb.core.native import BatchReader
from spamnb.mailboxes.skipped import Unreadable

if TYPE_CHECKING:
    from spamnb.core.native import MessageRows
    from spamnb.mailboxes.chunks import RawMessage
    from spamnb.reading.settings import Settings

AT_ONCE = 1 << 20  # bytes of mail that are tokenized at once

# Returns the sorted hashes of messages learned under a label before: these need not be tokenized again.
HashesOf = Callable[[str], Any]


@dataclass(frozen=True)
class MailToRead:
    """The paths of the mail of each label, and the settings to tokenize it with."""

    sources: Mapping[str, Sequence[str]]  # the paths of each label
    settings: Settings
    learned_hashes: HashesOf | None = None


class Chunk(Protocol):
    """Mail that is read as one piece of work: a part of a mailbox, or some files."""

    @property
    def size(self) -> int: ...
    def messages(self) -> Iterator[RawMessage | Unreadable]: ...


class Pool(Protocol):
    """Workers that read mail: threads of this machine, or a cluster."""

    @property
    def jobs(self) -> int: ...
    def batches(self, mail: MailToRead) -> Iterator[Batch]: ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Messages that a thread, or a worker of a cluster, has read together."""

    label: str | None
    names: list[tuple[str, int | None]]  # path, and number in an mbox
    rows: MessageRows
    unreadable: list[Unreadable]  # including messages skipped on purpose
    size: int  # bytes of mail

    def __len__(self) -> int:
        return len(self.names)


def batch_of(
    chunk: Chunk,
    label: str | None,
    reader: BatchReader,
    known: Any = None,
    *,
    hashes: bool = True,
    numbers: bool = True,
) -> Batch:
    """Read a chunk of mail and tokenize its messages, except those whose hashes are in `known`.

    With `hashes` False, all hashes are 0 and `known` is ignored; with `numbers` False, numeric features are
    left out. Both save time: to judge mail, no hashes are needed, and most views use no numbers.
    """
    names: list[tuple[str, int | None]] = []
    unreadable: list[Unreadable] = []
    data: list[bytes] = []
    size = 0
    for raw in chunk.messages():
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        names.append((raw.path, raw.index))
        data.append(raw.data)
        size += len(raw.data)
        if size >= AT_ONCE:
            reader.add(data, known, hashes, numbers)
            data, size = [], 0
    reader.add(data, known, hashes, numbers)
    return Batch(label, names, reader.rows(), unreadable, chunk.size)


class ChunkReader:
    """A callable that reads a chunk of mail and returns a batch; several threads may call it at once."""

    def __init__(self, settings: Settings, hashes_of: HashesOf | None = None) -> None:
        self.settings = settings
        self.hashes_of = hashes_of
        self.idle_readers: list[BatchReader] = []  # that no thread uses
        self.learned_hashes: dict[str, Any] = {}  # by label

    def __reduce__(self) -> tuple[Any, ...]:
        return ChunkReader, (self.settings, self.hashes_of)

    def __call__(self, chunk: Chunk, label: str) -> Batch:
        if self.hashes_of and label not in self.learned_hashes:
            self.learned_hashes[label] = self.hashes_of(label)
        try:
            reader = self.idle_readers.pop()
        except IndexError:
            reader = BatchReader(self.settings)
        batch = batch_of(chunk, label, reader, self.learned_hashes.get(label))
        self.idle_readers.append(reader)  # not after an error, which may leave half a batch in it
        return batch
