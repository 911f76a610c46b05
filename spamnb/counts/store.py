"""The model file, read in place: mapped, searched, and added to its journal.

docs/model-file.md describes the format. Nothing here is proportional to the size of the model.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from zlib import crc32

from spamnb.counts import packing
from spamnb.counts.fingerprint import fingerprints, pair_fingerprints
from spamnb.counts.journal import Journal
from spamnb.errors import InputOutputError, ModelError, NoInput, NoModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from spamnb.counts.table import Pair, Row

    Name = TypeVar("Name", str, Pair)

FORMAT = "spamnb"
VERSION = 1
WHAT_TO_DO = "restore it from a backup, or train anew with --fresh"


class Stored:
    """The counts of a model file and its journal."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.data, self.inode = _mapped(path)
        self.head, start = _head(path, self.data)
        self._columns: dict[str, tuple[Any, int, int]] = _extents(path, self.head, self.data, start)
        try:
            self.labels: list[str] = list(self.head["labels"])
            self.generation: int = self.head["generation"]
            self.messages: list[int] = list(self.head["messages"])
            self.presences: list[int] = list(self.head["presences"])
            self.occurrences: list[int] = list(self.head["occurrences"])
            self.vocabulary: int = self.head["vocabulary"]
            self.pair_presences: list[int] = list(self.head["pair_presences"])
            self.pair_vocabulary: int = self.head["pair_vocabulary"]
            self.numbers: dict[str, list[list[int | float]]] = {
                name: [list(sums) for sums in by_label] for name, by_label in self.head["numbers"].items()
            }
            self._hashes = self.column("hashes")
            many = range(len(self.labels))
            self._rows = [self.column(f"messages.{k}") for k in many]
            self._rows += [self.column(f"occurrences.{k}") for k in many]
            self._pair_hashes = self.column("pair_hashes")
            self._pair_rows = [self.column(f"pair_messages.{k}") for k in many]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}") from error
        self.journal = Journal.read(path + ".journal", self.generation, self.labels)
        self._add_journal_totals()

    @classmethod
    def open(cls, path: str) -> Stored:
        """A consistent pair of model and journal, even while another process folds the one into the other."""
        while True:
            stored = cls(path)
            try:
                if os.stat(path).st_ino == stored.inode:
                    return stored
            except OSError:
                return stored  # removed meanwhile: what was mapped stays whole

    def column(self, name: str) -> Any:
        """A column as a sequence of numbers (or bytes) over the map."""
        kind, at, size = self._columns[name]
        return self.data[at : at + size].cast(kind)

    def in_front(self, name: str, size: int) -> bytes:
        """The bytes in front of a column: its name, and the start of a bin."""
        at = self._columns[name][1]
        return bytes(self.data[at - size : at])

    def rows(self, tokens: Iterable[str]) -> dict[str, Row]:
        """The counts of those tokens that are known, the journal's included."""
        names = list(tokens)
        numbers = fingerprints(names)
        return _found(names, numbers, self._hashes, self._rows, self.journal.rows(numbers))

    def pair_rows(self, pairs: Iterable[Pair]) -> dict[Pair, Row]:
        """The same of pairs of neighbours."""
        names = list(pairs)
        numbers = pair_fingerprints(names)
        return _found(names, numbers, self._pair_hashes, self._pair_rows, self.journal.pair_rows(numbers))

    def histogram(self) -> dict[tuple[int, ...], int]:
        """How many tokens share the same messages per label, the journal's changes made."""
        many = range(len(self.labels))
        columns = [self.column(f"histogram.{k}") for k in many]
        alike = dict(zip(zip(*columns, strict=True), self.column("histogram.tokens"), strict=True))
        for number, more in self.journal.everything().items():
            at = bisect_left(self._hashes, number)
            known = at < len(self._hashes) and self._hashes[at] == number
            before = tuple(self._rows[k][at] if known else 0 for k in many)
            after = tuple(before[k] + more[k] for k in many)
            if any(before):
                alike[before] -= 1
            if any(after):
                alike[after] = alike.get(after, 0) + 1
        return {counts: tokens for counts, tokens in alike.items() if tokens}

    def label_of(self, digest: int) -> str | None:
        """The label a message was learned under, if it was."""
        if digest in self.journal.learned:
            return self.journal.learned[digest]
        digests: Sequence[int] = self.column("digests")
        at = bisect_left(digests, digest)
        if at == len(digests) or digests[at] != digest:
            return None
        place: int = self.column("digest_labels")[at]
        if place >= len(self.labels):
            raise ModelError(self.path, f"its labels are damaged; {WHAT_TO_DO}")
        return self.labels[place]

    def _add_journal_totals(self) -> None:
        for entry in self.journal.entries:
            self.vocabulary += entry.new_tokens
            self.pair_vocabulary += entry.new_pairs
            for place, sign in entry.steps:
                self.messages[place] += sign
                self.presences[place] += sign * len(entry.hashes)
                self.pair_presences[place] += sign * len(entry.pairs)
                self.occurrences[place] += sign * entry.length
                for name, value in entry.numbers.items():
                    sums = self.numbers.setdefault(name, [[0, 0, 0] for _ in self.labels])[place]
                    sums[0] += sign
                    sums[1] += sign * value
                    sums[2] += sign * value * value


