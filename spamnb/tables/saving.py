"""Saving a table as a model file, which docs/model-file.md describes.

It is written shard by shard: the counts of a model may be too many for one machine's memory. Of n shards, n a
power of two, the i-th has the tokens in the i-th of n equal ranges of fingerprints. How large each column
becomes is known before, from the totals; so each shard goes where it belongs, and the head comes last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any
from zlib import crc32

import msgpack
import numpy as np

from spamnb.arrays import Array, counted_columns, distinct_columns
from spamnb.errors import CannotCreate, DataError
from spamnb.store.stored_model import FORMAT, VERSION
from spamnb.tables.count_table import CountTable, NumberSums, add_sums
from spamnb.tables.learned import LearnedMessages


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over a table, and what a file has to have room for: the highest counts, the size of the text."""

    labels: tuple[str, ...]
    messages: list[int]  # [label], as the next three
    presences: list[int]
    occurrences: list[int]
    pair_presences: list[int]
    vocabulary: int
    pair_vocabulary: int
    text: int  # bytes of all tokens
    highest: int  # of all counts of tokens
    highest_of_pairs: int
    numbers: NumberSums
    patterns: Array  # [label, n] the different columns of message counts
    pattern_tokens: Array  # how many tokens have each of these columns

    @classmethod
    def of(cls, table: CountTable) -> Totals:
        words, pairs = np.flatnonzero(table.words), np.flatnonzero(~table.words)
        message_counts, of_pairs = (table.message_counts.take(places, axis=1) for places in (words, pairs))
        return cls(
            table.labels,
            list(table.messages),
            message_counts.sum(axis=1, dtype=np.int64).tolist(),
            table.occurrence_counts.sum(axis=1, dtype=np.int64).tolist(),
            of_pairs.sum(axis=1, dtype=np.int64).tolist(),
            message_counts.shape[1],
            of_pairs.shape[1],
            len(table.texts.data),
            max(int(message_counts.max(initial=0)), int(table.occurrence_counts.max(initial=0))),
            int(of_pairs.max(initial=0)),
            table.numbers,
            *counted_columns(message_counts),
        )

    def histogram(self) -> dict[tuple[int, ...], int]:
        """Count the tokens that share the same numbers of messages per label."""
        return dict(zip(zip(*self.patterns.tolist(), strict=True), self.pattern_tokens.tolist(), strict=True))


def sum_totals(shards: Sequence[Totals]) -> Totals:
    """Add up the totals of the shards of a table."""
    patterns, which = distinct_columns(np.concatenate([shard.patterns for shard in shards], axis=1))
    tokens = np.concatenate([shard.pattern_tokens for shard in shards])

    def sum_of(name: str) -> Any:
        return sum(getattr(shard, name) for shard in shards)

    def by_label(name: str) -> list[int]:
        return [sum(column) for column in zip(*(getattr(shard, name) for shard in shards), strict=True)]

    return Totals(
        shards[0].labels,
        by_label("messages"),
        by_label("presences"),
        by_label("occurrences"),
        by_label("pair_presences"),
        sum_of("vocabulary"),
        sum_of("pair_vocabulary"),
        sum_of("text"),
        max(shard.highest for shard in shards),
        max(shard.highest_of_pairs for shard in shards),
        add_sums(shard.numbers for shard in shards),
        patterns,
        np.bincount(which, tokens, patterns.shape[1]).astype(np.int64),
    )


BIN_32, UINT_32, UINT_64 = b"\xc6", b"\xce", b"\xcf"  # types of msgpack
DIRECTORY = "II"  # types of its entries: start and checksum
DIRECTORIES = {"starts": "tokens", "pair_starts": "pairs"}  # name → the column it leads into
STRETCHES_AT_ONCE = 1 << 14  # read for their checksums


