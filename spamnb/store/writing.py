"""Writing a model file in one go, from start to end; docs/model-file.md describes the format."""

from __future__ import annotations

import os
from _blake2 import blake2b  # hashlib's, without loading hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple
from zlib import crc32

import msgpack

from spamnb.core.native import COUNTERS, LearnedMessages
from spamnb.errors import CannotCreate, DataError
from spamnb.files import complain, keep_owner, make_folder
from spamnb.store.merging import MAX_COLUMN, TOO_LARGE, Merged
from spamnb.store.model_file import COLUMNS, FORMAT, TOTALS, VERSION, WIDTHS
from spamnb.store.stored_model import LABEL_AT, LEARNED_BLOCK

LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # bytes of an unsigned number → letter of its type
MAX_LISTED = COUNTERS // 8  # counters of grams: judging with a longer list is slower than with all
BIN_32 = b"\xc6"  # msgpack's type of bytes with a length of four bytes


class NewColumn(NamedTuple):
    """A column of a model file that is ready to be written."""

    kind: str
    size: int
    checksum: int
    pieces: Iterable[bytes]


def write_model(path: str, merged: Merged, learned: LearnedMessages, about: dict[str, Any]) -> str:
    """Write a new model file beside the old one and sync it; return the path of the new file.

    `about`: settings, cutoffs and so on. The caller must hold the lock on training. An error leaves no file.
    """
    columns = _columns(merged, learned)
    for name, column in columns.items():
        if column.size > MAX_COLUMN:
            raise DataError(f"{path}: its column {name} would be {TOO_LARGE}")
    temporary = f"{path}.new"
    try:
        make_folder(os.path.dirname(path))
        if os.path.lexists(temporary):
            os.unlink(temporary)  # left by a crash
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "wb") as file:
            keep_owner(handle, path, with_mode=True)
            if os.fstat(handle).st_uid != os.geteuid() and not os.path.exists(path):
                complain(f"{path}: belongs to the owner of its folder, who can now use it")
            file.writelines(_pieces(_head(merged, about, columns), columns))
            file.flush()
            os.fsync(handle)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise CannotCreate(f"{path}: cannot write the model: {error.strerror}") from error
        raise
    return temporary


def _columns(merged: Merged, learned: LearnedMessages) -> dict[str, NewColumn]:
    entries, (counters, grams, width) = merged.entries, merged.grams.columns(MAX_LISTED)
    kinds = {**COLUMNS, "grams": LETTERS[width]}
    records, size = learned.records(), LEARNED_BLOCK * sum(WIDTHS[letter] for letter in COLUMNS["learned"])
    blocks = (records[at : at + size] for at in range(0, len(records), size))
    learned_index = [block[:LABEL_AT] + crc32(block).to_bytes(4, "little") for block in blocks]
    data = {
        "index": merged.totals.index(),
        "learned": records,
        "learned_index": b"".join(learned_index),
        "gram_counters": counters,
        "grams": grams,
    }
    columns = {"entries": NewColumn(kinds["entries"], entries.size, entries.checksum, entries.pieces())}
    return columns | {
        name: NewColumn(kinds[name], len(column), crc32(column), [column]) for name, column in data.items()
    }


def _head(merged: Merged, about: dict[str, Any], columns: dict[str, NewColumn]) -> dict[str, Any]:
    """Return the head of a model file: all small values, and the types, sizes and checksums of the columns.

    The generation number is a hash of the content, so the same mail gives the same file, byte for byte.
    """
    head: dict[str, Any] = {
        **dict(sorted(about.items())),
        "labels": list(merged.labels),
        "messages": merged.messages,
        **{name: getattr(merged.totals, name) for name in (*TOTALS[1:], "vocabulary", "pair_vocabulary")},
        "numbers": merged.numbers,
        "columns": [[name, *column[:3]] for name, column in columns.items()],
    }
    generation = blake2b(msgpack.packb(head), digest_size=8).digest()
    return {**head, "generation": int.from_bytes(generation, "little")}


def _pieces(head: dict[str, Any], columns: dict[str, NewColumn]) -> Iterator[bytes]:
    """Yield a model file, which is one msgpack map, piece by piece: the head, then the columns."""
    packer, packed = msgpack.Packer(), msgpack.packb(head)
    front = [packer.pack_map_header(4 + len(columns))]
    for key, value in (("format", FORMAT), ("version", VERSION), ("crc32", crc32(packed))):
        front += [packer.pack(key), packer.pack(value)]
    yield b"".join([*front, packer.pack("head"), packed])
    for name, column in columns.items():
        yield packer.pack(name) + BIN_32 + column.size.to_bytes(4, "big")
        yield from column.pieces
