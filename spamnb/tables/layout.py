"""Layout of a model file: its columns, written side by side, and the head in front of them."""

from _blake2 import blake2b  # hashlib's, without loading hashlib
from typing import Any
from zlib import crc32

import msgpack
import numpy as np

from spamnb.arrays import Array
from spamnb.core.native import stretch_checksums
from spamnb.store.head import FORMAT, VERSION

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
        at = self.front_size = len(self._front())
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
                data = self.file.read(int(offsets[-1] - offsets[0]))
                entries = np.zeros(min(STRETCHES_AT_ONCE, len(starts) - first), record_type(DIRECTORY))
                entries["start"] = starts[first : first + STRETCHES_AT_ONCE]
                sums = np.frombuffer(stretch_checksums(data, offsets - offsets[0]), np.uint32)
                indices = np.arange(first + 1, first + 1 + len(sums), dtype=np.uint32)
                entries["checksum"][: len(sums)] = sums ^ indices
                self.add({name: entries})

    def finish(self) -> None:
        for name, size in self.sizes.items():
            header = column_header(name, size)
            if self.at[name] != self.starts[name] + size:
                raise ValueError(f"column {name} has another size than announced")
            self.file.seek(self.starts[name] - len(header))
            self.file.write(header)
        front = self._front()
        if len(front) != self.front_size:
            raise ValueError("the head has another size than announced")
        self.file.seek(0)
        self.file.write(front)

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
