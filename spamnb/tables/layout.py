"""The model file written, and read whole: docs/model-file.md describes it.

It is written shard by shard: the counts of a model may be too many for one machine's memory. Of n shards, n a
power of two, the i-th has the tokens in the i-th of n equal ranges of fingerprints. How large each column
becomes is known before, from the totals; so each shard goes where it belongs, and the head comes last.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgpack
import numpy as np

from spamnb.errors import WHAT_TO_DO, CannotCreate, DataError, ModelError
from spamnb.store.records import checksum_of
from spamnb.store.stored_model import FORMAT, VERSION
from spamnb.tables.totals import Totals, summed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from spamnb.arrays import Array
    from spamnb.store.stored_model import StoredModel
    from spamnb.tables.count_table import CountTable
    from spamnb.tables.learned import Learned

    MapShards = Callable[..., Iterable[Any]]  # as `map`: a task, the shards, and what else it needs of each

BIN_32, UINT_32, UINT_64 = b"\xc6", b"\xce", b"\xcf"
LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
DIRECTORY = "II"
DIRECTORIES = {"starts": "tokens", "pair_starts": "pairs"}  # of which column each is
AT_ONCE = 1 << 14  # stretches read to be summed
LARGEST = (1 << 32) - 1  # bytes of a column
TOO_LARGE = "more than 4 GiB, which is the most a column has; drop what is rare: --drop-rare 1"


def checked(stored: StoredModel) -> dict[str, Array]:
    """All columns of a model file, verified."""
    columns = {}
    for name, kind, size, _ in stored.head["columns"]:
        column = stored.column(name)
        in_front = _in_front(name, size)
        data = column.read()
        if stored.file.read(column.at - len(in_front), len(in_front)) != in_front:
            raise ModelError(stored.path, f"its column {name} is damaged; {WHAT_TO_DO}")
        columns[name] = np.frombuffer(data, record_type(kind))
    return columns


def record_type(kind: str) -> Any:
    """Of a column: a number each; or a record, the counts behind a fingerprint; or a directory's entry."""
    if kind == DIRECTORY:
        return [("start", "<u4"), ("checksum", "<u4")]
    return f"<{kind}" if len(kind) == 1 else [("key", "<u8"), ("counts", f"<{kind[-1]}", (len(kind) - 1,))]


def _in_front(name: str, size: int) -> bytes:
    """What stands before the bytes of a column: bin 32, whatever its size."""
    return bytes(msgpack.packb(name)) + BIN_32 + size.to_bytes(4, "big")


@dataclass(frozen=True)
class Shape:
    """What must be known to make a shard of a table a shard of the file."""

    shard: int
    shards: int
    token_kind: str  # of its records, and so on
    pair_kind: str
    end_kind: str
    bits: int  # of a fingerprint that the directory goes by
    pair_bits: int
    tokens: int  # in the shards before
    pairs: int
    text: int


def encoded(table: CountTable, shape: Shape) -> dict[str, Array]:
    """This shard's stretch of each column that goes by tokens."""
    words, pairs = table.words, ~table.words
    counts = np.concatenate((table.message_counts[:, words], table.occurrence_counts[:, words]))
    tokens = _records(table.fingerprints[words], counts, shape.token_kind)
    neighbours = _records(table.fingerprints[pairs], table.message_counts[:, pairs], shape.pair_kind)
    return {
        "starts": _directory(tokens["key"], shape, shape.bits, shape.tokens),
        "tokens": tokens,
        "pair_starts": _directory(neighbours["key"], shape, shape.pair_bits, shape.pairs),
        "pairs": neighbours,
        "ends": (table.ends[words] + shape.text).astype(f"<{shape.end_kind}"),
        "text": table.text,
        "days": table.days[words].astype("<u2"),
        "first_days": table.first_days[words].astype("<u2"),
        "pair_days": table.days[pairs].astype("<u2"),
    }


def _records(fingerprints: Array, counts: Array, kind: str) -> Array:
    """Of each token its fingerprint and its counts [count, token], side by side: one read finds both."""
    records = np.empty(len(fingerprints), record_type(kind))
    records["key"] = fingerprints
    records["counts"] = np.maximum(counts, 0).T  # nothing that is forgotten twice may do harm
    return records


