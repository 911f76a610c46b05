"""Check a model as a whole, with its journal: `spamnb check`.

Columns are read in blocks, as all that may be large. What is wrong is noted, and the others checked, too.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import msgpack
import numpy as np

from spamnb.arrays import Array
from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError, NoInput
from spamnb.files import counted
from spamnb.inspection.model_summary import day_text
from spamnb.store.journal import Journal
from spamnb.store.records import checksum_of
from spamnb.store.stored_model import StoredModel
from spamnb.tables.layout import record_type
from spamnb.tables.vocabulary import column_blocks
from spamnb.training.replacing import DAMAGED_SUFFIX

HEAD_ERRORS = (TypeError, ValueError, LookupError, AttributeError)  # raised by a head that makes no sense


@dataclass
class CheckReport:
    """Facts on a model file and its journal, and what is damaged."""

    path: str
    size: int = 0
    columns: int = 0
    tokens: int = 0
    pairs: int = 0
    messages: int = 0  # in the file
    journal: int = 0  # messages in the journal
    journal_size: int = 0
    aside: str | None = None  # the path of a damaged journal that was put aside
    damage: list[str] = field(default_factory=list)


class UnrepairedModel(StoredModel):
    """A model that is opened whatever its columns are, and its journal not repaired: the report says it."""

    def _check_columns(self) -> None:
        pass

    def _mend_journal(self) -> None:
        pass


def check(path: str, progress: Callable[[int, int], object] = lambda _size, _entries: None) -> CheckReport:
    """Check a model; `progress` gets the bytes and the entries of each block that was read."""
    if os.path.isdir(path):
        raise NoInput(f"{path}: a folder; name the model file in it with --model")
    aside = f"{path}.journal{DAMAGED_SUFFIX}"
    found = CheckReport(path, aside=aside if os.path.lexists(aside) else None)
    try:
        stored = UnrepairedModel.open(path)
    except ModelError as error:
        found.size = os.path.getsize(path)
        found.damage = [error.why, *journal_damage(Journal.read(f"{path}.journal", 0, ()))]
        return found
    journal, columns = stored.journal, ColumnChecker(stored, progress)
    found.size, found.columns = stored.file.size, len(columns.names)
    found.tokens, found.pairs = len(stored.column("tokens")), len(stored.column("pairs"))
    found.journal, found.journal_size = len(journal.records), journal.size
    try:
        found.messages = sum(stored.head["messages"])
        columns.check()
    except HEAD_ERRORS:
        columns.damage.append(f"its head makes no sense; {WHAT_TO_DO}")
    found.damage = [*columns.damage, *journal_damage(journal)]
    if stored.lost_lessons:
        found.damage.append(
            f"its journal has {counted(stored.lost_lessons, 'lesson')} for another model file"
        )
    return found


def journal_damage(journal: Journal) -> Iterator[str]:
    """Say where a journal is damaged, and between which days that part was written."""
    for start, end in journal.damaged:
        before = [f" from {day_text(entry.day)}" for entry in journal.records if entry.end <= start][-1:]
        after = [f" to {day_text(entry.day)}" for entry in journal.records if entry.end > start][:1]
        days = "".join([", lessons", *before, *after]) if before or after else ""
        damage = f"its journal is damaged at bytes {start}-{end - 1}{days}"
        yield f"{damage}; learn the messages of that time again"


BIN = b"\xc6"  # msgpack's mark of binary data whose length has four bytes
STRETCHES_AT_ONCE = 1 << 12  # a stretch is the records that a directory's entry leads to, with one checksum


class ColumnChecker:
    """Reads all columns of a model in blocks, and notes what is wrong with them."""

    def __init__(self, stored: StoredModel, progress: Callable[[int, int], object]) -> None:
        self.stored = stored
        self.progress = progress
        self.names = [name for name, *_ in stored.head["columns"]]
        self.damage: list[str] = []
        self.damaged: set[str] = set()

    def check(self) -> None:
        """Check every column, and that records are found where they are looked for."""
        head = self.stored.head
        totals = [*head["presences"], *head["occurrences"]]
        self.records("tokens", "starts", totals, head["vocabulary"])
        self.records("pairs", "pair_starts", [*head["pair_presences"]], head["pair_vocabulary"])
        for name in self.names:
            if name not in ("tokens", "starts", "pairs", "pair_starts"):
                self.read(name)

    def blocks(self, name: str) -> Iterator[Array]:
        """Read a column in blocks; damage is noted after the last one."""
        try:
            if name not in self.names:
                raise ModelError(self.stored.path, f"its column {name} is missing; {WHAT_TO_DO}")
            column = self.stored.column(name)
            prefix = msgpack.packb(name) + BIN + column.size.to_bytes(4, "big")
            if column.file.read(column.at - len(prefix), len(prefix)) != prefix:
                raise ModelError(self.stored.path, f"the name of its column {name} is damaged; {WHAT_TO_DO}")
            for block in column_blocks(self.stored, name):
                self.progress(block.nbytes, len(block))
                yield block
        except ModelError as error:
            self.note(name, error.why)
        except InputOutputError as error:
            self.note(name, f"its column {name} cannot be read: {error}")

    def note(self, name: str, damage: str) -> None:
        self.damaged.add(name)
        self.damage.append(damage)

    def read(self, name: str) -> None:
        for _ in self.blocks(name):
            pass

    def records(self, name: str, directory: str, totals: list[int], size: int) -> None:
        """Check the order of records, the directory that leads to them, and their sums in the head."""
        self.read(directory)
        sums: Array = np.zeros(len(self.stored.column(name).kind) - 1, np.int64)
        last, count, in_order = -1, 0, True
        for block in self.blocks(name):
            keys = block["key"]
            in_order = in_order and last < int(keys[0]) and bool((keys[1:] > keys[:-1]).all())
            last, count = int(keys[-1]), count + len(keys)
            sums += block["counts"].sum(axis=0, dtype=np.int64)
        if self.damaged.isdisjoint((name, directory)):
            if not in_order:
                self.note(name, f"its {name} are not in order; {WHAT_TO_DO}")
            elif not self.leads_to(name, directory):
                self.note(directory, f"its {directory} do not lead to its {name}; {WHAT_TO_DO}")
            if sums.tolist() != totals or count != size:
                self.note(name, f"its {name} do not add up to what its head says; {WHAT_TO_DO}")

    def leads_to(self, name: str, directory: str) -> bool:
        """Tell whether each entry of a directory leads to the records of its keys, with their checksum."""
        entries, width = len(self.stored.column(directory)), self.stored.column(name).width
        shift = 65 - (entries - 1).bit_length()  # 2^k + 1 entries go by the upper k of a key's 64 bits
        end = 0
        for first in range(0, entries - 1, STRETCHES_AT_ONCE):
            stretches = self.entries(directory, first, min(first + STRETCHES_AT_ONCE + 1, entries))
            starts = stretches["start"].tolist()
            if starts[0] != end or starts != sorted(starts) or starts[-1] > len(self.stored.column(name)):
                return False
            end = starts[-1]
            records = self.entries(name, starts[0], end)
            numbers = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(starts))
            data, ends = records.tobytes(), [(start - starts[0]) * width for start in starts]
            sums = [checksum_of(data[a:b], number) for number, (a, b) in enumerate(pairwise(ends), first)]
            if (records["key"] >> np.uint64(shift) != numbers).any():
                return False
            if sums != stretches["checksum"][: len(sums)].tolist():
                return False
        return end == len(self.stored.column(name))

    def entries(self, name: str, start: int, end: int) -> Array:
        """Read a range of a column's entries."""
        column = self.stored.column(name)
        data = column.file.read(column.at + start * column.width, (end - start) * column.width)
        return np.frombuffer(data, record_type(column.kind))