def record_type(kind: str) -> Any:
    """Choose numpy's type for a column: a number, counts behind a fingerprint, or an entry of a directory."""
    if kind == DIRECTORY:
        return [("start", "<u4"), ("checksum", "<u4")]
    return f"<{kind}" if len(kind) == 1 else [("key", "<u8"), ("counts", f"<{kind[-1]}", (len(kind) - 1,))]


def column_header(name: str, size: int) -> bytes:
    """Pack what stands before the bytes of a column: its name, and bin 32 whatever its size."""
    return bytes(msgpack.packb(name)) + BIN_32 + size.to_bytes(4, "big")


class ModelFileWriter:
    """Writes columns side by side, and then the head in front of them."""

    def __init__(self, file: Any, head: dict[str, Any], kinds: dict[str, str], sizes: dict[str, int]) -> None:
        self.file = file
        self.head = head
        self.kinds = kinds
        self.sizes = sizes
        self.checksums = dict.fromkeys(sizes, 0)
        self.at = {}  # where each column goes on
        at = len(self._front())
        for name, size in sizes.items():
            self.at[name] = at + len(column_header(name, size))
            at = self.at[name] + size
        self.starts = dict(self.at)
        self.directories: dict[str, list[Array]] = {name: [] for name in DIRECTORIES}

    def add(self, columns: dict[str, Array]) -> None:
        for name, column in columns.items():
            if name in DIRECTORIES and not column.dtype.names:  # written last: checksums need the records
                self.directories[name].append(column)
                continue
            data = np.ascontiguousarray(column).view(np.uint8).data
            self.checksums[name] = crc32(data, self.checksums[name])
            self.file.seek(self.at[name])
            self.file.write(data)
            self.at[name] += len(data)

    def add_directories(self) -> None:
        """Write where each stretch of records starts, and its checksum: a lookup reads one stretch only."""
        for name, records in DIRECTORIES.items():
            starts = np.concatenate(self.directories[name])
            width = np.dtype(record_type(self.kinds[records])).itemsize
            for first in range(0, len(starts), STRETCHES_AT_ONCE):
                offsets = starts[first : first + STRETCHES_AT_ONCE + 1].astype(np.int64) * width
                self.file.seek(self.starts[records] + int(offsets[0]))
                data = memoryview(self.file.read(int(offsets[-1] - offsets[0])))
                ends = (offsets - offsets[0]).tolist()
                entries = np.zeros(min(STRETCHES_AT_ONCE, len(starts) - first), record_type(DIRECTORY))
                entries["start"] = starts[first : first + STRETCHES_AT_ONCE]
                # As `checksum_of` takes it, which would take twice the time for so many.
                sums = np.array([crc32(data[start:end]) for start, end in pairwise(ends)], np.uint32)
                numbers = np.arange(first + 1, first + 1 + len(sums), dtype=np.uint32)
                entries["checksum"][: len(sums)] = sums ^ numbers
                self.add({name: entries})

    def finish(self) -> None:
        for name, size in self.sizes.items():
            header = column_header(name, size)
            if self.at[name] != self.starts[name] + size:
                raise ValueError(f"column {name} has another size than announced")
            self.file.seek(self.starts[name] - len(header))
            self.file.write(header)
        self.file.seek(0)
        self.file.write(self._front())

    def _front(self) -> bytes:
        """Pack all that stands before the columns; its length does not depend on the checksums."""
        columns: list[list[Any]] = [
            [name, kind, self.sizes[name], self.checksums[name]] for name, kind in self.kinds.items()
        ]
        # The generation is a hash of the content, so that the same mail gives the same file, byte for byte.
        identity = blake2b(msgpack.packb({**self.head, "columns": columns}), digest_size=8).digest()
        packer = msgpack.Packer()
        head = [packer.pack_map_header(len(self.head) + 2)]
        head += [packer.pack(item) for pair in self.head.items() for item in pair]
        head += [packer.pack("columns"), packer.pack_array_header(len(columns))]
        for *about, checksum in columns:
            head += [packer.pack_array_header(4), *map(packer.pack, about)]
            head += [UINT_32, checksum.to_bytes(4, "big")]
        packed = b"".join([*head, packer.pack("generation"), UINT_64, identity[::-1]])
        front = [packer.pack_map_header(4 + len(columns))]
        for key, value in (("format", FORMAT), ("version", VERSION)):
            front += [packer.pack(key), packer.pack(value)]
        front += [packer.pack("crc32"), UINT_32 + crc32(packed).to_bytes(4, "big")]
        return b"".join([*front, packer.pack("head"), packed])


