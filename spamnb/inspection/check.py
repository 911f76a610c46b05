"""A model verified as a whole: every checksum, and whether what is written twice says the same.

Read in blocks, like all that may be large. What is wrong is noted, and the rest is looked at all the same.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError, NoInput
from spamnb.inspection.knowledge import date
from spamnb.store import msgpack_codec
from spamnb.store.journal import Journal
from spamnb.store.records import checksum_of
from spamnb.store.stored_model import StoredModel
from spamnb.tables.layout import record_type
from spamnb.tables.vocabulary import column_blocks
from spamnb.training.placing import ASIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from spamnb.arrays import Array

BIN = b"\xc6"  # with a length of four bytes
AGAIN = "learn the messages of that time again"
STRETCHES = 1 << 12  # read at once
SENSELESS = (TypeError, ValueError, LookupError, AttributeError)  # by a head whose checksum is right


@dataclass
class Checked:
    """What was looked at, and what is damaged."""

    path: str
    size: int = 0
    columns: int = 0
    tokens: int = 0
    pairs: int = 0
    messages: int = 0  # in the file
    journal: int = 0  # messages in it
    journal_size: int = 0
    aside: str | None = None  # a damaged journal of before
    damage: list[str] = field(default_factory=list)

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


class Bare(StoredModel):
    """A model whose journal is left as it is, and nothing told: that is the report's."""

    def _mend_journal(self) -> None:
        pass


def check(path: str, progress: Callable[[int, int], object] = lambda _size, _entries: None) -> Checked:
    """`progress` is told the bytes and the entries of each block."""
    if os.path.isdir(path):
        raise NoInput(f"{path}: a folder; name the model file in it with --model")
    aside = f"{path}.journal{ASIDE}"
    found = Checked(path, aside=aside if os.path.lexists(aside) else None)
    try:
        stored = Bare.open(path)
    except ModelError as error:
        found.size = os.path.getsize(path)
        found.damage = [error.why, *lost_lessons(Journal.read(f"{path}.journal", 0, ()))]
        return found
    head, journal, columns = stored.head, stored.journal, Checking(stored, progress)
    found.size, found.columns = stored.file.size, len(columns.names)
    found.tokens, found.pairs = len(stored.column("tokens")), len(stored.column("pairs"))
    found.journal, found.journal_size = len(journal.records), journal.size
    try:
        found.messages = sum(head["messages"])
        columns.check()
    except SENSELESS:
        columns.damage.append(f"its head makes no sense; {WHAT_TO_DO}")
    found.damage = [*columns.damage, *lost_lessons(journal)]
    return found


def lost_lessons(journal: Journal) -> Iterator[str]:
    """Where the journal is damaged, and between which days that was written."""
    for start, end in journal.damaged:
        before = [f" from {date(entry.day)}" for entry in journal.records if entry.end <= start][-1:]
        after = [f" to {date(entry.day)}" for entry in journal.records if entry.end > start][:1]
        lessons = "".join([", lessons", *before, *after]) if before or after else ""
        yield f"its journal is damaged at bytes {start}-{end - 1}{lessons}; {AGAIN}"


