"""Models and journals put right after a change, so that no checksum keeps them from being read."""

from __future__ import annotations

from binascii import crc32

import msgpack

from spamnb.core.native import Damaged, unpack
from spamnb.store.model_file import WIDTHS
from spamnb.store.stored_model import LEARNED_BLOCK


def sealed_model(data: bytes, blocks: bool = False) -> bytes:
    """The same file with checksums that hold; as it is, where too little of it is left for that.

    With `blocks` those in the index, too.
    """
    start = 3 if data[:1] == b"\xde" else 1  # behind the size of the outermost map
    fields, at = {}, start
    try:
        for _ in range(4):
            key, at = unpack(data, at)
            fields[key], at = unpack(data, at)
        head = fields["head"]
        end, places = at, {}
        for name, kind, size, _ in head["columns"]:
            end += 1 + len(name) + 5
            places[name] = end, size, sum(WIDTHS[letter] for letter in kind)
            end += size
        changed = bytearray(data)
        if blocks:
            seal_blocks(changed, places["index"], places["entries"])
            seal_learned(changed, places["learned_index"], places["learned"])
        for column in head["columns"]:
            start_of, size, _ = places[column[0]]
            column[3] = crc32(changed[start_of : start_of + size])
        packed = msgpack.packb(head)
    except (Damaged, LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return data
    front = [b"format", b"version", b"crc32", b"head"]
    values = [msgpack.packb(fields.get(key.decode())) for key in front]
    values[2:] = [msgpack.packb(crc32(packed)), packed]
    written = b"".join(msgpack.packb(key.decode()) + value for key, value in zip(front, values, strict=True))
    return data[:start] + written + changed[at:]


def seal_blocks(data: bytearray, index: tuple[int, int, int], entries: tuple[int, int, int]) -> None:
    """The checksum of each block that an index leads to. Of both: offset, size, width."""
    (first, size, width), (start, end, _) = index, entries
    records = range(first, first + size, width)
    starts = [int.from_bytes(data[at + 8 : at + 12], "little") for at in records] + [end]
    for number, at in enumerate(records):
        block = data[start + min(starts[number], end) : start + min(starts[number + 1], end)]
        data[at + 12 : at + 16] = (crc32(block) ^ number + 1).to_bytes(4, "little")


def seal_learned(data: bytearray, index: tuple[int, int, int], learned: tuple[int, int, int]) -> None:
    """The checksum of each block of learned messages."""
    (first, size, width), (start, whole, record) = index, learned
    for number, at in enumerate(range(first, first + size, width)):
        begin, end = (min(n * LEARNED_BLOCK * record, whole) for n in (number, number + 1))
        data[at + 8 : at + 12] = crc32(data[start + begin : start + end]).to_bytes(4, "little")


def sealed_journal(data: bytes) -> bytes:
    at, records = 0, []
    try:
        while at < len(data):
            (_, payload), at = unpack(data, at)
            records.append(msgpack.packb([crc32(payload), bytes(payload)]))
    except (Damaged, TypeError, ValueError):
        return b"".join(records) + data[at:]
    return b"".join(records)
