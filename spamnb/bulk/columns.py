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
from spamnb.bulk.sorting import changes, order_of, texts_at
from spamnb.counts.store import FORMAT, VERSION, Stored
from spamnb.errors import WHAT_TO_DO, CannotCreate, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.counts.journal import Entry

    Array = np.ndarray[Any, Any]

BIN_32 = b"\xc6"


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
    since: Array | None = None  # day first seen; None: all on the day they were last seen

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
        column = checked(stored)
        many, head = len(stored.labels), stored.head

        def both(words: Array, pairs: Array) -> Array:
            return np.concatenate((words, pairs))[order]

        tokens, pairs = column["tokens"], column["pairs"]
        order = order_of(np.concatenate((tokens["key"], pairs["key"])))
        counts, pair_counts = tokens["counts"].T, pairs["counts"].T
        none = np.zeros(len(pairs), np.uint8)
        base = cls(
            tuple(stored.labels),
            tuple(head["messages"]),
            head["numbers"],
            both(tokens["key"], pairs["key"]),
            np.cumsum(both(np.diff(column["ends"].astype(np.int64), prepend=0), none)),
            column["text"],
            np.array([both(counts[k], pair_counts[k]) for k in range(many)], np.int32),
            np.array([both(counts[many + k], none) for k in range(many)], np.int32),
            both(column["days"], column["pair_days"]),
            Learned(column["digests"], column["digest_labels"].astype(np.int8), column["digest_scores"]),
            both(column["first_days"], column["pair_days"]),
        )
        if not stored.journal.entries:
            return base
        return added([base, *(from_entry(entry, base.labels) for entry in stored.journal.entries)])

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def first_days(self) -> Array:
        return self.days if self.since is None else self.since

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

    def only(self, kept: Array) -> Columns:
        """The table without some of its tokens (a mask of those that stay)."""
        if kept.all():
            return self
        lengths = np.diff(self.ends, prepend=0)
        starts = (self.ends - lengths)[kept]
        return replace(
            self,
            hashes=self.hashes[kept],
            ends=np.cumsum(lengths[kept]),
            text=texts_at(self.text, starts, lengths[kept]),
            containing=self.containing[:, kept],
            occurring=self.occurring[:, kept],
            days=self.days[kept],
            since=self.first_days[kept],
        )

    def settled(self) -> Columns:
        """Nothing below zero, and no token that nothing is left of.

        A message may be forgotten twice, or after some of its words were pruned: no harm.
        """
        settled = replace(
            self, containing=np.maximum(self.containing, 0), occurring=np.maximum(self.occurring, 0)
        )
        left: Array = np.any(settled.containing, axis=0)
        return settled.only(left)

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
    order = order_of(hashes)
    hashes = hashes[order]
    first = np.flatnonzero(changes(hashes))

    def summed(name: str) -> Array:
        """Label by label, for the sake of memory."""
        if not len(first):
            return tables[0].containing[:, :0]
        columns = zip(*(getattr(table, name) for table in tables), strict=True)
        return np.stack([np.add.reduceat(np.concatenate(column)[order], first) for column in columns])

    containing, occurring = summed("containing"), summed("occurring")
    days = np.concatenate([table.days for table in tables])[order]
    since = np.concatenate([table.first_days for table in tables])[order]
    if len(first):
        days, since = np.maximum.reduceat(days, first), np.minimum.reduceat(since, first)
    filled = containing.any(axis=0) | occurring.any(axis=0)
    left: Any = slice(None) if filled.all() else filled
    hashes = hashes[first][left]
    ends, text = _gathered(tables, order[first][left])
    return Columns(
        labels,
        tuple(sum(column) for column in zip(*(table.messages for table in tables), strict=True)),
        _numbers(tables),
        hashes,
        ends,
        text,
        containing[:, left],
        occurring[:, left],
        days[left],
        in_turn([table.learned for table in tables]),
        since[left],
    )


def _gathered(tables: Sequence[Columns], chosen: Array) -> tuple[Array, Array]:
    """The text of the chosen tokens, numbered through all tables, one behind the other."""
    offsets = np.cumsum([0, *(len(table.text) for table in tables)])
    ends = np.concatenate([table.ends + offset for table, offset in zip(tables, offsets, strict=False)])
    lengths = np.diff(ends, prepend=0).astype(np.int32)
    text = np.concatenate([table.text for table in tables])
    ends, lengths = ends[chosen], lengths[chosen]
    return np.cumsum(lengths), texts_at(text, ends - lengths, lengths)


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
    order = order_of(hashes)
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