def _directory(fingerprints: Array, shape: Shape, bits: int, before: int) -> Array:
    """Where each stretch of fingerprints with the same first bits starts, as far as it starts in this shard.

    Behind the last shard stands the end of all.
    """
    first, end = (-(-(place << bits) // shape.shards) for place in (shape.shard, shape.shard + 1))
    firsts = np.arange(first, end, dtype=np.uint64) << np.uint64((64 - bits) % 64)
    starts = np.searchsorted(fingerprints, firsts)
    if shape.shard == shape.shards - 1:
        starts = np.append(starts, len(fingerprints))
    return (starts + before).astype(np.uint32)


def _bits(many: int) -> int:
    """Eight to sixteen fingerprints share them."""
    return (many // 16).bit_length()


def save(
    path: str,
    shards: Sequence[Any],
    learned: Learned,
    about: dict[str, Any],
    totals: Sequence[Totals] | None = None,
    map_shards: MapShards = map,
) -> str:
    """Write a model file beside the old one, synced. `about`: labels, settings, cutoffs. Returns where it is.

    The shards are tables, or what `map_shards` takes for them.
    """
    totals = totals or list(map_shards(Totals.of, shards))
    whole = summed(totals)
    many = len(about["labels"])
    kinds = {
        "starts": DIRECTORY,
        "tokens": "Q" + _letter(whole.most) * 2 * many,
        "pair_starts": DIRECTORY,
        "pairs": "Q" + _letter(whole.most_of_pairs) * many,
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
        if size > LARGEST:
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
    shapes, tokens, pairs, text = [], 0, 0, 0
    for shard, own in enumerate(totals):
        ends = kinds["tokens"], kinds["pairs"], kinds["ends"]
        shapes.append(Shape(shard, len(shards), *ends, bits, pair_bits, tokens, pairs, text))
        tokens, pairs, text = tokens + own.vocabulary, pairs + own.pair_vocabulary, text + own.text
    temporary = f"{path}.new"
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        if os.path.lexists(temporary):
            os.unlink(temporary)  # left by a crash; the caller holds the lock on training
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "w+b") as file:
            writer = _Writer(file, head, kinds, sizes)
            for columns in map_shards(encoded, shards, shapes):
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


class _Writer:
    """A file whose columns grow side by side."""

    def __init__(self, file: Any, head: dict[str, Any], kinds: dict[str, str], sizes: dict[str, int]) -> None:
        self.file = file
        self.head = head
        self.kinds = kinds
        self.sizes = sizes
        self.checksums = dict.fromkeys(sizes, 0)
        self.at = {}
        at = len(self._front())
        for name, size in sizes.items():
            self.at[name] = at + len(_in_front(name, size))
            at = self.at[name] + size
        self.starts = dict(self.at)
        self.leads: dict[str, list[Array]] = {name: [] for name in DIRECTORIES}

    def add(self, columns: dict[str, Array]) -> None:
        for name, column in columns.items():
            if name in DIRECTORIES and not column.dtype.names:  # what it leads to may not be there yet
                self.leads[name].append(column)
                continue
            data = np.ascontiguousarray(column).view(np.uint8).data
            self.checksums[name] = crc32(data, self.checksums[name])
            self.file.seek(self.at[name])
            self.file.write(data)
            self.at[name] += len(data)

    def add_directories(self) -> None:
        """Each stretch of records with its checksum: who looks one up reads no more than that."""
        for name, of in DIRECTORIES.items():
            leads = np.concatenate(self.leads[name])
            width = np.dtype(record_type(self.kinds[of])).itemsize
            for first in range(0, len(leads), AT_ONCE):
                some = leads[first : first + AT_ONCE + 1].astype(np.int64) * width
                self.file.seek(self.starts[of] + int(some[0]))
                data = memoryview(self.file.read(int(some[-1] - some[0])))
                ends = (some - some[0]).tolist()
                entries = np.zeros(min(AT_ONCE, len(leads) - first), record_type(DIRECTORY))
                entries["start"] = leads[first : first + AT_ONCE]
                sums = [checksum_of(data[a:b], place) for place, (a, b) in enumerate(pairwise(ends), first)]
                entries["checksum"][: len(sums)] = sums
                self.add({name: entries})

    def finish(self) -> None:
        for name, size in self.sizes.items():
            in_front = _in_front(name, size)
            if self.at[name] != self.starts[name] + size:
                raise ValueError(f"column {name} has another size than was said")
            self.file.seek(self.starts[name] - len(in_front))
            self.file.write(in_front)
        self.file.seek(0)
        self.file.write(self._front())

    def _front(self) -> bytes:
        """All before the columns. It has the same length whatever the checksums are."""
        columns: list[list[Any]] = [
            [name, kind, self.sizes[name], self.checksums[name]] for name, kind in self.kinds.items()
        ]
        # Its content names a generation, so that the same mail gives the same file, byte for byte.
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


def _histogram(totals: Totals) -> dict[str, Array]:
    columns = {f"histogram.{k}": _narrow(row) for k, row in enumerate(totals.patterns)}
    return {**columns, "histogram.tokens": _narrow(totals.alike)}


def _digests(learned: Learned) -> dict[str, Array]:
    return {
        "digests": learned.digests.astype("<u8"),
        "digest_labels": learned.labels.astype("u1"),
        "digest_scores": learned.scores.astype("<f4"),
    }


def _narrow(column: Array) -> Array:
    """The smallest unsigned type that holds a column."""
    return np.maximum(column, 0).astype(f"<{_letter(int(column.max(initial=0)))}")


def _kind(column: Array) -> str:
    return "f" if column.dtype.kind == "f" else LETTERS[column.dtype.itemsize]


def _letter(top: int) -> str:
    """The smallest unsigned type that holds a number: most tokens are seen a few times."""
    return LETTERS[np.min_scalar_type(top).itemsize]
