"""Tokens of a model that are spelled nearly like another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.arrays import Array, Texts
    from spamnb.tables.vocabulary import Vocabulary

SHORT = 4  # letters up to which a word has neighbours at one change only
MOST_LETTERS = 80  # of a word whose neighbours are looked for


class Spelling(NamedTuple):
    changes: int  # letters changed, left out or put in; 0 is the word itself
    place: int


def spellings(vocabulary: Vocabulary, word: str) -> list[Spelling]:
    """Tokens at most two changes away, one where the word is short. Letters are bytes of UTF-8."""
    letters = word.encode("utf-8", "replace")[:MOST_LETTERS]
    most = 1 if len(word.rpartition(":")[2]) <= SHORT else 2
    found = [
        Spelling(changes, place)
        for start, texts in vocabulary.texts()
        for changes, place in near(letters, most, start, texts)
    ]
    return sorted(found)


def near(letters: bytes, most: int, start: int, texts: Texts) -> Iterator[tuple[int, int]]:
    """Find near words of one block, length by length: words of one length are a matrix."""
    lengths = texts.lengths
    for length in range(max(1, len(letters) - most), len(letters) + most + 1):
        own = np.flatnonzero(lengths == length)
        if len(own):
            words = texts.data[(texts.ends[own] - length)[:, None] + np.arange(length)]
            changes = distances(letters, np.ascontiguousarray(words.T), most)
            for at in np.flatnonzero(changes <= most).tolist():
                yield int(changes[at]), start + int(own[at])


def distances(letters: bytes, words: Array, most: int) -> Array:
    """Levenshtein's distance of a word to each of others [letter, word], as far as it is no more than `most`.

    His table for all words at once, row by row, and of each row only what lies near its diagonal.
    """
    length, many = words.shape
    far = np.full(many, most + 1, np.uint8)
    above = [np.full(many, min(j, most + 1), np.uint8) for j in range(length + 1)]
    for i, letter in enumerate(letters, 1):
        row = [far] * (length + 1)
        row[0] = np.full(many, min(i, most + 1), np.uint8)
        for j in range(max(1, i - most), min(length, i + most) + 1):
            changed = above[j - 1] + (words[j - 1] != letter)
            row[j] = np.minimum(np.minimum(changed, above[j] + 1), row[j - 1] + 1)
        above = row
    return above[length]
