"""Check a model as a whole, with its journal: `spamnb check`.

Columns are read in blocks, as all that may be large. What is wrong is noted, and the others checked, too.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from spamnb.arrays import Array
from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError, NoInput
from spamnb.files import counted
from spamnb.inspection.model_summary import day_text
from spamnb.store import msgpack_codec
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
        self.head = stored.head
        self.label_count = len(stored.labels)
        self.progress = progress
        self.names = [name for name, *_ in self.head["columns"]]
        self.damage: list[str] = []
        self.checked: set[str] = set()
        self.damaged: set[str] = set()
        # Columns whose contents do not agree, and what is wrong; ignored if one of them is itself damaged.
        self.disagreements: list[tuple[tuple[str, ...], str]] = []

    def check(self) -> None:
        """Check every column, and whether what is written twice says the same."""
        head, patterns = self.head, Counter[bytes]()
        self.records(
            "tokens", "starts", [*head["presences"], *head["occurrences"]], head["vocabulary"], patterns
        )
        self.records("pairs", "pair_starts", [*head["pair_presences"]], head["pair_vocabulary"])
        self.texts()
        self.histogram(patterns)
        self.messages()
        self.numbers()
        for name in self.names:
            if name not in self.checked:
                self.read(name)
        for name, of in (("days", "tokens"), ("first_days", "tokens"), ("pair_days", "pairs")):
            self.expect(self.length(name) == self.length(of), f"are not as many as its {of}", name, of)
        self.damage += [damage for names, damage in self.disagreements if self.damaged.isdisjoint(names)]

    # Reading columns, and noting what is wrong

    def blocks(self, name: str) -> Iterator[Array]:
        """Read a column in blocks; damage is noted after the last one."""
        self.checked.add(name)
        try:
            if name not in self.names:
                raise ModelError(self.stored.path, f"its column {name} is missing; {WHAT_TO_DO}")
            column = self.stored.column(name)
            prefix = msgpack_codec.pack(name) + BIN + column.size.to_bytes(4, "big")
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

    def read(self, name: str) -> bool:
        """Read a column; returns whether it is undamaged."""
        for _ in self.blocks(name):
            pass
        return name not in self.damaged

    def read_whole(self, name: str) -> Array:
        """Read a small column as one array."""
        blocks = list(self.blocks(name))
        return np.concatenate(blocks) if blocks else np.empty(0, np.int64)

    def read_entries(self, name: str, start: int, end: int) -> Array:
        """Read a range of entries; zeros if that fails."""
        column = self.stored.column(name)
        try:
            data = column.file.read(column.at + start * column.width, (end - start) * column.width)
        except InputOutputError as error:
            self.note(name, f"its column {name} cannot be read: {error}")
            data = bytes((end - start) * column.width)
        return np.frombuffer(data, record_type(column.kind))

    def length(self, name: str) -> int:
        return len(self.stored.column(name)) if name in self.names else 0

    def expect(self, holds: bool, wrong: str, *names: str) -> None:
        """Note what is wrong with the first column named, unless one of the columns is itself damaged."""
        if not holds:
            self.disagreements.append((names, f"its {names[0]} {wrong}; {WHAT_TO_DO}"))

    # Checking their contents

    def records(
        self, name: str, directory: str, totals: list[int], size: int, patterns: Counter[bytes] | None = None
    ) -> None:
        """Check the order of records, the directory that leads to them, and their sums in the head."""
        has_directory, entries = self.read(directory), self.length(directory)
        shift = 65 - (entries - 1).bit_length()  # 2^k + 1 entries go by the upper k of a key's 64 bits
        start, entry, last = 0, 0, -1
        sums: Array = np.zeros(len(self.stored.column(name).kind) - 1, np.int64)
        in_order = exact = True
        for block in self.blocks(name):
            keys, counts = block["key"], block["counts"]
            in_order = in_order and last < int(keys[0]) and bool((keys[1:] > keys[:-1]).all())
            last = int(keys[-1])
            sums += counts.sum(axis=0, dtype=np.int64)
            if patterns is not None:
                rows, times = np.unique(packed_rows(counts[:, : self.label_count]), return_counts=True)
                patterns.update(dict(zip(rows.tolist(), times.tolist(), strict=True)))
            if has_directory and in_order:
                end = (last >> shift) + 1
                firsts = np.array([number << shift for number in range(entry, end)], np.uint64)
                starts = start + np.searchsorted(keys, firsts)
                exact = exact and np.array_equal(self.read_entries(directory, entry, end)["start"], starts)
                entry = end
            start += len(keys)
        if has_directory and in_order:
            starts = np.full(entries - entry, start)
            exact = exact and np.array_equal(self.read_entries(directory, entry, entries)["start"], starts)
            exact = exact and self.checksums_agree(name, directory)
        self.expect(in_order, "are not in order", name)
        self.expect(exact, f"do not lead to its {name}", directory, name)
        self.expect(sums.tolist() == totals, "do not add up to what its head says", name)
        self.expect(start == size, "are not as many as its head says", name)

    def checksums_agree(self, name: str, directory: str) -> bool:
        """Whether the checksums of a directory are those of the stretches it leads to."""
        entries = self.length(directory)
        for first in range(0, entries - 1, STRETCHES_AT_ONCE):
            stretches = self.read_entries(directory, first, min(first + STRETCHES_AT_ONCE + 1, entries))
            starts = stretches["start"].tolist()
            records = self.read_entries(name, starts[0], starts[-1]).tobytes()
            width = self.stored.column(name).width
            ends = [(start - starts[0]) * width for start in starts]
            sums = [checksum_of(records[a:b], number) for number, (a, b) in enumerate(pairwise(ends), first)]
            if sums != stretches["checksum"][: len(sums)].tolist():
                return False
        return True

    def texts(self) -> None:
        """Check that tokens end one behind the other, up to the end of the text, and are UTF-8."""
        size, has_text = self.length("text"), self.read("text")
        before = count = 0
        in_order = readable = True
        for ends in self.blocks("ends"):
            in_order = in_order and before <= int(ends[0]) and bool((ends[1:] >= ends[:-1]).all())
            in_order = in_order and int(ends[-1]) <= size
            if has_text and in_order:
                text = self.read_entries("text", before, int(ends[-1]))
                readable = readable and are_texts(text, ends.astype(np.int64) - before)
            before, count = int(ends[-1]), count + len(ends)
        self.expect(in_order, "are not in order", "ends")
        self.expect(before == size, "do not end where its text does", "ends", "text")
        self.expect(readable, "is not UTF-8", "text", "ends")
        self.expect(count == self.length("tokens"), "are not as many as its tokens", "ends", "tokens")

    def histogram(self, patterns: Counter[bytes]) -> None:
        """Compare how many tokens have the same messages per label with the count over all tokens."""
        names = [f"histogram.{label}" for label in range(self.label_count)]
        *counts, tokens = [self.read_whole(name) for name in (*names, "histogram.tokens")]
        in_order = len({len(column) for column in (*counts, tokens)}) == 1
        found: dict[bytes, int] = {}
        if in_order:
            rows = packed_rows(np.stack(counts, axis=1)).tolist()
            found = dict(zip(rows, tokens.tolist(), strict=True))
            in_order = len(found) == len(rows)
        self.expect(
            in_order and found == patterns, "is not that of its tokens", "histogram.tokens", *names, "tokens"
        )

    def messages(self) -> None:
        """Check the order of the digests of messages and their labels.

        The head may count more messages: of another filter, or learned by several models that were merged.
        """
        digests, last, in_order = 0, -1, True
        for block in self.blocks("digests"):
            in_order = in_order and last < int(block[0]) and bool((block[1:] > block[:-1]).all())
            last, digests = int(block[-1]), digests + len(block)
        self.expect(in_order, "are not in order", "digests")
        counts: Array = np.zeros(256, np.int64)
        for block in self.blocks("digest_labels"):
            counts += np.bincount(block, minlength=256)
        self.expect(not counts[self.label_count :].any(), "are of no label", "digest_labels")
        found, messages = counts[: self.label_count].tolist(), list(self.head["messages"])
        fits = all(count <= most for count, most in zip(found, messages, strict=True))
        self.expect(fits, "are more than its head says", "digest_labels")
        self.expect(
            int(counts.sum()) == digests, "are not as many as its digests", "digest_labels", "digests"
        )
        scores = self.length("digest_scores")
        self.expect(scores == digests, "are not as many as its digests", "digest_scores", "digests")

    def numbers(self) -> None:
        """Check that no numeric feature is of more messages than there are."""
        for name, by_label in self.head["numbers"].items():
            rows = zip(by_label, self.head["messages"], strict=True)
            if not all(0 <= n <= most for (n, _, _), most in rows):
                self.damage.append(f"its feature {name} is of more messages than there are; {WHAT_TO_DO}")


def packed_rows(rows: Array) -> Array:
    """Pack each row of counts into one value that can be compared."""
    wide = np.ascontiguousarray(rows, np.dtype("<u8"))
    return wide.view(f"V{8 * wide.shape[1]}").reshape(-1)


def are_texts(text: Array, ends: Array) -> bool:
    """Whether a text is UTF-8, and no token ends within a character."""
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        return False
    starts = ends[ends < len(text)]
    return bool((text[starts] & 0xC0 != 0x80).all())