def checked(stored: Stored) -> dict[str, Array]:
    """All columns of a model file, verified."""
    columns = {}
    for name, kind, size, checksum in stored.head["columns"]:
        column = stored.column(name)
        in_front = msgpack.packb(name) + BIN_32 + size.to_bytes(4, "big")
        data = column.whole()
        if stored.file.read(column.at - len(in_front), len(in_front)) != in_front or crc32(data) != checksum:
            raise ModelError(stored.path, f"its column {name} is damaged; {WHAT_TO_DO}")
        columns[name] = np.frombuffer(data, _dtype(kind))
    return columns


def _dtype(kind: str) -> Any:
    """A single number; or a record, the counts behind a fingerprint."""
    return kind if len(kind) == 1 else [("key", "<u8"), ("counts", f"<{kind[-1]}", (len(kind) - 1,))]


def save(path: str, table: Columns, about: dict[str, Any]) -> str:
    """Write a model file beside the old one, synced. `about`: settings, cutoffs. Returns where it is."""
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
            os.unlink(temporary)  # left by a crash; the caller holds the lock on training
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            file.writelines(front)
            for name, data in columns.items():
                file.write(packer.pack(name))
                file.write(BIN_32 + data.nbytes.to_bytes(4, "big"))  # bin 32, whatever its size
                file.write(data.data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise CannotCreate(f"{path}: cannot write the model: {error.strerror}") from error
    return temporary


def _file_columns(table: Columns) -> dict[str, Array]:
    words, pairs = table.words, ~table.words
    containing = table.containing[:, words]
    tokens = _records(table.hashes[words], np.concatenate((containing, table.occurring[:, words])))
    neighbours = _records(table.hashes[pairs], table.containing[:, pairs])
    columns: dict[str, Array] = {
        "starts": _directory(tokens["key"]),
        "tokens": tokens,
        "pair_starts": _directory(neighbours["key"]),
        "pairs": neighbours,
        "ends": _narrow(table.ends[words]),
        "text": table.text,
        "days": table.days[words].astype("<u2"),
        "first_days": table.first_days[words].astype("<u2"),
        "pair_days": table.days[pairs].astype("<u2"),
    }
    patterns, alike = _alike(containing)
    for k in range(len(table.labels)):
        columns[f"histogram.{k}"] = _narrow(patterns[k])
    columns["histogram.tokens"] = _narrow(alike)
    columns["digests"] = table.learned.digests.astype("<u8")
    columns["digest_labels"] = table.learned.labels.astype("u1")
    columns["digest_scores"] = table.learned.scores.astype("<f4")
    return columns


def _records(hashes: Array, counts: Array) -> Array:
    """Of each token its fingerprint and its counts [count, token], side by side: one read finds both."""
    narrow = _narrow(counts)
    records = np.empty(len(hashes), _dtype("Q" + _letter(narrow) * len(counts)))
    records["key"] = hashes
    records["counts"] = narrow.T
    return records


def _directory(hashes: Array) -> Array:
    """Where each stretch of fingerprints with the same first bits starts, and the end; 8 to 16 in each."""
    bits = (len(hashes) // 16).bit_length()
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(max(0, 64 - bits) % 64)
    return np.append(np.searchsorted(hashes, firsts), len(hashes)).astype("<u4")


def _alike(counts: Array) -> tuple[Array, Array]:
    """The different columns of a table [label, token], and how many tokens have each."""
    keys, first = counts[0].astype(np.int64), np.arange(0)
    for more in counts[1:]:
        _, first, keys = np.unique(
            keys * (1 + int(more.max(initial=0))) + more, return_index=True, return_inverse=True
        )
    _, first, alike = np.unique(keys, return_index=True, return_counts=True)
    return counts[:, first], alike


def _narrow(column: Array) -> Array:
    """The smallest unsigned type that holds a column: most tokens are seen a few times."""
    column = np.maximum(column, 0)  # nothing that is forgotten twice may do harm
    top = int(column.max(initial=0))
    return np.ascontiguousarray(column.astype(np.min_scalar_type(top)))


def _kind(column: Array) -> str:
    if column.dtype.names:
        counts = column["counts"]
        return "Q" + _letter(counts) * counts.shape[1]
    return _letter(column)


def _letter(column: Array) -> str:
    return "f" if column.dtype.kind == "f" else {1: "B", 2: "H", 4: "I", 8: "Q"}[column.dtype.itemsize]
