"""Check a model as a whole, with its journal: `spamnb inspect --check`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from spamnb.errors import WHAT_TO_DO, ModelError, NoInput
from spamnb.inspection.check_columns import ColumnChecker
from spamnb.inspection.model_summary import day_text
from spamnb.store.journal import Journal
from spamnb.store.stored_model import StoredModel
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

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


class UnrepairedModel(StoredModel):
    """A model that does not repair its journal when it is opened: the report says what is damaged."""

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
    return found


def journal_damage(journal: Journal) -> Iterator[str]:
    """Say where a journal is damaged, and between which days that part was written."""
    for start, end in journal.damaged:
        before = [f" from {day_text(entry.day)}" for entry in journal.records if entry.end <= start][-1:]
        after = [f" to {day_text(entry.day)}" for entry in journal.records if entry.end > start][:1]
        days = "".join([", lessons", *before, *after]) if before or after else ""
        damage = f"its journal is damaged at bytes {start}-{end - 1}{days}"
        yield f"{damage}; learn the messages of that time again"
