"""Who reads, counts and judges mail in bulk: the processes of this machine, or others elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spamnb.bulk.batches import Counting
from spamnb.bulk.classifying import Judge
from spamnb.bulk.columns import Columns, added
from spamnb.bulk.workers import all_cores, in_parallel
from spamnb.mail.roles import left_out_of
from spamnb.mail.sources import chunks, total_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    from spamnb.bulk.batches import Batch
    from spamnb.bulk.calibration import Piece
    from spamnb.bulk.classifying import Judgement
    from spamnb.bulk.columns import Array
    from spamnb.bulk.model_file import Spread
    from spamnb.counts.store import Stored
    from spamnb.key import Key
    from spamnb.mail.sources import Unreadable
    from spamnb.model import Model
    from spamnb.tokens.settings import Settings

    Sources = Mapping[str, Sequence[str]]  # the paths of each label
    Finish = Callable[[Columns, Columns], Columns]  # of the sum, and what there was before

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
        def piece(self, messages: Array, places: Array) -> Piece: ...
        def table(self, labels: Sequence[str], chosen: Array, day: int) -> Any: ...

    class Heap(Protocol):
        """Tables to be summed, wherever they are."""

        def add(self, table: Any) -> None: ...
        def parts(self, finish: Finish) -> Sequence[Any]: ...

    class Crew(Protocol):
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
        def verdicts(self, model: Model, paths: Sequence[str]) -> Iterator[Judgement]: ...
        def told(self) -> str: ...


FAN = 8


class Here:
    """Processes of this machine."""

    spread = staticmethod(map)

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or all_cores()

    def batches(
        self,
        sources: Sources,
        settings: Settings,
        known: Any = None,
        key: Key | None = None,
        all_folders: bool = False,
    ) -> Iterator[Batch]:
        """All mail under each label, in order; for a model with a key, its tokens hidden by it."""
        work = by_label(sources, chunks, all_folders)
        yield from in_parallel(Counting(settings, known, key), work, self.jobs)

    def pile(self, base: Stored | None, labels: Sequence[str]) -> Pile:
        return Pile(Columns.load(base).relabelled(labels) if base else Columns.empty(labels))

    def verdicts(self, model: Model, paths: Sequence[str]) -> Iterator[Judgement]:
        yield from in_parallel(Judge(model), ((chunk,) for chunk in chunks(paths)), self.jobs)

    def told(self) -> str:
        """What there is to tell of the workers meanwhile."""
        return ""


def by_label(
    sources: Sources, split: Callable[..., Iterable[Any]], all_folders: bool = False
) -> Iterator[tuple[Any, str]]:
    """Pieces of work and their labels; what is named under one label is not met under another.

    Folders whose names speak against a label are left out, unless `all_folders` are wanted.
    """
    for label, paths, limits in _limited(sources, all_folders):
        for chunk in split(paths, **limits):
            yield chunk, label


def size_of(sources: Sources, all_folders: bool = False) -> int:
    """Bytes on disk of all mail that `by_label` finds."""
    return sum(total_size(paths, **limits) for _, paths, limits in _limited(sources, all_folders))


def _limited(sources: Sources, all_folders: bool) -> Iterator[tuple[str, Sequence[str], dict[str, Any]]]:
    """Each label, its paths, and what is not to be read below them."""
    everything = {path for paths in sources.values() for path in paths}
    for label, paths in sources.items():
        leave_out = frozenset[str]() if all_folders else left_out_of(label)
        yield label, paths, {"without": everything.difference(paths), "leave_out": leave_out}


class Pile:
    """Tables summed as they come, FAN of them at a time: so each token is moved only log(n) times."""

    def __init__(self, base: Columns) -> None:
        self.base = base
        self.tables: list[Columns] = []
        self.levels: list[int] = []  # how often each was summed

    def add(self, table: Columns) -> None:
        self.tables.append(table)
        self.levels.append(0)
        while self.levels.count(self.levels[-1]) == FAN:
            self.tables[-FAN:] = [added(self.tables[-FAN:])]
            self.levels[-FAN:] = [self.levels[-1] + 1]

    def parts(self, finish: Finish) -> list[Columns]:
        """The sum: all in one."""
        tables, self.tables = [self.base, *self.tables], []
        return [finish(added(tables), self.base)]
