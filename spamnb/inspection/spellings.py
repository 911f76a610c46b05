"""Find the tokens of a model that are spelled nearly like a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spamnb.arrays import Array, Texts
from spamnb.tables.vocabulary import Vocabulary

SHORT = 4  # letters of a word to which only spellings with one change are near
MOST_LETTERS = 80  # bytes of a word that are compared


class Spelling(NamedTuple):
    """A token that is spelled nearly like a word."""

    changes: int  # letters changed, left out or put in; 0 is the word itself
    token_index: int  # in the vocabulary


def spellings(vocabulary: Vocabulary, word: str) -> list[Spelling]:
    """Tokens at most two changes away, one where the word is short. Letters are bytes of UTF-8."""
    letters = word.encode("utf-8", "replace")[:MOST_LETTERS]
    most = 1 if len(word.rpartition(":")[2]) <= SHORT else 2
    found = [
        Spelling(changes, index)
        for start, texts in vocabulary.texts()
        for changes, index in near_words(letters, most, start, texts)
    ]
    return sorted(found)


def near_words(letters: bytes, most: int, start: int, texts: Texts) -> Iterator[tuple[int, int]]:
    """Changes and indices of near words in a block, length by length: words of one length are a matrix."""
    lengths = texts.lengths
    for length in range(max(1, len(letters) - most), len(letters) + most + 1):
        same_length = np.flatnonzero(lengths == length)
        if len(same_length):
            words = texts.data[(texts.ends[same_length] - length)[:, None] + np.arange(length)]
            changes = distances(letters, np.ascontiguousarray(words.T), most)
            for at in np.flatnonzero(changes <= most).tolist():
                yield int(changes[at]), start + int(same_length[at])


def distances(letters: bytes, words: Array, most: int) -> Array:
    """Levenshtein's distances of a word to others [letter, word]; `most` + 1 for all larger than `most`.

    Levenshtein's table for all words at once, row by row, and of each row only what is near the diagonal.
    """
    length, word_count = words.shape
    too_far = np.full(word_count, most + 1, np.uint8)
    above = [np.full(word_count, min(j, most + 1), np.uint8) for j in range(length + 1)]
    for i, letter in enumerate(letters, 1):
        row = [too_far] * (length + 1)
        row[0] = np.full(word_count, min(i, most + 1), np.uint8)
        for j in range(max(1, i - most), min(length, i + most) + 1):
            changed = above[j - 1] + (words[j - 1] != letter)
            row[j] = np.minimum(np.minimum(changed, above[j] + 1), row[j - 1] + 1)
        above = row
    return above[length]
