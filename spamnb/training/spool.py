"""Many small tables summed, and the sum read a part at a time, in bounded memory."""

from __future__ import annotations

import os
import pickle
import tempfile
from typing import TYPE_CHECKING, Any

from spamnb.errors import CannotCreate
from spamnb.tables.count_table import Columns, added
from spamnb.training.pool import Pile

if TYPE_CHECKING:
    from collections.abc import Sequence


class Spool:
    """Beyond a size, what is summed so far goes into a file without a name, cut into parts."""

    def __init__(self, near: str, labels: Sequence[str], parts: int, most: int) -> None:
        self.near = near
        self.labels = labels
        self.parts = parts
        self.most = most  # tokens in memory
        self.file: Any = None
        self.places: list[int] = []  # where each part of each table begins in the file
        self._begin()

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        if self.file:
            self.file.close()

    def _begin(self) -> None:
        self.pile = Pile(Columns.empty(self.labels))
        self.tokens = 0
        self.rest = Columns.empty(self.labels)

    def add(self, table: Columns) -> None:
        self.pile.add(table)
        self.tokens += len(table)
        if self.tokens > self.most:
            self.end()
            self._write()
            self._begin()

    def end(self) -> None:
        (self.rest,) = self.pile.parts(lambda table, _: table)

    def _write(self) -> None:
        try:
            folder = os.path.dirname(self.near) or "."
            self.file = self.file or tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed at the end)
            for number in range(self.parts):
                self.places.append(self.file.tell())
                pickle.dump(self.rest.part(number, self.parts), self.file)
            self.file.flush()
        except OSError as error:
            raise CannotCreate(f"{self.near}: cannot write beside it: {error.strerror}") from error

    def part(self, number: int) -> Columns:
        tables = [self.rest.part(number, self.parts)]
        for place in self.places[number :: self.parts]:
            self.file.seek(place)
            tables.append(pickle.load(self.file))  # noqa: S301 (only we know it)
        return added(tables)
