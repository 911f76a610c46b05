"""Limits and characters of words, and memories that stay bounded."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")

LONGEST = 32  # longer ones are file names, encoded data, random strings: kept as a short form
MOST_WORDS = 20_000  # of one text; a flood of words stops counting here
MOST_KNOWN = 20_000  # words, stems, or characters that are remembered

# Inside a word, beside letters and digits. The rest separates.
JOINERS = "'$!-_"


def remember(memory: dict[Key, Value], key: Key, value: Value, most: int = MOST_KNOWN) -> Value:
    """Put a value into a memory and return it; a full one is emptied: what is common is soon there again."""
    if len(memory) >= most:
        memory.clear()
    memory[key] = value
    return value
