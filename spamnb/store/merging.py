"""Add up models and tables into the counts of a new model file, in one pass over all of them.

Training, folding a journal, pruning, renaming labels and `spamnb merge` all use this.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, NamedTuple
from zlib import crc32

from spamnb.core.native import BlockWriter, CountTable, FileCounts, GramSums, Merger
from spamnb.errors import CannotCreate, DataError
from spamnb.files import make_folder
from spamnb.store.model_file import Column, File
from spamnb.store.stored_model import StoredModel

NumberSums = dict[str, list[list[int | float]]]  # of each numeric feature and label: n, Σx, Σx²

IN_MEMORY = 1 << 24  # bytes of entries; more of them are kept in an unnamed file
PIECE = 1 << 20  # bytes
MAX_INTEGER = 1 << 63  # that msgpack has, with a sign
MAX_COLUMN = (1 << 32) - 1  # bytes
TOO_LARGE = "larger than the limit of 4 GiB; train on less mail at a time, and run `spamnb prune` in between"


class Run(NamedTuple):
    """Entries (counts of words and pairs) moved from a table to a file without a name, to free memory."""

    labels: tuple[str, ...]
    file_counts: FileCounts


class Source(NamedTuple):
    """Counts to add to a sum (sign 1) or to subtract from it (sign -1)."""

    counts: StoredModel | CountTable | Run
    sign: int = 1


class Spool:
    """Bytes collected for a file: in memory or, if many, in a temporary file without a name."""

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder
        self.kept: list[bytes] = []
        self.file: IO[bytes] | None = None
        self.size = self.checksum = 0

    def __del__(self) -> None:
        if self.file:
            self.file.close()

    def write(self, data: bytes) -> None:
        self.size += len(data)
        self.checksum = crc32(data, self.checksum)
        if self.size > MAX_COLUMN:
            raise DataError(f"the column `entries` of the model would be {TOO_LARGE}")
        self.kept.append(data)
        if self.size > IN_MEMORY:
            self.file = self.file or unnamed_file(self.folder)
            self.file.writelines(self.kept)
            self.kept = []

    def pieces(self) -> Iterator[bytes]:
        if self.file:
            self.file.seek(0)
            yield from iter(partial(self.file.read, PIECE), b"")
        yield from self.kept


def unnamed_file(folder: str | None) -> IO[bytes]:
    """Open a new file without a name in a folder; it is deleted when it is closed."""
    from tempfile import TemporaryFile  # takes 4 ms to load

    return TemporaryFile(dir=folder)


@dataclass(frozen=True, eq=False)
class Merged:
    """The counts for a new model file; the list of learned messages is not included."""

    labels: tuple[str, ...]
    messages: list[int]  # of each label
    totals: BlockWriter  # sums over all entries, and the index of their blocks
    numbers: NumberSums
    entries: Spool
    grams: GramSums


def merged(
    labels: Sequence[str],
    sources: Sequence[Source],
    *,
    fill: CountTable | None = None,
    relabel: Mapping[str, str | None] | None = None,
    oldest_day: int = 0,
    rare: int = -1,
    folder: str | None = None,
) -> Merged:
    """Add up the counts of `sources` for a new model with `labels`; large columns are stored in `folder`.

    `relabel` maps a label to its new name, or to None to leave it out. The entries of the table `fill` get
    their counts in the sum, and the table gets the totals. Entries in at most `rare` messages that were last
    seen before `oldest_day` are left out.
    """
    places = {label: place for place, label in enumerate(labels)}
    for old, new in (relabel or {}).items():
        places[old] = -1 if new is None else places[new]
    parts = [
        (counts, source.sign, [places[label] for label in source.counts.labels])
        for source in sources
        for counts in _parts(source)
    ]
    writer = BlockWriter(len(labels))
    try:
        make_folder(folder or "")
        spool = Spool(folder)
        for entries in Merger(len(labels), parts, fill, oldest_day, rare):
            spool.write(writer.add(entries))
        spool.write(writer.finish())
    except OSError as error:
        raise CannotCreate(f"{folder}: cannot store merged counts: {error.strerror}") from error
    messages, grams = _messages(sources, len(labels), places), GramSums(len(labels))
    for part in parts:
        grams.add(*part)
    if fill is not None:
        fill.set_totals(messages, writer, grams)
    return Merged(tuple(labels), messages, writer, _numbers(sources, len(labels), places), spool, grams)


def write_run(sources: Sequence[CountTable | Run], folder: str | None = None) -> Run:
    """Add up the entries of tables and runs (unnamed files) with equal labels; write the sums to a new run.

    A table's counts of messages, numeric features and grams are left out. The run is a file in `folder`.
    """
    labels = sources[0].labels
    counts = [source.file_counts if isinstance(source, Run) else source for source in sources]
    writer = BlockWriter(len(labels))
    try:
        make_folder(folder or "")
        with unnamed_file(folder) as file:
            for entries in Merger(len(labels), [(each, 1, range(len(labels))) for each in counts]):
                file.write(writer.add(entries))
            last, index = writer.finish(), writer.index()
            file.writelines((last, index))
            file.flush()
            kept = File(f"{folder or os.curdir}: a temporary file", os.dup(file.fileno()))
    except OSError as error:
        raise CannotCreate(f"{folder}: cannot store counts: {error.strerror}") from error
    columns = (
        Column(kept, "entries", "B", 0, writer.size, 0),  # each block has its checksum in the index
        Column(kept, "index", "QII", writer.size, len(index), crc32(index)),
    )
    return Run(labels, FileCounts(*columns, len(labels)))


def sum_numbers(stored: StoredModel) -> NumberSums:
    """Return n, Σx and Σx² of a model's numeric features for each label, including the journal."""
    places = {label: place for place, label in enumerate(stored.labels)}
    return _numbers([Source(stored)], len(places), places)


