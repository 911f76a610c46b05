"""Check a model as a whole, with its journal: `spamnb check`.

Columns are read in blocks, as all that may be large. What is wrong is noted, and the others checked, too.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgpack

from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError, NoInput
from spamnb.files import counted
from spamnb.inspection.model_summary import day_text
from spamnb.model import Model
from spamnb.store.journal import Journal
from spamnb.store.stored_model import StoredModel
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
    journal = stored.journal
    found.size, found.columns = stored.file.size, len(stored.head["columns"])
    found.tokens, found.pairs = len(stored.column("tokens")), len(stored.column("pairs"))
    found.journal, found.journal_size = len(journal.records), journal.size
    try:
        found.messages = sum(stored.head["messages"])
        found.damage += column_damage(stored, progress)
        if not found.damage:
            Model.open(path, layered=False)
    except ModelError as error:
        found.damage.append(error.why)
    except HEAD_ERRORS:
        found.damage.append(f"its head makes no sense; {WHAT_TO_DO}")
    found.damage += journal_damage(journal)
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
LOOKED_UP = ("starts", "tokens", "pair_starts", "pairs")  # columns that no model lacks


def column_damage(stored: StoredModel, progress: Callable[[int, int], object]) -> Iterator[str]:
    """Read all columns in blocks, and say which of them are not as their checksums want them."""
    names = [name for name, *_ in stored.head["columns"]]
    for name in dict.fromkeys((*LOOKED_UP, *names)):
        try:
            if name not in names:
                raise ModelError(stored.path, f"its column {name} is missing; {WHAT_TO_DO}")
            column = stored.column(name)
            prefix = msgpack.packb(name) + BIN + column.size.to_bytes(4, "big")
            if column.file.read(column.at - len(prefix), len(prefix)) != prefix:
                raise ModelError(stored.path, f"the name of its column {name} is damaged; {WHAT_TO_DO}")
            for block in column_blocks(stored, name):
                progress(block.nbytes, len(block))
        except ModelError as error:
            yield error.why
        except InputOutputError as error:
            yield f"its column {name} cannot be read: {error}"
