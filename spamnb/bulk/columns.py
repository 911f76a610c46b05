"""Count tables in bulk: sorted numpy columns that add, subtract and are written as a model file."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgpack
import numpy as np

from spamnb.bulk.learned import NOWHERE, Learned, in_turn
from spamnb.counts.store import FORMAT, VERSION, WHAT_TO_DO, Stored
from spamnb.errors import CannotCreate, ModelError
from spamnb.files import sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.counts.journal import Entry

    Array = np.ndarray[Any, Any]

BIN_32 = b"\xc6"
TEXT_BLOCK = 1 << 16  # tokens whose text is gathered at once: bounds the index array, 8 bytes a character


@dataclass(frozen=True, eq=False)
class Columns:
    """A count table: one column entry a token, in order of the tokens' fingerprints.

    A pair of neighbours is a token without text and without occurrences.
    """

    labels: tuple[str, ...]
    messages: tuple[int, ...]
    numbers: dict[str, list[list[int | float]]]
    hashes: Array
    ends: Array  # where each token's text ends in `text`
    text: Array
    containing: Array  # [label, token] messages that contain it
    occurring: Array  # [label, token] occurrences
    days: Array  # day last seen, counted from 1970
    learned: Learned = field(default_factory=lambda: Learned.of([], []))

    @classmethod
    def empty(cls, labels: Sequence[str]) -> Columns:
        none = np.empty((len(labels), 0), np.int32)
        return cls(
            tuple(labels),
            (0,) * len(labels),
            {},
            np.empty(0, np.uint64),
            np.empty(0, np.int64),
            np.empty(0, np.uint8),
            none,
            none,
            np.empty(0, np.uint16),
        )

    @classmethod
    def load(cls, stored: Stored) -> Columns:
        """The whole of a model file, its checksums verified, and its journal added."""
        verify(stored)
        many = range(len(stored.labels))
        head = stored.head

        def column(name: str) -> Array:
            return np.frombuffer(stored.column(name), dtype=stored.column(name).format)

        def both(words: Array, pairs: Array) -> Array:
            return np.concatenate((words, pairs))[order]

        hashes, pairs = column("hashes"), column("pair_hashes")
        order = np.argsort(np.concatenate((hashes, pairs)), kind="stable")
        none = np.zeros(len(pairs), np.uint8)
        lengths = both(np.diff(column("ends").astype(np.int64), prepend=0), none)
        base = cls(
            tuple(stored.labels),
            tuple(head["messages"]),
            head["numbers"],
            both(hashes, pairs),
            np.cumsum(lengths),
            column("text"),
            np.array([both(column(f"messages.{k}"), column(f"pair_messages.{k}")) for k in many], np.int32),
            np.array([both(column(f"occurrences.{k}"), none) for k in many], np.int32),
            both(column("days"), none),
            Learned(column("digests"), column("digest_labels").astype(np.int8), column("digest_scores")),
        )
        if not stored.journal.entries:
            return base
        return added([base, *(from_entry(entry, base.labels) for entry in stored.journal.entries)])

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def words(self) -> Array:
        """Which tokens are no pairs."""
        return np.any(self.occurring, axis=0)

    def tokens(self, places: Iterable[int]) -> list[str]:
        """The text of some tokens."""
        text = self.text.tobytes() if len(self.text) < 1 << 26 else self.text
        starts = np.concatenate(([0], self.ends))
        return [bytes(text[starts[at] : self.ends[at]]).decode() for at in places]

    def places(self, hashes: Array) -> Array:
        """Where tokens of these fingerprints stand, -1 for an unknown one."""
        if not len(self):
            return np.full(len(hashes), -1)
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        return np.where(self.hashes[at] == hashes, at, -1)

    def relabelled(self, labels: Sequence[str]) -> Columns:
        """The same table with more labels, or in another order."""
        if tuple(labels) == self.labels:
            return self
        places = [labels.index(label) for label in self.labels]

        def spread(rows: Array) -> Array:
            wide = np.zeros((len(labels), len(self)), np.int32)
            wide[places] = rows
            return wide

        messages = [0] * len(labels)
        numbers: dict[str, list[list[int | float]]] = {
            name: [[0, 0, 0] for _ in labels] for name in self.numbers
        }
        for old, new in enumerate(places):
            messages[new] = self.messages[old]
            for name, by_label in self.numbers.items():
                numbers[name][new] = list(by_label[old])
        return replace(
            self,
            labels=tuple(labels),
            messages=tuple(messages),
            numbers=numbers,
            containing=spread(self.containing),
            occurring=spread(self.occurring),
            learned=self.learned.relabelled(places),
        )


def added(tables: Sequence[Columns]) -> Columns:
    """The sum of tables, and what was learned in turn."""
    labels = tuple(dict.fromkeys(label for table in tables for label in table.labels))
    tables = [table.relabelled(labels) for table in tables]
    if len(tables) == 1:
        return tables[0]
    hashes = np.concatenate([table.hashes for table in tables])
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    first = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1]))) if len(hashes) else order

    def summed(name: str) -> Array:
        rows = np.concatenate([getattr(table, name) for table in tables], axis=1)[:, order]
        return np.add.reduceat(rows, first, axis=1) if len(first) else rows

    containing, occurring = summed("containing"), summed("occurring")
    days = np.concatenate([table.days for table in tables])[order]
    days = np.maximum.reduceat(days, first) if len(first) else days
    left = np.flatnonzero(containing.any(axis=0) | occurring.any(axis=0))
    ends, text = _gathered(tables, order[first][left])
    return Columns(
        labels,
        tuple(sum(column) for column in zip(*(table.messages for table in tables), strict=True)),
        _numbers(tables),
        hashes[first][left],
        ends,
        text,
        containing[:, left],
        occurring[:, left],
        days[left],
        in_turn([table.learned for table in tables]),
    )


def _gathered(tables: Sequence[Columns], chosen: Array) -> tuple[Array, Array]:
    """The text of the chosen tokens, numbered through all tables, one behind the other."""
    offsets = np.cumsum([0, *(len(table.text) for table in tables)])
    ends = np.concatenate([table.ends + offset for table, offset in zip(tables, offsets, strict=False)])
    lengths = np.diff(ends, prepend=0)
    text = np.concatenate([table.text for table in tables])
    pieces = []
    for start in range(0, len(chosen), TEXT_BLOCK):
        block = chosen[start : start + TEXT_BLOCK]
        length = lengths[block]
        behind = np.cumsum(length)
        source = np.repeat(ends[block] - behind, length) + np.arange(behind[-1])
        pieces.append(text[source])
    return np.cumsum(lengths[chosen]), np.concatenate(pieces) if pieces else np.empty(0, np.uint8)


def _numbers(tables: Sequence[Columns]) -> dict[str, list[list[int | float]]]:
    total: dict[str, list[list[int | float]]] = {}
    for table in tables:
        for name, by_label in table.numbers.items():
            rows = total.setdefault(name, [[0, 0, 0] for _ in by_label])
            for row, sums in zip(rows, by_label, strict=True):
                for i, x in enumerate(sums):
                    row[i] += x
    return {name: total[name] for name in sorted(total) if any(n for n, _, _ in total[name])}


def from_entry(entry: Entry, labels: Sequence[str]) -> Columns:
    """One journal record as a table."""
    many, words, size = len(labels), len(entry.hashes), len(entry.hashes) + len(entry.pairs)
    messages = [0] * many
    containing, occurring = np.zeros((many, size), np.int32), np.zeros((many, size), np.int32)
    numbers: dict[str, list[list[int | float]]] = {
        name: [[0, 0, 0] for _ in labels] for name in entry.numbers
    }
    for place, sign in entry.steps:
        messages[place] += sign
        containing[place] += sign
        occurring[place, :words] += sign * np.array(entry.occurrences, np.int32)
        for name, x in entry.numbers.items():
            sums = numbers[name][place]
            numbers[name][place] = [sums[0] + sign, sums[1] + sign * x, sums[2] + sign * x * x]
    text = np.frombuffer(entry.text, np.uint8)
    breaks = np.flatnonzero(text == ord("\n"))
    lengths = np.zeros(size, np.int64)
    lengths[:words] = np.diff(breaks, prepend=-1) - 1
    hashes = np.array([*entry.hashes, *entry.pairs], np.uint64)
    order = np.argsort(hashes, kind="stable")
    place = NOWHERE if entry.after is None else labels.index(entry.after)
    return Columns(
        tuple(labels),
        tuple(messages),
        numbers,
        hashes[order],
        np.cumsum(lengths[order]),
        text[text != ord("\n")],
        containing[:, order],
        occurring[:, order],
        np.full(size, entry.day, np.uint16),
        Learned.of([entry.digest], [place], [entry.score]),
    )


def verify(stored: Stored) -> None:
    for name, _, size, checksum in stored.head["columns"]:
        in_front = msgpack.packb(name) + BIN_32 + size.to_bytes(4, "big")
        if (
            stored.in_front(name, len(in_front)) != in_front
            or crc32(stored.column(name).cast("B")) != checksum
        ):
            raise ModelError(stored.path, f"its column {name} is damaged; {WHAT_TO_DO}")


def save(path: str, table: Columns, about: dict[str, Any]) -> None:
    """Write a model file beside the old one, synced, and put it in its place. `about`: settings, cutoffs."""
    columns = _file_columns(table)
    words = table.words
    head = {
        **about,
        "labels": list(table.labels),
        "messages": list(table.messages),
        "presences": table.containing[:, words].sum(axis=1).tolist(),
        "occurrences": table.occurring.sum(axis=1).tolist(),
        "vocabulary": int(words.sum()),
        "pair_presences": table.containing[:, ~words].sum(axis=1).tolist(),
        "pair_vocabulary": int((~words).sum()),
        "numbers": table.numbers,
        "columns": [[name, _kind(data), data.nbytes, crc32(data.data)] for name, data in columns.items()],
    }
    # Its content names a generation, so that the same mail gives the same file, byte for byte.
    identity = blake2b(msgpack.packb(head), digest_size=8).digest()
    head["generation"] = int.from_bytes(identity, "little")
    packed = msgpack.packb(head)
    packer = msgpack.Packer()
    front = [packer.pack_map_header(4 + len(columns))]
    for key, value in (("format", FORMAT), ("version", VERSION), ("crc32", crc32(packed))):
        front += [packer.pack(key), packer.pack(value)]
    front += [packer.pack("head"), packed]
    temporary = f"{path}.new"
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        if os.path.lexists(temporary):
            os.unlink(temporary)  # left by a crash; the caller holds the lock
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            file.writelines(front)
            for name, data in columns.items():
                file.write(packer.pack(name))
                file.write(BIN_32 + data.nbytes.to_bytes(4, "big"))  # bin 32, whatever its size
                file.write(data.data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        sync_folder(path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise CannotCreate(f"{path}: cannot write the model: {error.strerror}") from error


def _file_columns(table: Columns) -> dict[str, Array]:
    words, pairs = table.words, ~table.words
    containing = table.containing[:, words]
    patterns, tokens = np.unique(containing, axis=1, return_counts=True)
    columns: dict[str, Array] = {
        "hashes": table.hashes[words].astype("<u8"),
        "ends": _narrow(table.ends[words]),
        "text": table.text,
        "days": table.days[words].astype("<u2"),
    }
    for k in range(len(table.labels)):
        columns[f"messages.{k}"] = _narrow(containing[k])
        columns[f"occurrences.{k}"] = _narrow(table.occurring[k][words])
        columns[f"histogram.{k}"] = _narrow(patterns[k])
    columns["histogram.tokens"] = _narrow(tokens)
    columns["pair_hashes"] = table.hashes[pairs].astype("<u8")
    for k in range(len(table.labels)):
        columns[f"pair_messages.{k}"] = _narrow(table.containing[k][pairs])
    columns["digests"] = table.learned.digests.astype("<u8")
    columns["digest_labels"] = table.learned.labels.astype("u1")
    columns["digest_scores"] = table.learned.scores.astype("<f4")
    return columns


def _narrow(column: Array) -> Array:
    """The smallest unsigned type that holds a column: most tokens are seen a few times."""
    column = np.maximum(column, 0)  # nothing that is forgotten twice may do harm
    top = int(column.max(initial=0))
    return np.ascontiguousarray(column.astype(np.min_scalar_type(top)))


def _kind(column: Array) -> str:
    return "f" if column.dtype.kind == "f" else {1: "B", 2: "H", 4: "I", 8: "Q"}[column.dtype.itemsize]