def sum_grams(stored: StoredModel) -> GramSums:
    """Return the counts of a model's grams (four neighbouring bytes), including the journal."""
    grams = GramSums(len(stored.labels))
    for part in _parts(Source(stored)):
        grams.add(part, 1, range(len(stored.labels)))
    return grams


def _parts(source: Source) -> list[CountTable | FileCounts]:
    """Return the tables with the entries of a source: for a model, one of the file and one of the journal."""
    counts = source.counts
    if isinstance(counts, CountTable):
        return [counts]
    if isinstance(counts, StoredModel) and counts.journal.records:
        return [counts.file_counts, counts.journal.table]
    return [counts.file_counts]


def _messages(sources: Sequence[Source], label_count: int, places: Mapping[str, int]) -> list[int]:
    """Return the number of messages of each label in all sources; `places` has the index of each label."""
    total = [0] * label_count
    for counts, sign in sources:
        if not isinstance(counts, Run):
            for label, count in zip(counts.labels, counts.messages, strict=True):
                if places[label] >= 0:
                    total[places[label]] += sign * count
    return [max(count, 0) for count in total]


def _numbers(sources: Sequence[Source], label_count: int, places: Mapping[str, int]) -> NumberSums:
    """Add up n, Σx and Σx² of numeric features over all sources; a label left with no values gets zeros."""
    total: NumberSums = {}
    for counts, sign in sources:
        if not isinstance(counts, Run):
            for name, by_label in counts.numbers.items():
                rows = total.setdefault(name, [[0, 0, 0] for _ in range(label_count)])
                for label, sums in zip(counts.labels, by_label, strict=True):
                    if places[label] >= 0:
                        row = rows[places[label]]
                        row[:] = [one + sign * other for one, other in zip(row, sums, strict=True)]
    for rows in total.values():
        for row in rows:
            is_sound = row[0] > 0 and row[2] >= 0
            row[:] = [x if abs(x) < MAX_INTEGER else float(x) for x in row] if is_sound else [0, 0, 0]
    return {name: rows for name, rows in sorted(total.items()) if any(map(any, rows))}
