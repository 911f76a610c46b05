"""Journals, each beside its model file: what was learned since the file was written, one record a message.

Each record names the generation of the model that it belongs to. So a journal that was folded in and not yet
removed is known as stale, and what is learned while a new model is made can be carried over to the new
one before it takes the old one's place.

A last record that is cut off is dropped: it was never acknowledged. A damaged record is passed over, and
reading goes on behind it.
"""

from __future__ import annotations

import os

from spamnb.errors import InputOutputError
from spamnb.files import sync_folder, write_all
from spamnb.store.journal_record import JournalRecord, record_at, sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from spamnb.store.journal_record import ByteRange

    Answer = tuple[frozenset[int], dict[int, list[int]]]  # the fingerprints asked for last, and their rows

# Bytes, some 25 messages: a longer journal is folded into the model, as each reader goes through all of it.
FOLD_LIMIT = 1 << 18


class Journal:
    """The records of one generation of a model."""

    __slots__ = ("_pair_rows", "_rows", "damaged", "labels", "learned", "records", "size")

    def __init__(
        self,
        labels: Sequence[str],
        records: Sequence[JournalRecord] = (),
        size: int = 0,
        damaged: Sequence[ByteRange] = (),
    ) -> None:
        self.labels = labels
        self.records = list(records)
        # Bytes up to the end of the last record of this generation, or damaged record; the rest is of no use.
        self.size = size
        self.damaged = list(damaged)
        self.learned = {record.digest: record.after for record in records}
        self._rows: Answer = frozenset(), {}
        self._pair_rows: Answer = frozenset(), {}

    @classmethod
    def read(cls, path: str, generation: int, labels: Sequence[str]) -> Journal:
        """Read the sound records of a generation; an absent or stale journal is empty."""
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return cls(labels)
        except OSError as error:
            raise InputOutputError(f"{path}: {error.strerror}") from error
        return cls.of(data, generation, labels)

    @classmethod
    def of(cls, data: bytes, generation: int, labels: Sequence[str]) -> Journal:
        """Read a journal from its bytes."""
        records, damaged, size = [], [], 0
        for fields, start, end in _frames(data):
            try:
                if fields is None:
                    raise ValueError("not what its checksum says")
                if fields["model"] != generation:
                    continue
                records.append(JournalRecord(fields, labels, end))
            except (KeyError, TypeError, ValueError, AttributeError):
                damaged.append((start, end))
            size = end
        return cls(labels, records, size, damaged)

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add a record in memory only."""
        record = JournalRecord(fields, self.labels)
        self.records.append(record)
        self.learned[record.digest] = record.after
        self._rows = self._pair_rows = frozenset(), {}

    def rows(self, fingerprints: Iterable[int]) -> Mapping[int, list[int]]:
        """Return what the journal adds to the counts of some tokens.

        Learning a message asks twice, to judge it and for what is new: so the last answer is remembered.
        """
        if not self.records:
            return {}
        asked, rows = self._rows
        wanted = frozenset(fingerprints)
        if asked != wanted:
            rows = {}
            for record in self.records:
                record.add_to(rows, wanted.intersection(record.fingerprints), len(self.labels))
            self._rows = wanted, rows
        return rows

    def pair_rows(self, fingerprints: Iterable[int]) -> Mapping[int, list[int]]:
        """Return what the journal adds to the counts of some pairs of neighbours."""
        if not self.records:
            return {}
        asked, rows = self._pair_rows
        wanted = frozenset(fingerprints)
        if asked != wanted:
            rows = {}
            for record in self.records:
                record.add_pairs_to(rows, wanted.intersection(record.pairs), len(self.labels))
            self._pair_rows = wanted, rows
        return rows

    def all_rows(self) -> dict[int, list[int]]:
        """Return what the journal adds to the counts of all its tokens."""
        rows: dict[int, list[int]] = {}
        for record in self.records:
            record.add_to(rows, record.fingerprints, len(self.labels))
        return rows

    def append(self, path: str, generation: int, changes: Iterable[Mapping[str, Any]]) -> int:
        """Write more records, synced; the caller holds the lock. Returns the journal's new size."""
        data = b"".join([sealed({"model": generation, **fields}) for fields in changes])
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(handle, self.size)  # drops a record that was cut off, and those of other models
            os.lseek(handle, self.size, os.SEEK_SET)
            write_all(handle, data)
            os.fsync(handle)
            if not self.size:
                sync_folder(path)
        except OSError:
            try:  # noqa: SIM105 (contextlib costs a delivery 3 ms)
                os.ftruncate(handle, self.size)  # what was reported as not learned must not be there
            except OSError:
                pass
            raise
        finally:
            os.close(handle)
        return self.size + len(data)


def _frames(data: bytes) -> list[tuple[dict[str, Any] | None, int, int]]:
    """Return fields (None if damaged), start and end of each record, but for a last one that is cut off."""
    view = memoryview(data)
    frames, search = [], None
    at = 0
    while at < len(data):
        fields, end = record_at(view, at)
        if not end:
            if search is None:
                from spamnb.store.damage import SoundRecordSearch  # late: a sound journal has no use for it

                search = SoundRecordSearch(data)
            end = search.next_after(at)
            if end == len(data) and search.is_cut_off(at):
                break
        frames.append((fields, at, end))
        at = end
    return frames