MapShards = Callable[..., Iterable[Any]]  # called as `map`: a function, the shards, other arguments

LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # bytes of an unsigned number → letter of its type
LARGEST_COLUMN = (1 << 32) - 1  # bytes
TOO_LARGE = "more than 4 GiB, which is the most a column has; drop what is rare: --drop-rare 1"


@dataclass(frozen=True)
class ShardLayout:
    """Facts about the whole file that are needed to encode one shard of it."""

    shard: int
    shards: int
    token_kind: str  # types of the records, as `record_type` takes them
    pair_kind: str
    end_kind: str
    bits: int  # the directory goes by so many first bits of a fingerprint
    pair_bits: int
    tokens: int  # number in the shards before this one; as `pairs`, and `text` in bytes
    pairs: int
    text: int


def encode_shard(table: CountTable, layout: ShardLayout) -> dict[str, Array]:
    """Make the stretch of each column of tokens that a shard fills."""
    words, pairs = np.flatnonzero(table.words), np.flatnonzero(~table.words)
    counts = [counts.take(words, axis=1) for counts in (table.message_counts, table.occurrence_counts)]
    tokens = _records(table.fingerprints.take(words), np.concatenate(counts), layout.token_kind)
    pair_counts = table.message_counts.take(pairs, axis=1)
    neighbours = _records(table.fingerprints.take(pairs), pair_counts, layout.pair_kind)
    return {
        "starts": _directory(tokens["key"], layout, layout.bits, layout.tokens),
        "tokens": tokens,
        "pair_starts": _directory(neighbours["key"], layout, layout.pair_bits, layout.pairs),
        "pairs": neighbours,
        "ends": (table.texts.ends.take(words) + layout.text).astype(f"<{layout.end_kind}"),
        "text": table.texts.data,
        "days": table.last_days.take(words).astype("<u2"),
        "first_days": table.first_days.take(words).astype("<u2"),
        "pair_days": table.last_days.take(pairs).astype("<u2"),
    }


def _records(fingerprints: Array, counts: Array, kind: str) -> Array:
    """Put fingerprints and counts [count, token] side by side: one read finds both."""
    records = np.empty(len(fingerprints), record_type(kind))
    records["key"] = fingerprints
    records["counts"] = np.maximum(counts, 0).T  # a message forgotten twice may do no harm
    return records


