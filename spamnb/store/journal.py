"""The journal beside a model: what was learned since the file was written, one record a message.

Each record names the generation of the model that it belongs to. So a journal that was folded in and not yet
removed is known as stale, and what is learned
while a new model is made can be carried over to it before it takes the old one's place.

A torn last record is dropped: it was never acknowledged. A damaged one is passed over, and reading goes on
behind it.
"""

from __future__ import annotations

import os

from spamnb.errors import InputOutputError
from spamnb.files import sync_folder, write_all
from spamnb.store.journal_record import Entry, record_at, sealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from spamnb.store.journal_record import Stretch

    Answer = tuple[frozenset[int], dict[int, list[int]]]  # to what was asked last

# Beyond this the journal is folded into the model. A reader goes through all of it: some 25 messages.
LIMIT = 1 << 18


class Journal:
    """The records of one generation."""

    __slots__ = ("_pair_rows", "_rows", "damaged", "entries", "labels", "learned", "size")

    def __init__(
        self,
        labels: Sequence[str],
        entries: Sequence[Entry] = (),
        size: int = 0,
        damaged: Sequence[Stretch] = (),
    ) -> None:
        self.labels = labels
        self.entries = list(entries)
        # Up to the last record of this generation, or the last damaged one; what follows is of no use.
        self.size = size
        self.damaged = list(damaged)
        self.learned = {entry.digest: entry.after for entry in entries}
        self._rows: Answer = frozenset(), {}
        self._pair_rows: Answer = frozenset(), {}

    @classmethod
    def read(cls, path: str, generation: int, labels: Sequence[str]) -> Journal:
        """The sound records of a generation; an absent or stale journal is empty."""
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
        entries, damaged, size = [], [], 0
        for fields, start, end in _records(data):
            try:
                if fields is None:
                    raise ValueError("not what its checksum says")
                if fields["model"] != generation:
                    continue
                entries.append(Entry(fields, labels, end))
            except (KeyError, TypeError, ValueError, AttributeError):
                damaged.append((start, end))
            size = end
        return cls(labels, entries, size, damaged)

    def add(self, fields: Mapping[str, Any]) -> None:
        """One more entry, here only."""
        entry = Entry(fields, self.labels)
        self.entries.append(entry)
        self.learned[entry.digest] = entry.after
        self._rows = self._pair_rows = frozenset(), {}

    def rows(self, numbers: Iterable[int]) -> Mapping[int, list[int]]:
        """What the journal adds to the counts of some tokens.

        Who learns a message asks twice, to judge it and for what is new: the last answer is kept.
        """
        if not self.entries:
            return {}
        asked, rows = self._rows
        wanted = frozenset(numbers)
        if asked != wanted:
            rows = {}
            for entry in self.entries:
                entry.add_to(rows, wanted.intersection(entry.fingerprints), len(self.labels))
            self._rows = wanted, rows
        return rows

    def pair_rows(self, numbers: Iterable[int]) -> Mapping[int, list[int]]:
        """The same of some pairs."""
        if not self.entries:
            return {}
        asked, rows = self._pair_rows
        wanted = frozenset(numbers)
        if asked != wanted:
            rows = {}
            for entry in self.entries:
                entry.add_pairs_to(rows, wanted.intersection(entry.pairs), len(self.labels))
            self._pair_rows = wanted, rows
        return rows

    def everything(self) -> dict[int, list[int]]:
        rows: dict[int, list[int]] = {}
        for entry in self.entries:
            entry.add_to(rows, entry.fingerprints, len(self.labels))
        return rows

    def append(self, path: str, generation: int, changes: Iterable[Mapping[str, Any]]) -> int:
        """Write more records, synced; the caller holds the lock. Returns the journal's new size."""
        records = b"".join([sealed({"model": generation, **fields}) for fields in changes])
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(handle, self.size)  # off with a torn record, and with those of no model there is
            os.lseek(handle, self.size, os.SEEK_SET)
            write_all(handle, records)
            os.fsync(handle)
            if not self.size:
                sync_folder(path)
        except OSError:
            try:  # noqa: SIM105 (contextlib costs a delivery 3 ms)
                os.ftruncate(handle, self.size)  # what is said not to be learned must not be there
            except OSError:
                pass
            raise
        finally:
            os.close(handle)
        return self.size + len(records)


def _records(data: bytes) -> list[tuple[dict[str, Any] | None, int, int]]:
    """The fields of each record, None of a damaged one; where it starts and ends. A torn one is left out."""
    view = memoryview(data)
    records, search = [], None
    at = 0
    while at < len(data):
        fields, end = record_at(view, at)
        if not end:
            if search is None:
                from spamnb.store.damage import Search  # a sound journal has no use for it

                search = Search(data)
            end = search.behind(at)
            if end == len(data) and search.is_torn(at):
                break
        records.append((fields, at, end))
        at = end
    return records
