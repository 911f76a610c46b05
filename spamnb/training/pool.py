"""What training asks of the workers that read and count mail, be they of this machine or elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.tables.count_table import CountTable, sum_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from spamnb.arrays import Array
    from spamnb.key import Key
    from spamnb.mailboxes.labelled import Sources
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.reading.settings import Settings
    from spamnb.store.stored import Stored
    from spamnb.tables.layout import Spread
    from spamnb.training.batches import Batch, SampledMessages

    Finish = Callable[[CountTable, CountTable], CountTable]  # of the sum, and what there was before

    class Counted(Protocol):
        """A batch, wherever it is."""

        @property
        def label(self) -> str | None: ...
        @property
        def digests(self) -> Array: ...
        @property
        def unreadable(self) -> list[Unreadable]: ...
        @property
        def size(self) -> int: ...
        def __len__(self) -> int: ...
        def whole(self) -> Batch: ...
        def sampled(self, messages: Array, places: Array) -> SampledMessages: ...
        def table(self, labels: Sequence[str], chosen: Array, day: int) -> Any: ...

    class Heap(Protocol):
        """Tables to be summed, wherever they are."""

        def add(self, table: Any) -> None: ...
        def parts(self, finish: Finish) -> Sequence[Any]: ...

    class Pool(Protocol):
        """Workers that read and count mail, and hold tables to be summed."""

        @property
        def spread(self) -> Spread: ...
        def batches(
            self,
            sources: Sources,
            settings: Settings,
            known: Any = None,
            key: Key | None = None,
            all_folders: bool = False,
        ) -> Iterator[Counted]: ...
        def pile(self, base: Stored | None, labels: Sequence[str]) -> Heap: ...
        def status(self) -> str: ...


FAN = 8


class Pile:
    """Tables summed as they come, FAN of them at a time: so each token is moved only log(n) times."""

    def __init__(self, base: CountTable) -> None:
        self.base = base
        self.tables: list[CountTable] = []
        self.levels: list[int] = []  # how often each was summed

    def add(self, table: CountTable) -> None:
        self.tables.append(table)
        self.levels.append(0)
        while self.levels.count(self.levels[-1]) == FAN:
            self.tables[-FAN:] = [sum_tables(self.tables[-FAN:])]
            self.levels[-FAN:] = [self.levels[-1] + 1]

    def parts(self, finish: Finish) -> list[CountTable]:
        """The sum: all in one."""
        tables, self.tables = [self.base, *self.tables], []
        return [finish(sum_tables(tables), self.base)]
