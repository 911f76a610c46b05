"""Characters of a text, of which compiled modules make no objects: what they have of chars.pxd."""

from __future__ import annotations


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
