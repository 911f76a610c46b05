"""The model file written, and read whole: docs/model-file.md describes it."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgpack
import numpy as np

from spamnb.counts.store import FORMAT, VERSION
from spamnb.errors import WHAT_TO_DO, CannotCreate, ModelError

if TYPE_CHECKING:
    from spamnb.bulk.columns import Columns
    from spamnb.counts.store import Stored

    Array = np.ndarray[Any, Any]

BIN_32 = b"\xc6"


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
