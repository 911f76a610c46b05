"""Reads of files and counts of 64 bits: what compiled modules have of direct.pxd, which checks no bounds."""

from os import pread as pread
from sys import byteorder


def number(data: bytes, at: int, size: int) -> int:
    """Return the number of some bytes that stands at an offset, the lowest byte first."""
    return int.from_bytes(data[at : at + size], "little")


def count_at(counts: bytearray, place: int) -> int:
    """Return one of the counts that stand one behind the other."""
    return int.from_bytes(counts[8 * place : 8 * place + 8], byteorder)


def put_count(counts: bytearray, place: int, count: int) -> None:
    """Set one of the counts that stand one behind the other."""
    counts[8 * place : 8 * place + 8] = count.to_bytes(8, byteorder)
