"""Steps over bytes and characters: what compiled modules have of unchecked.pxd, which checks no bounds."""

from __future__ import annotations


def load_eight(source: bytes | bytearray, at: int, size: int) -> int:
    """Return the eight bytes from an offset on as a number, the first lowest; spaces behind the end."""
    return int.from_bytes(source[at : min(at + 8, size)].ljust(8), "little")


def store_eight(text: bytearray, to: int, eight: int) -> None:
    """Put eight bytes at an offset."""
    text[to : to + 8] = eight.to_bytes(8, "little")


def copy(text: bytearray, to: int, source: bytes, size: int) -> None:
    """Put the first bytes of another text at an offset."""
    text[to : to + size] = source[:size]


def char_at(text: str, at: int) -> str:
    """Return the character at an offset within the text."""
    return text[at]


def find(text: str, char: str, start: int) -> int:
    """Return the offset of a character from another on, or -1."""
    return text.find(char, start)


def letters(text: str) -> bytes:
    """Return the bytes of a text that is ASCII."""
    return text.encode("ascii")


def translated(text: str, table: bytes) -> bytes:
    """Return the bytes of a text that is ASCII, each as a table has it."""
    return text.encode("ascii").translate(table)
