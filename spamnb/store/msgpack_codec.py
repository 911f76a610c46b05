"""Reading msgpack without the library, which takes 6 ms to import and copies every binary object it meets.

Here binary objects are slices of the data. What is written is written by the library.
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
