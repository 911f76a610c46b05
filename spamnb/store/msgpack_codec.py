"""msgpack, read without copies, and written for journal records.

The msgpack library costs 6.7 ms to import and copies every binary object it meets; a delivery can afford
neither. Here binary objects are slices of the data. Tests hold this equal to the library, which writes the
model file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 16  # our own files nest four deep


class Damaged(ValueError):
    """Raised for data that is not msgpack, or is cut short."""


def unpack(data: memoryview, at: int = 0, depth: int = 0) -> tuple[Any, int]:
    """Return the object that starts at an offset, and the offset behind it."""
    if depth > MAX_DEPTH:
        raise Damaged("nested too deeply")
    try:
        return _unpack(data, at, depth)
    except (IndexError, UnicodeDecodeError, TypeError) as error:
        raise Damaged("not what was written") from error


def _unpack(data: memoryview, at: int, depth: int) -> tuple[Any, int]:
    kind = data[at]
    at += 1
    if kind <= 0x7F:
        return kind, at
    if kind >= 0xE0:
        return kind - 256, at
    if kind <= 0x8F:
        return _map(data, at, kind & 0x0F, depth)
    if kind <= 0x9F:
        return _array(data, at, kind & 0x0F, depth)
    if kind <= 0xBF:
        return _text(data, at, kind & 0x1F)
    if kind in _CONSTANTS:
        return _CONSTANTS[kind], at
    if kind == 0xCB:
        return memoryview(bytes(_slice(data, at, 8))[::-1]).cast("d")[0], at + 8
    if kind not in _SIZES:
        raise Damaged(f"unknown type {kind:#x}")
    size, signed, read = _SIZES[kind]
    integer = int.from_bytes(_slice(data, at, size), "big", signed=signed)
    at += size
    return (integer, at) if read is None else read(data, at, integer, depth)


def _slice(data: memoryview, at: int, size: int) -> memoryview:
    if at + size > len(data):
        raise Damaged("cut short")
    return data[at : at + size]


def _text(data: memoryview, at: int, size: int, _depth: int = 0) -> tuple[str, int]:
    return str(_slice(data, at, size), "utf-8"), at + size


def _binary(data: memoryview, at: int, size: int, _depth: int = 0) -> tuple[memoryview, int]:
    return _slice(data, at, size), at + size


def _array(data: memoryview, at: int, size: int, depth: int) -> tuple[list[Any], int]:
    items = []
    for _ in range(size):
        item, at = unpack(data, at, depth + 1)
        items.append(item)
    return items, at


def _map(data: memoryview, at: int, size: int, depth: int) -> tuple[dict[Any, Any], int]:
    items = {}
    for _ in range(size):
        key, at = unpack(data, at, depth + 1)
        items[key], at = unpack(data, at, depth + 1)
    return items, at


_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
# By type byte: the size of the integer behind it, whether it is signed, what reads an object of that length.
_SIZES: dict[int, tuple[int, bool, Any]] = {
    0xC4: (1, False, _binary),
    0xC5: (2, False, _binary),
    0xC6: (4, False, _binary),
    0xCC: (1, False, None),
    0xCD: (2, False, None),
    0xCE: (4, False, None),
    0xCF: (8, False, None),
    0xD0: (1, True, None),
    0xD1: (2, True, None),
    0xD2: (4, True, None),
    0xD3: (8, True, None),
    0xD9: (1, False, _text),
    0xDA: (2, False, _text),
    0xDB: (4, False, _text),
    0xDC: (2, False, _array),
    0xDD: (4, False, _array),
    0xDE: (2, False, _map),
    0xDF: (4, False, _map),
}


def pack(value: Any) -> bytes:
    """Return the bytes that msgpack.packb gives, for the few types a journal record needs."""
    out = bytearray()
    _pack(value, out)
    return bytes(out)


def _pack(value: Any, out: bytearray) -> None:
    if value is None:
        out.append(0xC0)
    elif isinstance(value, int):
        _pack_integer(value, out)
    elif isinstance(value, float):
        out.append(0xCB)
        out += bytes(_double(value))[::-1]
    elif isinstance(value, str):
        text = value.encode()
        _pack_size(len(text), out, 0xA0, 32, (0xD9, 0xDA, 0xDB))
        out += text
    elif isinstance(value, bytes):
        _pack_size(len(value), out, 0, 0, (0xC4, 0xC5, 0xC6))
        out += value
    elif isinstance(value, list):
        _pack_size(len(value), out, 0x90, 16, (None, 0xDC, 0xDD))
        for item in value:
            _pack(item, out)
    else:
        _pack_size(len(value), out, 0x80, 16, (None, 0xDE, 0xDF))
        for key, item in value.items():
            _pack(key, out)
            _pack(item, out)


def _double(value: float) -> memoryview:
    data = memoryview(bytearray(8))
    data.cast("d")[0] = value
    return data


def _pack_integer(value: int, out: bytearray) -> None:
    if -32 <= value < 128:
        out.append(value & 0xFF)
        return
    for power, size in enumerate((1, 2, 4, 8)):
        if value >= 0 and value < 1 << (8 * size):
            out.append(0xCC + power)
            break
        if value < 0 and value >= -(1 << (8 * size - 1)):
            out.append(0xD0 + power)
            break
    else:
        raise OverflowError(value)
    out += (value % (1 << 8 * size)).to_bytes(size, "big")


def _pack_size(
    size: int, out: bytearray, short_kind: int, short_limit: int, kinds: tuple[int | None, int | None, int]
) -> None:
    if size < short_limit:
        out.append(short_kind | size)
        return
    for kind, width in zip(kinds, (1, 2, 4), strict=True):
        if kind is not None and size < 1 << (8 * width):
            out.append(kind)
            out += size.to_bytes(width, "big")
            return
    raise OverflowError(size)