class Checking:
    """Goes through the columns of a model, and notes what is wrong with them."""

    def __init__(self, stored: StoredModel, progress: Callable[[int, int], object]) -> None:
        self.stored = stored
        self.head = stored.head
        self.many = len(stored.labels)
        self.progress = progress
        self.names = [name for name, *_ in self.head["columns"]]
        self.damage: list[str] = []
        self.seen: set[str] = set()
        self.unsound: set[str] = set()
        self.doubts: list[tuple[tuple[str, ...], str]] = []  # of the content; void if a column is not sound

    def check(self) -> None:
        head, alike = self.head, dict[bytes, int]()
        self.records(
            "tokens", "starts", [*head["presences"], *head["occurrences"]], head["vocabulary"], alike
        )
        self.records("pairs", "pair_starts", [*head["pair_presences"]], head["pair_vocabulary"])
        self.texts()
        self.histogram(alike)
        self.messages()
        self.numbers()
        for name in self.names:
            if name not in self.seen:
                self.read(name)
        for name, of in (("days", "tokens"), ("first_days", "tokens"), ("pair_days", "pairs")):
            self.expect(self.length(name) == self.length(of), f"are not as many as its {of}", name, of)
        self.damage += [said for names, said in self.doubts if self.unsound.isdisjoint(names)]

    # How it is read, and what is wrong noted

    def blocks(self, name: str) -> Iterator[Array]:
        """A column in blocks; that it is damaged is noted when it has ended."""
        self.seen.add(name)
        try:
            if name not in self.names:
                raise ModelError(self.stored.path, f"its column {name} is missing; {WHAT_TO_DO}")
            column = self.stored.column(name)
            in_front = msgpack_codec.pack(name) + BIN + column.size.to_bytes(4, "big")
            if column.file.read(column.at - len(in_front), len(in_front)) != in_front:
                raise ModelError(self.stored.path, f"the name of its column {name} is damaged; {WHAT_TO_DO}")
            for block in column_blocks(self.stored, name):
                self.progress(block.nbytes, len(block))
                yield block
        except ModelError as error:
            self.note(name, error.why)
        except InputOutputError as error:
            self.note(name, f"its column {name} cannot be read: {error}")

    def note(self, name: str, damage: str) -> None:
        self.unsound.add(name)
        self.damage.append(damage)

    def read(self, name: str) -> bool:
        """Whether a column is sound as such."""
        for _ in self.blocks(name):
            pass
        return name not in self.unsound

    def whole(self, name: str) -> Array:
        """A column that is small."""
        blocks = list(self.blocks(name))
        return np.concatenate(blocks) if blocks else np.empty(0, np.int64)

    def part(self, name: str, start: int, end: int) -> Array:
        """Some entries, read once more; noughts if that fails."""
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
        """Of some columns that are sound as such; the first is the one that is wrong."""
        if not holds:
            self.doubts.append((names, f"its {names[0]} {wrong}; {WHAT_TO_DO}"))

    # What is in them

    def records(
        self, name: str, directory: str, totals: list[int], many: int, alike: dict[bytes, int] | None = None
    ) -> None:
        """Records in order, the directory that leads to them, and the sums of their counts in the head."""
        has_directory, entries = self.read(directory), self.length(directory)
        shift = 65 - (entries - 1).bit_length()
        start, entry, last = 0, 0, -1
        sums: Array = np.zeros(len(self.stored.column(name).kind) - 1, np.int64)
        rises = leads = True
        for block in self.blocks(name):
            keys, counts = block["key"], block["counts"]
            rises = rises and last < int(keys[0]) and bool((keys[1:] > keys[:-1]).all())
            last = int(keys[-1])
            sums += counts.sum(axis=0, dtype=np.int64)
            if alike is not None:
                count_alike(counts[:, : self.many], alike)
            if has_directory and rises:
                end = (last >> shift) + 1
                firsts = np.array([number << shift for number in range(entry, end)], np.uint64)
                places = start + np.searchsorted(keys, firsts)
                leads = leads and np.array_equal(self.part(directory, entry, end)["start"], places)
                entry = end
            start += len(keys)
        if has_directory and rises:
            places = np.full(entries - entry, start)
            leads = leads and np.array_equal(self.part(directory, entry, entries)["start"], places)
            leads = leads and self.agrees(name, directory)
        self.expect(rises, "are not in order", name)
        self.expect(leads, f"do not lead to its {name}", directory, name)
        self.expect(sums.tolist() == totals, "do not add up to what its head says", name)
        self.expect(start == many, "are not as many as its head says", name)

    def agrees(self, name: str, directory: str) -> bool:
        """Whether the checksums of a directory are those of the stretches it leads to."""
        entries = self.length(directory)
        for first in range(0, entries - 1, STRETCHES):
            some = self.part(directory, first, min(first + STRETCHES + 1, entries))
            starts = some["start"].tolist()
            records = self.part(name, starts[0], starts[-1]).tobytes()
            width = self.stored.column(name).width
            data, ends = memoryview(records), [(start - starts[0]) * width for start in starts]
            sums = [checksum_of(data[a:b], place) for place, (a, b) in enumerate(pairwise(ends), first)]
            if sums != some["checksum"][: len(sums)].tolist():
                return False
        return True

    def texts(self) -> None:
        """Tokens that end one behind the other, up to the end of the text; each is UTF-8."""
        size, has_text = self.length("text"), self.read("text")
        before = many = 0
        rises = readable = True
        for ends in self.blocks("ends"):
            rises = rises and before <= int(ends[0]) and bool((ends[1:] >= ends[:-1]).all())
            rises = rises and int(ends[-1]) <= size
            if has_text and rises:
                text = self.part("text", before, int(ends[-1]))
                readable = readable and are_texts(text, ends.astype(np.int64) - before)
            before, many = int(ends[-1]), many + len(ends)
        self.expect(rises, "are not in order", "ends")
        self.expect(before == size, "do not end where its text does", "ends", "text")
        self.expect(readable, "is not UTF-8", "text", "ends")
        self.expect(many == self.length("tokens"), "are not as many as its tokens", "ends", "tokens")

    def histogram(self, alike: dict[bytes, int]) -> None:
        """How many tokens have the same messages per label, as counted from the tokens."""
        names = [f"histogram.{label}" for label in range(self.many)]
        *counts, tokens = [self.whole(name) for name in (*names, "histogram.tokens")]
        rises = len({len(column) for column in (*counts, tokens)}) == 1
        found: dict[bytes, int] = {}
        if rises:
            rows = packed_rows(np.stack(counts, axis=1)).tolist()
            found = dict(zip(rows, tokens.tolist(), strict=True))
            rises = len(found) == len(rows)
        self.expect(
            rises and found == alike, "is not that of its tokens", "histogram.tokens", *names, "tokens"
        )

    def messages(self) -> None:
        """Messages in order, each under a label; of some that the head tells of nothing else is known.

        Those are another filter's, or were learned by several models that were merged.
        """
        digests, last, rises = 0, -1, True
        for block in self.blocks("digests"):
            rises = rises and last < int(block[0]) and bool((block[1:] > block[:-1]).all())
            last, digests = int(block[-1]), digests + len(block)
        self.expect(rises, "are not in order", "digests")
        counts: Array = np.zeros(256, np.int64)
        for block in self.blocks("digest_labels"):
            counts += np.bincount(block, minlength=256)
        self.expect(not counts[self.many :].any(), "are of no label", "digest_labels")
        found, messages = counts[: self.many].tolist(), list(self.head["messages"])
        fits = all(one <= other for one, other in zip(found, messages, strict=True))
        self.expect(fits, "are more than its head says", "digest_labels")
        self.expect(
            int(counts.sum()) == digests, "are not as many as its digests", "digest_labels", "digests"
        )
        many = self.length("digest_scores")
        self.expect(many == digests, "are not as many as its digests", "digest_scores", "digests")

    def numbers(self) -> None:
        """Numeric features: each is of no more messages than there are."""
        for name, by_label in self.head["numbers"].items():
            rows = zip(by_label, self.head["messages"], strict=True)
            if not all(0 <= n <= many for (n, _, _), many in rows):
                self.damage.append(f"its feature {name} is of more messages than there are; {WHAT_TO_DO}")


def count_alike(counts: Array, alike: dict[bytes, int]) -> None:
    """Add the rows of a block to how often each was seen."""
    rows, times = np.unique(packed_rows(counts), return_counts=True)
    for row, more in zip(rows.tolist(), times.tolist(), strict=True):
        alike[row] = alike.get(row, 0) + more


def packed_rows(rows: Array) -> Array:
    """Each row as one thing that can be compared."""
    wide = np.ascontiguousarray(rows, np.dtype("<u8"))
    return wide.view(f"V{8 * wide.shape[1]}").reshape(-1)


def are_texts(text: Array, ends: Array) -> bool:
    """Whether all of it is UTF-8, and none ends within a character."""
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        return False
    starts = ends[ends < len(text)]
    return bool((text[starts] & 0xC0 != 0x80).all())
