"""Check a whole model and its journal: `spamnb check`.

Columns may be large and are read in blocks. After damage in one column, the others are still checked.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from spamnb.core.native import BlockWriter, Merger, pack
from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError, NoInput
from spamnb.files import counted
from spamnb.inspection.model_summary import day_text
from spamnb.labels import LABELS
from spamnb.model import Model
from spamnb.store.journal import Journal, read_bytes
from spamnb.store.stored_model import StoredModel
from spamnb.training.replacing import DAMAGED_SUFFIX

BIN = b"\xc6"  # msgpack's mark of binary data whose length has four bytes
SUMS = "presences", "occurrences", "pair_presences", "vocabulary", "pair_vocabulary"  # over all entries


@dataclass
class CheckReport:
    """Facts about a model file and its journal, and a list of their damage."""

    path: str
    size: int = 0
    columns: int = 0
    tokens: int = 0
    pairs: int = 0
    messages: int = 0  # in the file
    journal: int = 0  # messages in the journal
    journal_size: int = 0
    aside: str | None = None  # path of an earlier, damaged journal
    damage: list[str] = field(default_factory=list)


class UnrepairedModel(StoredModel):
    """A model that is opened without repairing its journal, so that damage can be reported."""

    def _mend_journal(self, journal: Journal) -> None:
        pass


def check(path: str, progress: Callable[[int, int], object] = lambda _size, _entries: None) -> CheckReport:
    """Check a model and its journal; call `progress` with the number of bytes and of entries just checked."""
    if os.path.isdir(path):
        raise NoInput(f"{path}: this is a folder; name the model file in it with --model")
    aside = f"{path}.journal{DAMAGED_SUFFIX}"
    found = CheckReport(path, aside=aside if os.path.lexists(aside) else None)
    try:
        stored = UnrepairedModel.open(path)
    except ModelError as error:
        found.size = os.path.getsize(path)
        found.damage = [error.why, *journal_damage(Journal(LABELS, 0, read_bytes(f"{path}.journal")))]
        return found
    head, journal = stored.head, stored.journal
    found.size, found.columns = stored.file.size, len(stored.columns)
    found.tokens, found.pairs = head["vocabulary"], head["pair_vocabulary"]
    found.messages = sum(head["messages"])
    found.journal, found.journal_size = len(journal.records), journal.size
    found.damage += column_damage(stored, progress)
    try:
        if not found.damage:
            check_sums(stored, progress)
            Model.open(path, layered=False)
    except ModelError as error:
        found.damage.append(error.why)
    found.damage += journal_damage(journal)
    if stored.lost_lessons:
        entries = counted(stored.lost_lessons, "entry that belongs", "entries that belong")
        found.damage.append(f"its journal has {entries} to another model file; restore that file")
    return found


def journal_damage(journal: Journal) -> Iterator[str]:
    """Yield a sentence for each damaged range of a journal: which bytes, and when they were written."""
    for start, end in journal.damaged:
        before = [f" from {day_text(entry.day)}" for entry in journal.records if entry.end <= start][-1:]
        after = [f" to {day_text(entry.day)}" for entry in journal.records if entry.end > start][:1]
        days = "".join([", written", *before, *after]) if before or after else ""
        damage = f"its journal is damaged at bytes {start}-{end - 1}{days}"
        yield f"{damage}; learn the messages of that time again"


def column_damage(stored: StoredModel, progress: Callable[[int, int], object]) -> Iterator[str]:
    """Read all columns of a model file; yield a sentence for each column that is damaged or unreadable."""
    for name, column in stored.columns.items():
        try:
            prefix = pack(name) + BIN + column.size.to_bytes(4, "big")
            if column.file.read(column.at - len(prefix), len(prefix)) != prefix:
                raise ModelError(stored.path, f"the name of the column {name} is damaged; {WHAT_TO_DO}")
            column.verify()
            progress(column.size, 0)
        except ModelError as error:
            yield error.why
        except InputOutputError as error:
            yield f"its column {name} cannot be read: {error}"


def check_sums(stored: StoredModel, progress: Callable[[int, int], object]) -> None:
    """Read all entries; raise ModelError if they are out of order, or if the stored totals are wrong."""
    labels = list(range(len(stored.labels)))
    sums = BlockWriter(len(labels))
    for entries in Merger(len(labels), [(stored.file_counts, 1, labels)]):
        sums.add(entries)
        progress(0, len(entries))
    if any(getattr(sums, name) != stored.head[name] for name in SUMS):
        raise ModelError(stored.path, f"the stored totals differ from the sums of the counts; {WHAT_TO_DO}")
