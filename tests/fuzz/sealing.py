"""Model files and journals put right again after a change, so that no checksum keeps it from being read."""

from __future__ import annotations

from binascii import crc32

import msgpack

from spamnb.counts import packing


def sealed_model(data: bytes) -> bytes:
    """The same file with checksums that hold; as it is, where too little of it is left for that."""
    start = 3 if data[:1] == b"\xde" else 1  # behind the size of the outermost map
    view, fields, at = memoryview(data), {}, start
    try:
        for _ in range(4):
            key, at = packing.unpack(view, at)
            fields[key], at = packing.unpack(view, at)
        head = fields["head"]
        end = at
        for column in head["columns"]:
            end += 1 + len(column[0]) + 5
            column[3] = crc32(view[end : end + column[2]])
            end += column[2]
        packed = msgpack.packb(head)
    except (packing.Damaged, LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return data
    front = [b"format", b"version", b"crc32", b"head"]
    values = [msgpack.packb(fields.get(key.decode())) for key in front]
    values[2:] = [msgpack.packb(crc32(packed)), packed]
    written = b"".join(msgpack.packb(key.decode()) + value for key, value in zip(front, values, strict=True))
    return data[:start] + written + data[at:]


def sealed_journal(data: bytes) -> bytes:
    view, at, records = memoryview(data), 0, []
    try:
        while at < len(data):
            (_, payload), at = packing.unpack(view, at)
            records.append(packing.pack([crc32(payload), bytes(payload)]))
    except (packing.Damaged, TypeError, ValueError):
        return b"".join(records) + data[at:]
    return b"".join(records)
