"""Limits and characters of words, and memories that stay bounded."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")

LONGEST_WORD = 32  # characters; longer words (file names, encoded data, random strings) are shortened
MOST_WORDS = 20_000  # of one text; a flood of words stops counting here
MOST_REMEMBERED = 20_000  # entries of a memory: of words, stems or characters

# Characters that may stand inside a word, beside letters and digits. All others separate words.
JOINERS = "'$!-_"


def remember(memory: dict[Key, Value], key: Key, value: Value, most: int = MOST_REMEMBERED) -> Value:
    """Put a value into a memory and return it; a full memory is emptied, and soon has what is common."""
    if len(memory) >= most:
        memory.clear()
    memory[key] = value
    return value
