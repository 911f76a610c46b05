"""Orders and ragged texts, for numpy: what several tables need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

BITS = 64  # of a fingerprint or a digest
BLOCK = 1 << 16  # texts gathered at once: bounds the index array, 8 bytes a character


def order_of(numbers: Array) -> Array:
    """The stable order of 64-bit numbers.

    Sorting takes half the time of finding an order, so the last bits of each number make room for its place.
    Where they are needed to tell two numbers apart, which is rare, it is done the long way.
    """
    room = np.uint64((1 << len(numbers).bit_length()) - 1)
    keys = numbers & ~room
    keys |= np.arange(len(numbers), dtype=np.uint64)
    keys.sort()
    alike = np.flatnonzero((keys[:-1] ^ keys[1:]) <= room)
    keys &= room
    order = keys.view(np.int64)
    if np.any(numbers[order[alike]] != numbers[order[alike + 1]]):
        return np.argsort(numbers, kind="stable")
    return order


def changes(numbers: Array) -> Array:
    """Where another number comes than the one before: a mask, true at the first."""
    first = np.ones(len(numbers), bool)
    first[1:] = numbers[1:] != numbers[:-1]
    return first


def texts_at(text: Array, starts: Array, lengths: Array) -> Array:
    """Some stretches of a text, one behind the other."""
    pieces = [np.empty(0, np.uint8)]
    for block in range(0, len(starts), BLOCK):
        length = lengths[block : block + BLOCK]
        behind = np.cumsum(length)
        source = np.repeat(starts[block : block + BLOCK] - behind + length, length) + np.arange(behind[-1])
        pieces.append(text[source])
    return np.concatenate(pieces)


def range_of(part: int, parts: int) -> tuple[int, int]:
    """The first 64-bit number of one of so many equal ranges, and the first behind it."""
    width = (1 << BITS) // parts
    return part * width, (part + 1) * width


def portions(numbers: Array, parts: int) -> list[Array]:
    """Sorted numbers, by the range each is in."""
    borders = [range_of(part, parts)[0] for part in range(1, parts)]
    return np.split(numbers, np.searchsorted(numbers, np.array(borders, np.uint64)))
