"""Bytes taken eight at a time as one number, the first lowest: what compiled modules have of eights.pxd."""

from __future__ import annotations


def load(source: bytes | bytearray, at: int, size: int) -> int:
    """Return the eight bytes from an offset on; spaces behind the end."""
    return int.from_bytes(source[at : min(at + 8, size)].ljust(8), "little")


def store(text: bytearray, to: int, eight: int) -> None:
    """Put eight bytes at an offset."""
    text[to : to + 8] = eight.to_bytes(8, "little")


def copy(text: bytearray, to: int, source: bytes, size: int) -> None:
    """Put the first bytes of another text at an offset."""
    text[to : to + size] = source[:size]