def _directory(fingerprints: Array, layout: ShardLayout, bits: int, before: int) -> Array:
    """Find where each stretch of fingerprints with the same first bits starts, if it starts in this shard.

    The last shard adds where the last stretch ends.
    """
    first, end = (-(-(number << bits) // layout.shards) for number in (layout.shard, layout.shard + 1))
    firsts = np.arange(first, end, dtype=np.uint64) << np.uint64((64 - bits) % 64)
    starts = np.searchsorted(fingerprints, firsts)
    if layout.shard == layout.shards - 1:
        starts = np.append(starts, len(fingerprints))
    return (starts + before).astype(np.uint32)


def _bits(count: int) -> int:
    """Choose how many first bits a directory goes by: eight to sixteen fingerprints share them."""
    return (count // 16).bit_length()


def save(
    path: str,
    shards: Sequence[Any],
    learned: LearnedMessages,
    about: dict[str, Any],
    totals: Sequence[Totals] | None = None,
    map_shards: MapShards = map,
) -> str:
    """Write a model file beside the old one, synced. `about`: labels, settings, cutoffs. Returns where it is.

    The shards are tables, or what `map_shards` takes for them.
    """
    totals = totals or list(map_shards(Totals.of, shards))
    whole = sum_totals(totals)
    label_count = len(about["labels"])
    kinds = {
        "starts": DIRECTORY,
        "tokens": "Q" + _letter(whole.highest) * 2 * label_count,
        "pair_starts": DIRECTORY,
        "pairs": "Q" + _letter(whole.highest_of_pairs) * label_count,
        "ends": _letter(whole.text),
        "text": "B",
        "days": "H",
        "first_days": "H",
        "pair_days": "H",
    }
    small = {**_histogram(whole), **_digests(learned)}
    kinds |= {name: _kind(column) for name, column in small.items()}
    bits, pair_bits = _bits(whole.vocabulary), _bits(whole.pair_vocabulary)
    entries = {
        "starts": (1 << bits) + 1,
        "pair_starts": (1 << pair_bits) + 1,
        **dict.fromkeys(("tokens", "ends", "days", "first_days"), whole.vocabulary),
        **dict.fromkeys(("pairs", "pair_days"), whole.pair_vocabulary),
        "text": whole.text,
        **{name: len(column) for name, column in small.items()},
    }
    sizes = {name: entries[name] * np.dtype(record_type(kind)).itemsize for name, kind in kinds.items()}
    for name, size in sizes.items():
        if size > LARGEST_COLUMN:
            raise DataError(f"{path}: its column {name} would have {TOO_LARGE}")
    head = {
        **dict(sorted(about.items())),
        "messages": whole.messages,
        "presences": whole.presences,
        "occurrences": whole.occurrences,
        "vocabulary": whole.vocabulary,
        "pair_presences": whole.pair_presences,
        "pair_vocabulary": whole.pair_vocabulary,
        "numbers": whole.numbers,
    }
    layouts, tokens, pairs, text = [], 0, 0, 0
    for shard, total in enumerate(totals):
        of_columns = kinds["tokens"], kinds["pairs"], kinds["ends"]
        layouts.append(ShardLayout(shard, len(shards), *of_columns, bits, pair_bits, tokens, pairs, text))
        tokens, pairs, text = tokens + total.vocabulary, pairs + total.pair_vocabulary, text + total.text
    temporary = f"{path}.new"
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        if os.path.lexists(temporary):
            os.unlink(temporary)  # left by a crash; the caller holds the lock on training
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "w+b") as file:
            writer = ModelFileWriter(file, head, kinds, sizes)
            for columns in map_shards(encode_shard, shards, layouts):
                writer.add(columns)
            writer.add(small)
            writer.add_directories()
            writer.finish()
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise CannotCreate(f"{path}: cannot write the model: {error.strerror}") from error
        raise
    return temporary


def _histogram(totals: Totals) -> dict[str, Array]:
    columns = {f"histogram.{k}": _narrow(row) for k, row in enumerate(totals.patterns)}
    return {**columns, "histogram.tokens": _narrow(totals.pattern_tokens)}


def _digests(learned: LearnedMessages) -> dict[str, Array]:
    return {
        "digests": learned.digests.astype("<u8"),
        "digest_labels": learned.labels.astype("u1"),
        "digest_scores": learned.scores.astype("<f4"),
    }


def _narrow(column: Array) -> Array:
    """Convert a column to the smallest unsigned type that holds it."""
    return np.maximum(column, 0).astype(f"<{_letter(int(column.max(initial=0)))}")


def _kind(column: Array) -> str:
    return "f" if column.dtype.kind == "f" else LETTERS[column.dtype.itemsize]


def _letter(top: int) -> str:
    """Name the smallest unsigned type that holds a number: most tokens are seen a few times."""
    return LETTERS[np.min_scalar_type(top).itemsize]
