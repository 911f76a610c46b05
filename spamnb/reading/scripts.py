"""Words that are not all ASCII: those that look the same to a reader become the same."""

from __future__ import annotations

from itertools import groupby, pairwise
from unicodedata import category, normalize

from spamnb.reading.features import LONGEST_WORD
from spamnb.reading.letters import PLAINER, unmasked
from spamnb.reading.words import JOINERS, MOST_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Key = TypeVar("Key")
    Value = TypeVar("Value")

PIECE_SIZE = 512  # characters normalised at once
MOST_REMEMBERED = 20_000  # words, or characters


def remember(memory: dict[Key, Value], key: Key, value: Value) -> Value:
    """Put a value into a memory and return it; a full memory is emptied, and soon has what is common."""
    if len(memory) >= MOST_REMEMBERED:
        memory.clear()
    memory[key] = value
    return value


class Scripts:
    """Reads chunks of text of which some are not ASCII."""

    def __init__(self, keep_case: bool) -> None:
        self.keep_case = keep_case
        self._known: dict[str, list[str]] = {}

    def words(self, chunks: list[str]) -> list[str]:
        """Return the words of chunks between spaces."""
        known = self._known
        words: list[str] = []
        for chunk in chunks:
            if chunk.isascii():
                words.append(chunk)
            else:
                found = known.get(chunk)
                words += self._cut(chunk) if found is None else found
        return words[:MOST_WORDS]

    def _cut(self, chunk: str) -> list[str]:
        words = [word for piece in pieces(chunk[:MOST_WORDS]) for word in self._visible_words(piece)]
        return remember(self._known, chunk, words) if len(chunk) <= LONGEST_WORD else words

    def _visible_words(self, piece: str) -> list[str]:
        """Return the words that a reader sees: NFKC, without invisible characters, look-alikes replaced."""
        words: list[str] = []
        for word in normalize("NFKC", piece.translate(PLAINER)).translate(_SEPARATORS).split():
            word = unmasked(word.strip("'"))
            if not self.keep_case:
                word = word.casefold()
            if word:
                words += syllables(word) if max(word) >= _FIRST_DENSE else (word,)
        return words


class _Separators(dict[int, int]):
    """A translation table that decides about each code point once: part of a word, or a space."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        inside = char.isalnum() or char in JOINERS or category(char)[0] == "M"
        return remember(self, code, code if inside else 32)


_SEPARATORS = _Separators()


def pieces(chunk: str) -> list[str]:
    """Split a chunk: over a long run of combining marks normalisation takes quadratic time."""
    return [chunk[start : start + PIECE_SIZE] for start in range(0, len(chunk), PIECE_SIZE)]


def syllables(word: str) -> list[str]:
    """Split scripts written without spaces into pairs of neighbouring characters; leave the rest as it is."""
    units: list[str] = []
    for dense, chars in groupby(word, _DENSE.__getitem__):
        run = "".join(chars)
        if dense and len(run) > 1:
            units += map("".join, pairwise(run))
        else:
            units.append(run)
    return units


class _Dense(dict[str, bool]):
    """A dictionary that decides once for each character whether its script is written without spaces."""

    def __missing__(self, char: str) -> bool:
        return remember(self, char, any(first <= char <= last for first, last in _DENSE_SCRIPTS))


_FIRST_DENSE = "\u0e00"  # the lowest of the characters below
_DENSE_SCRIPTS = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u2e80", "\u9fff"),  # Chinese, Japanese
    ("\uac00", "\ud7af"),  # Korean
    ("\uf900", "\ufaff"),  # Chinese
    ("\U00020000", "\U0003ffff"),  # rare Chinese
)
_DENSE = _Dense()
