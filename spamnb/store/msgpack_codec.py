"""msgpack, read without copies, and written for journal records.

The msgpack library costs 6.7 ms to import and copies every binary object it meets; a delivery can afford
neither. Here binary objects are slices of the data. Tests hold this equal to the library, which writes the
model file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

inf = float("inf")
MAX_DEPTH = 16  # our own files nest four deep


class Damaged(ValueError):
    """Raised for data that is not msgpack, or is cut short."""


def unpack(data: bytes, at: int = 0) -> tuple[Any, int]:
    """Return the object that starts at an offset, and the offset behind it."""
    reader = Reader(data, at)
    try:
        return reader.value(0), reader.at
    except (IndexError, UnicodeDecodeError, TypeError) as error:
        raise Damaged("not what was written") from error


class Reader:
    """Reads objects one behind the other."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Damaged("nested too deeply")
        kind = self.data[self.at]
        self.at += 1
        if kind <= 0x7F:
            return kind
        if kind <= 0x8F:
            return self.map(kind & 0x0F, depth)
        if kind <= 0x9F:
            return self.array(kind & 0x0F, depth)
        if kind <= 0xBF:
            return str(self.piece(kind & 0x1F), "utf-8")
        if kind >= 0xE0:
            return kind - 256
        if kind == 0xC0:
            return None
        if 0xC2 <= kind <= 0xC3:
            return kind == 0xC3
        if kind == 0xCB:
            return memoryview(self.piece(8)[::-1]).cast("d")[0]
        if 0xC4 <= kind <= 0xC6:
            size = self.integer(1 << kind - 0xC4)
            self.skip(size)
            return memoryview(self.data)[self.at - size : self.at]
        if 0xCC <= kind <= 0xCF:
            return self.integer(1 << kind - 0xCC)
        if 0xD0 <= kind <= 0xD3:
            return int.from_bytes(self.piece(1 << kind - 0xD0), "big", signed=True)
        if 0xD9 <= kind <= 0xDB:
            return str(self.piece(self.integer(1 << kind - 0xD9)), "utf-8")
        if 0xDC <= kind <= 0xDD:
            return self.array(self.integer(2 << kind - 0xDC), depth)
        if 0xDE <= kind <= 0xDF:
            return self.map(self.integer(2 << kind - 0xDE), depth)
        raise Damaged(f"unknown type {kind:#x}")

    def skip(self, size: int) -> None:
        if size > len(self.data) - self.at:
            raise Damaged("cut short")
        self.at += size

    def piece(self, size: int) -> bytes:
        self.skip(size)
        return self.data[self.at - size : self.at]

    def integer(self, size: int) -> int:
        self.skip(size)
        number = 0
        for place in range(self.at - size, self.at):
            number = number << 8 | self.data[place]
        return number

    def array(self, size: int, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(size)]

    def map(self, size: int, depth: int) -> dict[Any, Any]:
        items = {}
        for _ in range(size):
            key = self.value(depth + 1)
            items[key] = self.value(depth + 1)
        return items


def is_number(value: object, least: float = -inf, most: float = inf) -> bool:
    """Tell whether a value is a number within limits; NaN never is."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def is_integer(value: object, least: int = 0, most: int = (1 << 63) - 1) -> bool:
    """Tell whether a value is a whole number within limits."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def pack(value: Any) -> bytes:
    """Return the bytes that msgpack.packb gives, for the few types that our files need."""
    out = bytearray()
    _pack(value, out)
    return bytes(out)


def _pack(value: Any, out: bytearray) -> None:
    if value is None:
        out.append(0xC0)
    elif isinstance(value, bool):
        out.append(0xC3 if value else 0xC2)
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