def _found(
    names: list[Name],
    numbers: list[int],
    hashes: Sequence[int],
    columns: Sequence[Sequence[int]],
    later: Mapping[int, Row],
) -> dict[Name, Row]:
    """The row of each name in sorted columns, and what came later added."""
    found: dict[Name, Row] = {}
    size = len(hashes)
    for name, number in zip(names, numbers, strict=True):
        at = bisect_left(hashes, number)
        if at < size and hashes[at] == number:
            found[name] = [column[at] for column in columns]
        if number in later:
            row = found.pop(name, [0] * len(columns))
            row = [max(0, a + b) for a, b in zip(row, later[number], strict=True)]  # twice forgotten: no harm
            if any(row):
                found[name] = row
    return found


def _mapped(path: str) -> tuple[memoryview, int]:
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        raise NoModel(f"{path}: no model yet; make one with: spamnb train HAM SPAM") from None
    except OSError as error:
        raise NoInput(f"{path}: {error.strerror}") from error
    try:
        status = os.fstat(handle)
        if not status.st_size:
            raise ModelError(path, f"the file is empty; {WHAT_TO_DO}")
        return memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_READ)), status.st_ino
    except OSError as error:
        raise InputOutputError(f"{path}: cannot map the file: {error.strerror}") from error
    finally:
        os.close(handle)


def _head(path: str, data: memoryview) -> tuple[dict[str, Any], int]:
    """The small things at the front of the file, and the offset behind them."""
    try:
        entries, at = _map_size(data)
        front: dict[Any, Any] = {}
        for _ in range(4):
            key, at = packing.unpack(data, at)
            start = at
            front[key], at = packing.unpack(data, at)
    except (packing.Damaged, TypeError) as error:
        raise ModelError(path, f"not a spamnb model, or cut short; {WHAT_TO_DO}") from error
    if front.get("format") != FORMAT:
        raise ModelError(path, "not a spamnb model; name another file with --model")
    version, head = front.get("version"), front.get("head")
    if type(version) is int and version > VERSION:
        raise ModelError(path, f"made by a newer spamnb (format {version}); upgrade spamnb")
    sound = type(version) is int and version == VERSION and crc32(data[start:at]) == front.get("crc32")
    if not sound or not isinstance(head, dict) or entries != 4 + len(head.get("columns", ())):
        raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}")
    return head, at


def _map_size(data: memoryview) -> tuple[int, int]:
    """Entries of the outermost map, and the offset of the first."""
    if data[0] & 0xF0 == 0x80:
        return data[0] & 0x0F, 1
    if data[0] == 0xDE and len(data) >= 3:
        return int.from_bytes(data[1:3], "big"), 3
    raise packing.Damaged("no map")


def _extents(path: str, head: dict[str, Any], data: memoryview, at: int) -> dict[str, tuple[str, int, int]]:
    """Where each column lies, from their sizes in the head; the bytes themselves are not touched."""
    extents = {}
    try:
        for name, kind, size, _checksum in head["columns"]:
            at += 1 + len(name) + 5  # its key, a short string, and the five bytes in front of a bin
            extents[name] = (kind, at, size)
            at += size
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(path, f"its head is damaged; {WHAT_TO_DO}") from error
    if at != len(data):
        raise ModelError(path, f"cut short: {len(data)} bytes of {at}; {WHAT_TO_DO}")
    return extents
